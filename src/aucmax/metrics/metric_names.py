"""One grammar for metrics by name: ``auc``, ``ndcg@10``, ``recall@fpr=0.01``.

A name is a kind, or a kind with a number, ``kind@10``, or with a number that has a name
of its own, ``kind@fpr=0.1``. `KINDS` lists them; everything else reads names through
`parse_metric`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

from numpy.typing import ArrayLike

from aucmax.metrics.concordance import target_concordance
from aucmax.metrics.multiclass import (
    multiclass_auc_score,
    ordinal_auc_score,
    prepare_metric,
)
from aucmax.metrics.retrieval import (
    mean_average_precision,
    ndcg_score,
    precision_at_k,
)
from aucmax.metrics.roc import partial_auc_score, roc_auc_score
from aucmax.metrics.top_of_list import (
    average_precision_score,
    gini,
    ks_statistic,
    lift_at_k,
    precision_at_recall,
    recall_at_fpr,
    recall_at_k,
    recall_at_precision,
)

_NAME = re.compile(
    r"(?P<kind>[a-z_]+)(?:@(?:(?P<name>[a-z]+)=)?(?P<number>[0-9.e-]+))?"
)


@dataclass(frozen=True)
class MetricKind:
    """A kind of metric: its function, and the labels and the number it takes."""

    title: str
    function: Callable[..., Any]  # of labels and scores; weights and queries by name
    uses_levels: bool = False  # or which rows are above the lowest level
    uses_times: bool = False  # events and censored times
    needs_queries: bool = False
    takes_range: bool = False  # a part of the ROC curve, as `fpr_range`
    # the parameter that the number after "@" sets, if any, and an example of the number
    parameter: str | None = None
    example: str = ""
    needs_number: bool = False
    is_top: bool = False  # whether only rows at the top of all rows, or queries, count
    bounds: tuple[float, float] = (0.0, 1.0)  # of its values

    def read(self, text: str) -> float:
        """Read the number after "@": a rate, or a number of rows."""
        if self.parameter == "k":
            number: float = int(text)
            is_valid = number >= 1
        else:
            number = float(text)
            is_valid = 0.0 <= number <= 1.0
        if not is_valid:
            raise ValueError(text)
        return number


def _top(
    title: str,
    function: Callable[..., Any],
    parameter: str = "k",
    example: str = "100",
    **options: Any,
) -> MetricKind:
    known = {"parameter": parameter, "example": example, **options}
    return MetricKind(title, function, needs_number=True, is_top=True, **known)


#: By kind, or by "kind@name" where the number has a name.
KINDS: dict[str, MetricKind] = {
    "auc": MetricKind("AUC", roc_auc_score),
    "partial_auc": MetricKind("partial AUC", partial_auc_score, takes_range=True),
    "mauc": MetricKind("MAUC", multiclass_auc_score, uses_levels=True),
    "ordinal_auc": MetricKind("ordinal AUC", ordinal_auc_score, uses_levels=True),
    "average_precision": MetricKind(
        "average precision", average_precision_score, is_top=True
    ),
    "precision": _top("precision", precision_at_k),
    "recall": _top("recall", recall_at_k),
    "lift": _top("lift", lift_at_k, bounds=(0.0, inf)),
    "recall@fpr": _top("recall", recall_at_fpr, "fpr", "0.01"),
    "recall@precision": _top("recall", recall_at_precision, "precision", "0.9"),
    "precision@recall": _top("precision", precision_at_recall, "recall", "0.8"),
    "gini": MetricKind("Gini", gini, bounds=(-1.0, 1.0)),
    "ks": MetricKind("KS statistic", ks_statistic),
    "ndcg": MetricKind(
        "NDCG",
        ndcg_score,
        uses_levels=True,
        needs_queries=True,
        parameter="k",
        example="10",
    ),
    "map": MetricKind("MAP", mean_average_precision, needs_queries=True),
    "concordance": MetricKind("C index", target_concordance, uses_times=True),
}


@dataclass(frozen=True)
class NamedMetric:
    """A metric by its name, such as "recall@fpr=0.01"; higher is better."""

    name: str
    kind: MetricKind
    options: dict[str, float]  # the number after "@", by the name of its parameter

    @property
    def base(self) -> str:
        """The name without a number: its key in `KINDS`."""
        kind, _, number = self.name.partition("@")
        name, is_named, _ = number.partition("=")
        return f"{kind}@{name}" if is_named else kind

    @property
    def title(self) -> str:
        """The name in printed text."""
        return self.kind.title + self.name.removeprefix(self.name.partition("@")[0])

    def of_share(self, share: float) -> "NamedMetric":
        """Return the metric of a sample of the rows: the top k shrinks with it."""
        if self.kind.parameter != "k" or not self.kind.is_top or share == 1.0:
            return self
        k = max(1, round(self.options["k"] * share))
        return replace(self, name=f"{self.base}@{k}", options={"k": k})

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
        key = kind if of is None else f"{kind}@{of}"
        known = KINDS.get(key)
        if known is not None and number is None and not known.needs_number:
            return NamedMetric(name, known, {})
        if known is not None and known.parameter is not None and number is not None:
            try:
                options = {known.parameter: known.read(number)}
            except ValueError:
                is_count = known.parameter == "k"
                raise ValueError(
                    f"{parameter}={name!r}: {number!r} must be a "
                    f"{'whole number of at least 1' if is_count else 'rate, 0 to 1'}, "
                    f"such as in {_example(key, known)!r}."
                ) from None
            return NamedMetric(name, known, options)
    listed = ", ".join([*map(repr, names()), *filter(None, [others])])
    raise ValueError(f"{parameter} must be one of {listed}, got {name!r}.")


def _example(kind: str, known: MetricKind) -> str:
    return f"{kind}{'=' if '@' in kind else '@'}{known.example}"


def names() -> list[str]:
    """Return the names of all metrics, with an example of a number."""
    return [
        name
        for kind, known in KINDS.items()
        for name in (
            *([] if known.needs_number else [kind]),
            *([_example(kind, known)] if known.parameter else []),
        )
    ]
