"""Stand-ins for scikit-learn before 1.9; remove them once 1.9 is the lowest version."""

from collections.abc import Callable
from typing import Any

import sklearn
import sklearn.metrics
from sklearn.base import is_classifier

_IS_OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)


def make_scorer(
    metric: Callable[..., float], *, response_method: Any, **options: Any
) -> Any:
    """Make a scorer that takes ``decision_function`` of any model, as 1.9 does."""
    if _IS_OLD:
        return _RankingScorer(metric, 1, options, response_method)
    return sklearn.metrics.make_scorer(
        metric, response_method=response_method, **options
    )


class _RankingScorer(type(sklearn.metrics.make_scorer(max))):  # type: ignore[misc]
    """A scorer that does not require a classifier."""

    def _score(self, method_caller: Any, estimator: Any, *args: Any, **kw: Any) -> Any:
        if not is_classifier(estimator):
            method_caller = _call_method
        return super()._score(method_caller, estimator, *args, **kw)


def _call_method(estimator: Any, name: str, X: Any, **_: Any) -> Any:
    return getattr(estimator, name)(X)
