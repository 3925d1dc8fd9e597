"""Results of inference: an interval, a difference, a comparison of several models."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from aucmax._core.dask_dispatch import is_dask
from aucmax._core.parameters import check_share
from aucmax._core.validation import FloatArray, positive_class_notes
from aucmax.metrics.metric_names import metric_title

T = TypeVar("T", bound=Any)

_ESTIMANDS = {
    None: "",
    "models": ", for the fitted models",
    "procedure": ", for models fitted to other rows",
}


def check_confidence(confidence_level: float) -> None:
    """Reject a confidence level that is not a probability between 0 and 1."""
    check_share("confidence_level", confidence_level)


def with_interval(value: float, interval: Any, kind: str = "") -> str:
    """Return a value with its confidence interval, for a sentence."""
    percent = f"{kind}{100.0 * interval.confidence_level:g}%"
    return f"{value:.4f} ({percent} interval {interval.low:.4f} to {interval.high:.4f})"


def p_value_text(p_value: float) -> str:
    """Write a p-value."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def with_note(
    result: T, y_true: Any, pos_label: object, dropped: str | None = None
) -> T:
    """Return a result that notes dropped rows, and which string is positive."""
    notes = [] if dropped is None else [dropped]
    if not is_dask(y_true) and np.ndim(y_true) == 1:
        labels = np.asarray(y_true)
        classes = sorted({*labels.tolist()}) if isinstance(labels[0], str) else []
        if len(classes) == 2:
            share = float(np.mean(labels == classes[1]))
            notes += positive_class_notes(classes[1], share, pos_label)[:1]
    return replace(result, note="; ".join(notes)) if notes else result


