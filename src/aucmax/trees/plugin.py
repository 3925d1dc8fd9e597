"""What a plug-in hands to a training library."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Plugin"]


@dataclass(frozen=True)
class Plugin:
    """An objective and its metric, ready for a library's training calls.

    All four can be pickled and deep-copied, as searches over parameters need. They keep
    what they have counted of the last few data sets, so make one plug-in and use it
    throughout.

    Attributes
    ----------
    name : str
        What the metric is called in the library's output.
    objective, metric : callable
        For the library's own ``train``.
    sklearn_objective, sklearn_metric : callable
        For its scikit-learn estimators: parameter ``objective``, and ``eval_metric``.
    """

    name: str
    objective: Callable[..., Any]
    metric: Callable[..., Any]
    sklearn_objective: Callable[..., Any]
    sklearn_metric: Callable[..., Any]
