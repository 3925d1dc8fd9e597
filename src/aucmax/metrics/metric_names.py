"""One grammar for metrics by name: ``auc``, ``partial_auc``, ``ndcg``, ``ndcg@10``.

A name is a kind, or a kind with a number, ``kind@10``, or with a number that has a name
of its own, ``kind@rate=0.1``. `KINDS` lists them; everything else reads names through
`parse_metric`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from aucmax.metrics.concordance import target_concordance
from aucmax.metrics.multiclass import (
    multiclass_auc_score,
    ordinal_auc_score,
    prepare_metric,
)
from aucmax.metrics.retrieval import mean_average_precision, ndcg_score
from aucmax.metrics.roc import partial_auc_score, roc_auc_score

_NAME = re.compile(
    r"(?P<kind>[a-z_]+)(?:@(?:(?P<name>[a-z]+)=)?(?P<number>[0-9.e-]+))?"
)


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


@dataclass(frozen=True)
class MetricKind:
    """A kind of metric: its function, and the labels and the number it takes."""

    title: str
    function: Callable[..., Any]  # of labels and scores; weights and queries by name
    uses_levels: bool = False  # or which rows are above the lowest level
    uses_times: bool = False  # events and censored times
    needs_queries: bool = False
    takes_range: bool = False  # a part of the ROC curve, as `fpr_range`
    # the number after "@", which may be left out: its parameter, and how to read it
    parameter: str | None = None
    read: Callable[[str], float] = _whole


#: By kind, or by "kind@name" where the number has a name.
KINDS: dict[str, MetricKind] = {
    "auc": MetricKind("AUC", roc_auc_score),
    "partial_auc": MetricKind("partial AUC", partial_auc_score, takes_range=True),
    "mauc": MetricKind("MAUC", multiclass_auc_score, uses_levels=True),
    "ordinal_auc": MetricKind("ordinal AUC", ordinal_auc_score, uses_levels=True),
    "ndcg": MetricKind(
        "NDCG", ndcg_score, uses_levels=True, needs_queries=True, parameter="k"
    ),
    "map": MetricKind("MAP", mean_average_precision, needs_queries=True),
    "concordance": MetricKind("C index", target_concordance, uses_times=True),
}


@dataclass(frozen=True)
class NamedMetric:
    """A metric by its name, such as "ndcg@10"; higher is better."""

    name: str
    kind: MetricKind
    options: dict[str, float]  # the number after "@", by the name of its parameter

    @property
    def base(self) -> str:
        """The name without a number."""
        return self.name.partition("@")[0]

    @property
    def title(self) -> str:
        """The name in printed text."""
        return self.kind.title + self.name.removeprefix(self.base)

    @property
    def function(self) -> Callable[..., Any]:
        """The metric of labels and scores, with weights and queries by name."""
        return partial(self.kind.function, **self.options)

    def prepare(self, labels: ArrayLike, **known: Any) -> Callable[[ArrayLike], Any]:
        """Return the metric of these rows as a function of scores."""
        return prepare_metric(self.kind.function, labels, **known, **self.options)


def parse_metric(name: Any, parameter: str = "metric", others: str = "") -> NamedMetric:
    """Read the name of a metric, or raise an error that lists all names."""
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is not None:
        kind, of, number = found.group("kind", "name", "number")
        known = KINDS.get(kind if of is None else f"{kind}@{of}")
        if known is not None and number is None:
            return NamedMetric(name, known, {})
        if known is not None and known.parameter is not None:
            try:
                options = {known.parameter: known.read(number)}
            except ValueError:
                raise ValueError(
                    f"{parameter}={name!r}: the number after '@' must be a whole "
                    "number of at least 1, such as in 'ndcg@10'."
                ) from None
            return NamedMetric(name, known, options)
    listed = ", ".join([*map(repr, names()), *filter(None, [others])])
    raise ValueError(f"{parameter} must be one of {listed}, got {name!r}.")


def names() -> list[str]:
    """Return the names of all metrics, with an example of a number."""
    return [
        name
        for kind, known in KINDS.items()
        for name in ([kind, f"{kind}@10"] if known.parameter == "k" else [kind])
    ]