class Result:
    """A result that prints as text and converts to a frame or a dict."""

    def _records(self) -> Any:
        """Return the rows of the frame, or its columns."""
        return [_record(self)]

    def to_frame(self) -> Any:
        """Return the numbers as a polars frame.

        Returns
        -------
        polars.DataFrame
            One row, or one per difference, group of people, threshold or column.
        """
        import polars as pl

        return pl.DataFrame(self._records(), strict=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in plain types, None where there is no number.

        Returns
        -------
        dict
            Types that JSON lacks, such as dates, are strings.
        """
        return dict(to_plain(vars(self)))


def _noted(text: str, note: str | None) -> str:
    return text if note is None else f"{text}; {note}"


def _record(result: Any) -> dict[str, Any]:
    """Return the fields that have a value; pairs become two of them."""
    fields = asdict(result)
    for name, ends in (
        ("rows", ("positives", "negatives")),
        ("names", ("model_1", "model_2")),
    ):
        pair = fields.pop(name, None)
        if pair is not None:
            fields = dict(zip(ends, pair, strict=True)) | fields
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, repr=False)
class MetricInterval(Result):
    """A metric with its confidence interval; it prints as a sentence.

    Attributes
    ----------
    value : float
        The metric.
    low, high : float
        Ends of the interval.
    standard_error, confidence_level : float
        Standard error of the value, and the probability that the interval is meant to
        cover.
    rows : pair of float or None
        Positive and negative rows behind an area: those within the ranges; with weights
        or groups, the number of equally weighted, independent rows of the same
        variance.
    metric : str
        Name of the metric.
    p_value, null : float or None
        Two-sided p-value of the hypothesis that the metric equals `null`.
    estimand : str or None
        The estimand of cross-validation: ``"models"``, those fitted, or
        ``"procedure"``, models that it fits to other rows.
    note : str or None
        Which of two strings is positive, if `pos_label` is not given, and the number of
        rows that ``na="drop"`` left out.

    See Also
    --------
    auc_interval, metric_interval : Return it, with examples.
    """

    value: float
    low: float
    high: float
    standard_error: float
    confidence_level: float
    rows: tuple[float, float] | None = None
    metric: str = "auc"
    p_value: float | None = None
    null: float | None = None
    estimand: str | None = None
    note: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        title = metric_title(self.metric)
        text = f"{title} {with_interval(self.value, self)}".lstrip()
        if self.p_value is not None:
            text += f", {p_value_text(self.p_value)} for {title} {self.null:g}"
        return _noted(text + _ESTIMANDS[self.estimand], self.note)


@dataclass(frozen=True, repr=False)
class MetricDifference(Result):
    """The difference of a metric between two models, with its interval and test.

    Attributes
    ----------
    value_1, value_2 : float
        The metric of both models.
    difference, low, high : float
        The first less the second, with its interval.
    z, p_value : float
        The statistic and its p-value: two-sided against a difference of `null`, or with
        a `margin` one-sided against a difference of minus the margin. Among several
        differences, adjusted by Holm's method.
    standard_error, confidence_level : float
        Standard error of the difference, and the probability that the interval (or, of
        several differences, all intervals at once) is meant to cover.
    rows : pair of float or None
        As in :class:`MetricInterval`; None for means over queries and concordance.
    metric : str
        Name of the metric.
    names : pair of str or None
        Names of both models.
    null : float
        The difference that is tested.
    margin : float or None
        The smallest loss that counts as inferior.
    unadjusted_p_value : float or None
        The p-value before Holm's adjustment.
    note : str or None
        Which of two strings is positive, if `pos_label` is not given, and the number of
        rows that ``na="drop"`` left out.

    See Also
    --------
    compare_auc : Returns it, with an example.
    """

    value_1: float
    value_2: float
    difference: float
    low: float
    high: float
    z: float
    p_value: float
    standard_error: float
    confidence_level: float
    rows: tuple[float, float] | None = None
    metric: str = "auc"
    names: tuple[str, str] | None = None
    null: float = 0.0
    margin: float | None = None
    unadjusted_p_value: float | None = None
    note: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        name_a, name_b = (f"{n} " for n in self.names) if self.names else ("", "")
        kind = "" if self.unadjusted_p_value is None else "simultaneous "
        p = p_value_text(self.p_value)
        if self.margin is not None:
            p += f" that it is worse by {self.margin:g} or more"
        elif self.null:
            p += f" for a difference of {self.null:g}"
        return _noted(
            f"{metric_title(self.metric)} {name_a}{self.value_1:.4f} against {name_b}"
            f"{self.value_2:.4f}: difference "
            f"{with_interval(self.difference, self, kind)}, {p}",
            self.note,
        )


@dataclass(frozen=True, repr=False, eq=False)
class MetricComparison(Result):
    """Several models compared: a test that all are equal, and their differences.

    Attributes
    ----------
    names : tuple of str
        The models.
    values : tuple of float
        The metric of each model.
    covariance : ndarray of shape (n_models, n_models)
        Covariance of the values.
    statistic, rank, p_value : float, int, float
        Test that all models are equal: Hotelling's statistic, the number of independent
        differences and the p-value.
    differences : tuple of MetricDifference
        All pairs, or each model less the reference, with simultaneous intervals and
        Holm's p-values.
    confidence_level : float
        Probability that all intervals are meant to cover at once.
    metric : str
        Name of the metric.
    note : str or None
        Which of two strings is positive, if `pos_label` is not given.

    See Also
    --------
    compare_metric : Returns it, with an example.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    covariance: FloatArray
    statistic: float
    rank: int
    p_value: float
    differences: tuple[MetricDifference, ...]
    confidence_level: float
    metric: str = "auc"
    note: str | None = field(default=None, compare=False)

    def _records(self) -> list[dict[str, Any]]:
        return [_record(one) for one in self.differences]

    def __repr__(self) -> str:
        models = zip(self.names, self.values, strict=True)
        shown = ", ".join(f"{name} {value:.4f}" for name, value in models)
        title = f"{metric_title(self.metric)} of {len(self.names)} models: {shown}"
        equal = f"{title}; all equal: {p_value_text(self.p_value)}"
        return "\n".join([_noted(equal, self.note), *map(repr, self.differences)])


@dataclass(frozen=True, repr=False)
class DynamicAUC(Result):
    """AUCs of censored times at several times, and their mean.

    Attributes
    ----------
    horizons : tuple of float
        The times.
    areas : tuple of MetricInterval
        The AUC at each time.
    mean : MetricInterval
        Their mean, weighted by the share of events between the times.
    """

    horizons: tuple[float, ...]
    areas: tuple[MetricInterval, ...]
    mean: MetricInterval

    def _records(self) -> list[dict[str, Any]]:
        both = zip(self.horizons, self.areas, strict=True)
        return [{"horizon": time} | _record(area) for time, area in both]

    def __repr__(self) -> str:
        both = zip(self.horizons, self.areas, strict=True)
        lines = [f"{area!r} at time {time:g}" for time, area in both]
        return "\n".join([*lines, f"{self.mean!r}"])


def to_plain(value: object) -> Any:
    """Turn a record, array or number into JSON types, else None or a string."""
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, dict):
        return {str(name): to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return to_plain(vars(value)) if hasattr(value, "__dict__") else str(value)
