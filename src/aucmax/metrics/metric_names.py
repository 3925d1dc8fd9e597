"""The registry of metrics, by names such as ``auc``, ``ndcg@10``, ``recall@fpr=0.01``.

A name is a kind, or a kind with a number, ``kind@10``, or with a named number,
``kind@fpr=0.1``. `KINDS` has one entry per metric; everything else, intervals and
comparisons too, reads it through `parse_metric`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

from numpy.typing import ArrayLike

from aucmax.metrics.concordance import prepare_concordance, target_concordance
from aucmax.metrics.multiclass import (
    multiclass_auc_score,
    ordinal_auc_score,
    prepare_multiclass_auc,
    prepare_ordinal_auc,
)
from aucmax.metrics.retrieval import (
    mean_average_precision,
    ndcg_score,
    precision_at_k,
)
from aucmax.metrics.roc import (
    partial_auc_score,
    prepare_partial_auc,
    roc_auc_score,
)
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
    # how intervals and comparisons get the effect of each row: "area", "ordinal" or
    # "precision", by the formula of that name; None by draws of rows
    influence: str | None = None
    scale: tuple[float, float] = (1.0, 0.0)  # factor and shift, of an area
    # checks the labels once, and returns the metric of any scores; None checks again
    prepare: Callable[..., Callable[[ArrayLike], Any]] | None = None

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
    options |= {"parameter": parameter, "example": example}
    return MetricKind(title, function, needs_number=True, is_top=True, **options)


#: By kind, or by "kind@name" where the number has a name.
KINDS: dict[str, MetricKind] = {
    "auc": MetricKind(
        "AUC", roc_auc_score, influence="area", prepare=prepare_partial_auc
    ),
    "partial_auc": MetricKind(
        "partial AUC",
        partial_auc_score,
        takes_range=True,
        influence="area",
        prepare=prepare_partial_auc,
    ),
    "mauc": MetricKind(
        "MAUC", multiclass_auc_score, uses_levels=True, prepare=prepare_multiclass_auc
    ),
    "ordinal_auc": MetricKind(
        "ordinal AUC",
        ordinal_auc_score,
        uses_levels=True,
        influence="ordinal",
        prepare=prepare_ordinal_auc,
    ),
    "average_precision": MetricKind(
        "average precision",
        average_precision_score,
        is_top=True,
        influence="precision",
    ),
    "precision": _top("precision", precision_at_k),
    "recall": _top("recall", recall_at_k),
    "lift": _top("lift", lift_at_k, bounds=(0.0, inf)),
    "recall@fpr": _top("recall", recall_at_fpr, "fpr", "0.01"),
    "recall@precision": _top("recall", recall_at_precision, "precision", "0.9"),
    "precision@recall": _top("precision", precision_at_recall, "recall", "0.8"),
    "gini": MetricKind(
        "Gini", gini, bounds=(-1.0, 1.0), influence="area", scale=(2.0, -1.0)
    ),
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
    "concordance": MetricKind(
        "C index", target_concordance, uses_times=True, prepare=prepare_concordance
    ),
}
# words of results that are not metrics by name, such as "uno_c"
_TITLES = {
    "auc": "AUC",
    "harrell": "Harrell's",
    "uno": "Uno's",
    "c": "C",
    "fpr": "false positive rate",
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

    def prepare(self, labels: ArrayLike, **rows: Any) -> Callable[[ArrayLike], Any]:
        """Return the metric of these rows as a function of scores."""
        if self.kind.prepare is not None:
            return self.kind.prepare(labels, **rows, **self.options)
        return lambda y_score: self.function(labels, y_score, **rows)


def parse_metric(name: Any, parameter: str = "metric", others: str = "") -> NamedMetric:
    """Read the name of a metric, or raise an error that lists all names."""
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is not None:
        base, number_name, number = match.group("kind", "name", "number")
        key = base if number_name is None else f"{base}@{number_name}"
        if key == "sensitivity@specificity" and _is_rate(number):  # in other words
            rate = f"{1.0 - float(number):.12g}"
            named = parse_metric(f"recall@fpr={rate}", parameter)
            return replace(named, kind=replace(named.kind, title="sensitivity"))
        kind = KINDS.get(key)
        if kind is not None and number is None and not kind.needs_number:
            return NamedMetric(name, kind, {})
        if kind is not None and kind.parameter is not None and number is not None:
            try:
                options = {kind.parameter: kind.read(number)}
            except ValueError:
                is_count = kind.parameter == "k"
                raise ValueError(
                    f"{parameter}={name!r}: {number!r} must be a "
                    f"{'whole number of at least 1' if is_count else 'rate, 0 to 1'}, "
                    f"such as in {_example(key, kind)!r}."
                ) from None
            return NamedMetric(name, kind, options)
    listed = ", ".join([*map(repr, names()), *filter(None, [others])])
    raise ValueError(f"{parameter} must be one of {listed}, got {name!r}.")


def _is_rate(number: str) -> bool:
    try:
        return 0.0 <= float(number) <= 1.0
    except ValueError:
        return False


def metric_title(metric: str) -> str:
    """Return the name of a metric, or of another result, in printed text."""
    try:
        return parse_metric(metric).title
    except ValueError:
        return " ".join(_TITLES.get(word, word) for word in metric.split("_"))


def _example(key: str, kind: MetricKind) -> str:
    return f"{key}{'=' if '@' in key else '@'}{kind.example}"


def names() -> list[str]:
    """Return the names of all metrics, with an example of a number."""
    return [
        name
        for key, kind in KINDS.items()
        for name in (
            *([] if kind.needs_number else [key]),
            *([_example(key, kind)] if kind.parameter else []),
        )
    ]
