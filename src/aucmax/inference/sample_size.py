"""Sample size and power of studies that measure or compare areas."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, inf, nan, pi, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from aucmax._core.parameters import (
    check_choice,
    check_integer,
    check_number,
)
from aucmax._core.validation import FloatArray
from aucmax.inference.intervals import Rows, area_interval, t_quantile, two_sided_test
from aucmax.inference.results import Result
from aucmax.metrics._steps import WHOLE_SQUARE, Box, box_size, check_box

_MAX_ROWS = 10**9
_EDGE = 1e-6  # planned areas keep this distance from 0 and 1
# quantiles of scores of one class, and per axis of two scores
_SHARES = (np.arange(2000) + 0.5) / 2000
_COARSE = ndtri((np.arange(200) + 0.5) / 200)
# distances of the classes' means for which areas and variances are tabled
_SHIFTS = np.linspace(-8.0, 16.0, 481)
_DEVIATES = np.linspace(-4.0, 4.0, 161)  # of measured areas from the true one


@dataclass(frozen=True, repr=False)
class AUCPlan(Result):
    """Sizes, power and level of a planned study; it prints a sentence for a protocol.

    `solved_for` names the quantity that was not given. `null` is NaN for two models,
    `auc_2` for one. Rows are those of each sample if the `design` is "unpaired".
    """

    solved_for: str
    auc: float
    null: float
    auc_2: float
    n_positive: int
    n_negative: int
    power: float
    level: float
    design_effect: float
    design: str
    method: str
    fpr_range: tuple[float, float]
    tpr_range: tuple[float, float]
    width: float = nan  # of an interval, planned in place of a power

    def __repr__(self) -> str:
        is_partial = (*self.fpr_range, *self.tpr_range) != WHOLE_SQUARE
        where = {"paired": " on the same rows", "unpaired": " on other rows"}
        is_unpaired = self.design == "unpaired"
        notes = [f"{'DeLong' if self.method == 'delong' else 'Obuchowski'}'s variance"]
        for rate, (low, high) in (("FPR", self.fpr_range), ("TPR", self.tpr_range)):
            if (low, high) != (0.0, 1.0):
                notes.append(f"{rate} {low:g} to {high:g}")
        if self.design_effect != 1.0:
            notes.append(f"design effect {self.design_effect:g}")
        area = f"{'a partial AUC' if is_partial else 'an AUC'} of {self.auc:.4g}"
        rows = f"{self.n_positive:,} positive and {self.n_negative:,} negative rows"
        if self.width == self.width:
            return (
                f"{rows} have a {100.0 * (1.0 - self.level):g}% interval that is "
                f"at most {self.width:.3g} wide, at {area} ({'; '.join(notes)})."
            )
        return (
            f"{'Each of two samples with ' if is_unpaired else ''}{rows} "
            f"{'has' if is_unpaired else 'have'} a power of {self.power:.1%} to detect "
            f"{area} against "
            f"{self.null if self.design == 'one' else self.auc_2:.4g}"
            f"{where.get(self.design, '')}, at a two-sided level of {self.level:.3g} "
            f"({'; '.join(notes)})."
        )


def plan_auc(
    auc: float | None = None,
    *,
    null: float | None = None,
    auc_2: float | None = None,
    n_positive: int | None = None,
    power: float | None = None,
    width: float | None = None,
    level: float | None = 0.05,
    prevalence: float = 0.5,
    paired: bool = True,
    correlation: float | tuple[float, float] = 0.5,
    design_effect: float = 1.0,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    method: str = "delong",
) -> AUCPlan:
    r"""Plan the sample size, the power, the level or the detectable area of a study.

    Give all but one of `auc`, `n_positive`, `power` and `level`; the result has the
    missing one. A single area is tested against `null`, two areas (`auc` and `auc_2`)
    against each other. Or give `auc` and the `width` of the interval of
    :func:`auc_interval` at the confidence 1 - `level`; the result is the number of rows
    whose interval is at most as wide if the measured area is `auc`.

    **Variance.** With ``method="delong"``, the variance of the area that
    :func:`auc_interval` and :func:`compare_auc` estimate, for normal scores in both
    classes. With p positives and n negatives it is

    .. math:: \sigma^2 = \frac{\operatorname{var} V}{p} + \frac{\operatorname{var} U}{n}
        + \frac{A (1 - A) - \operatorname{var} V - \operatorname{var} U}{pn}

    where V and U are the shares of negatives below a positive, and of positives above a
    negative; the last term is left out for partial areas and for two models. Of two
    models on the same rows, V and U are the differences of both models' shares. The
    power is the probability that the interval of these functions excludes the null:
    with few rows, the sample size is larger than by formulas that assume a known
    variance.

    ``method="obuchowski"`` uses the formulas of Obuchowski and McClish, as
    ``power.roc.test`` of pROC does: with :math:`V_0` the variance under the null times
    the number of positives, and :math:`V_1` under the alternative,

    .. math:: p = \Big( \frac{z_{1 - \alpha / 2} \sqrt{V_0} + z_{\text{power}}
        \sqrt{V_1}}{\Delta} \Big)^2

    Parameters
    ----------
    auc : float, optional
        The area to detect; with `auc_2`, that of the first model. With ranges, the
        partial area as a mean over them, as
        :func:`aucmax.metrics.partial_auc_score` returns it.
    null : float, optional
        The area to test against, by default 0.5 for a whole curve.
    auc_2 : float, optional
        The area of the second model.
    n_positive : int, optional
        Number of positive rows.
    power : float, optional
        Probability to detect the area.
    width : float, optional
        Length of the interval of one area, in place of `n_positive` and `power`.
    level : float, default=0.05
        Two-sided level of the test; for a one-sided test, give twice its level. None to
        solve for it.
    prevalence : float, default=0.5
        Share of positives among the rows.
    paired : bool, default=True
        Whether both models score the same rows; else each has a sample of this size.
    correlation : float or pair of float, default=0.5
        Correlation of the scores of the two models within the positives, and within the
        negatives.
    design_effect : float, default=1.0
        Factor by which clusters enlarge the variance: about
        :math:`1 + (m - 1) \rho` for m rows per cluster with intraclass correlation
        :math:`\rho`.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    method : {"delong", "obuchowski"}
        The test to plan for.

    Returns
    -------
    AUCPlan
        Prints a sentence for a protocol; ``to_frame()`` is a table.

    See Also
    --------
    auc_interval : The interval of the data, later.
    compare_auc : The test of two models.

    References
    ----------
    .. [1] N. A. Obuchowski, D. K. McClish. Sample size determination for diagnostic
       accuracy studies involving binormal ROC curve indices. Statistics in Medicine
       16(13), 1997.
    .. [2] N. A. Obuchowski, M. L. Lieber, F. H. Wians. ROC curves in clinical
       chemistry: uses, misuses, and possible solutions. Clinical Chemistry 50(7), 2004.

    Examples
    --------
    >>> from aucmax.inference import plan_auc
    >>> print(plan_auc(0.75, null=0.65, power=0.8))  # doctest: +NORMALIZE_WHITESPACE
    111 positive and 111 negative rows have a power of 80.3% to detect an AUC of 0.75
    against 0.65, at a two-sided level of 0.05 (DeLong's variance).
    >>> plan = plan_auc(0.8, width=0.1, prevalence=0.1)
    >>> print(plan)  # doctest: +NORMALIZE_WHITESPACE
    84 positive and 756 negative rows have a 95% interval that is at most 0.1 wide, at
    an AUC of 0.8 (DeLong's variance).
    """
    box = check_box(fpr_range, tpr_range)
    check_choice("method", method, ("delong", "obuchowski"))
    check_number("prevalence", prevalence, _EDGE, 1.0 - _EDGE)
    ratio = (1.0 - prevalence) / prevalence
    check_number("design_effect", design_effect, 1.0, 1e6)
    if auc_2 is not None and null is not None:
        raise ValueError("null is for one model; two models are tested for equality.")
    if width is not None:
        if auc is None or level is None or method != "delong":
            raise ValueError('width needs auc, level and method="delong".')
        tested = {"null": null, "auc_2": auc_2, "n_positive": n_positive}
        for name, value in (tested | {"power": power}).items():
            if value is not None:
                raise ValueError(
                    f"width is that of an interval, not a test; got {name}."
                )
        check_number("width", width, _EDGE, 1.0 - _EDGE)
    elif auc_2 is None and null is None and box != WHOLE_SQUARE:
        raise ValueError("a partial area has no usual null; give null.")
    is_pair = auc_2 is not None
    other: Any = auc_2 if is_pair else 0.5 if null is None else null
    check_number("auc_2" if is_pair else "null", other, _EDGE, 1.0 - _EDGE)
    correlations = None
    if is_pair:
        correlations = _correlations(correlation) if paired else (0.0, 0.0)
    study = _Study(
        _Binormal(box),
        ratio,
        float(design_effect),
        float(other),
        correlations,
        is_published=method == "obuchowski",
    )
    if study.is_published and box[2:] != (0.0, 1.0):
        raise ValueError('tpr_range needs method="delong".')
    quantities: dict[str, Any] = {"auc": auc, "n_positive": n_positive}
    quantities |= {"power": power, "level": level}
    if width is None:
        unknown = _one_unknown(quantities, study.other)
        solved = study.solve(unknown, quantities)
    else:
        unknown = "n_positive"
        quantities["power"] = nan
        _check_quantities(quantities | {"power": None})
        n_rows = study.rows_of_width(quantities["auc"], quantities["level"], width)
        solved = quantities | {unknown: n_rows}
    return AUCPlan(
        solved_for=unknown,
        auc=solved["auc"],
        null=nan if is_pair or width else study.other,
        auc_2=study.other if is_pair else nan,
        n_positive=int(solved["n_positive"]),
        n_negative=ceil(solved["n_positive"] * ratio - 1e-9),
        power=solved["power"],
        level=solved["level"],
        design_effect=float(design_effect),
        design="one" if not is_pair else "paired" if paired else "unpaired",
        method=method,
        fpr_range=box[:2],
        tpr_range=box[2:],
        width=nan if width is None else float(width),
    )


def _one_unknown(quantities: dict[str, Any], other: float) -> str:
    """Return the only quantity that is not given; reject values without meaning."""
    unknown = [name for name, value in quantities.items() if value is None]
    if len(unknown) != 1:
        which = f"{' and '.join(unknown)} are missing"
        if not unknown:
            which = "all are given; set level=None to solve for it"
        raise ValueError(
            f"give all but one of auc, n_positive, power and level: {which}."
        )
    _check_quantities(quantities)
    if quantities["auc"] is not None and abs(quantities["auc"] - other) < _EDGE:
        raise ValueError(
            f"auc is {quantities['auc']:g}, equal to the area that it is tested "
            "against; no study can tell them apart."
        )
    return unknown[0]


def _check_quantities(quantities: dict[str, object]) -> None:
    for name, value in quantities.items():
        if name == "n_positive" and value is not None:
            check_integer(name, value, 2)
        elif value is not None:
            check_number(name, value, _EDGE, 1.0 - _EDGE)


def _correlations(correlation: Any) -> tuple[float, float]:
    """Return the correlation of scores of positives, and of negatives."""
    is_pair = isinstance(correlation, Sequence) and len(correlation) == 2
    positive, negative = correlation if is_pair else (correlation, correlation)
    for value in (positive, negative):
        check_number("correlation", value, -1.0, 1.0)
    return float(positive), float(negative)


@dataclass(frozen=True)
class _Binormal:
    """Normal scores of deviation 1, of negatives around 0 and of positives shifted."""

    box: Box

    def shares(self, shift: Any, top: FloatArray, of_positives: bool) -> FloatArray:
        """Return V or U of rows with this share of their class above them."""
        a, b, c, d = self.box
        if of_positives:
            below = ndtr(ndtri(np.clip(top, c, d)) - shift)
            return np.asarray((b - np.clip(below, a, b)) / box_size(self.box))
        above = ndtr(shift + ndtri(np.clip(top, a, b)))
        return np.asarray((np.clip(above, c, d) - c) / box_size(self.box))

    @cached_property
    def _table(self) -> tuple[FloatArray, ...]:
        """Areas by shift, ascending; the shifts, and the variances of V and U."""
        shifts = _SHIFTS * sqrt(2.0)
        v, u = (
            self.shares(shifts[:, None], _SHARES, of_positives)
            for of_positives in (True, False)
        )
        a, b, *_ = self.box
        areas = u[:, (a < _SHARES) & (b > _SHARES)].mean(axis=1) * (b - a)
        rising = np.diff(areas, prepend=-1.0) > 0.0
        columns = areas, shifts, v.var(axis=1), u.var(axis=1)
        return tuple(column[rising] for column in columns)

    def shift(self, area: float) -> float:
        """Return the distance of the classes' means with this area."""
        if self.box == WHOLE_SQUARE:
            return float(ndtri(area)) * sqrt(2.0)
        areas, shifts, *_ = self._table
        return float(np.interp(area, areas, shifts))

    def variances(self, area: float) -> FloatArray:
        """Return the variances of V and of U."""
        areas, _, *both = self._table
        return np.array([np.interp(area, areas, variance) for variance in both])

    def correlations(self, areas: Rows, score_correlations: Rows) -> FloatArray:
        """Return the correlations of two models' V and U from those of their scores."""
        shifts = [self.shift(area) for area in areas]
        correlations = []
        for r, of_positives in zip(score_correlations, (True, False), strict=True):
            scores = r * _COARSE[:, None] + sqrt(1.0 - r * r) * _COARSE
            first = self.shares(shifts[0], ndtr(-_COARSE), of_positives)
            second = self.shares(shifts[1], ndtr(-scores), of_positives)
            spread = first.std() * second.std()
            product = (first - first.mean()) @ (second - second.mean()).mean(axis=1)
            correlations.append(product / (first.size * spread) if spread else 0.0)
        return np.clip(correlations, -1.0, 1.0)

    def derivatives(self, area: float) -> tuple[float, float, float]:
        """Return a of the curve with b = 1, and the area's derivatives by a and b."""
        low, high, *_ = self.box
        a, root = self.shift(area), sqrt(2.0)
        ends = root * ndtri(np.array([low, high])) + a / root
        height = exp(-(a**2) / 4.0) / (high - low)
        share = float(np.diff(ndtr(ends))[0]) / sqrt(2.0 * pi)
        step = float(np.diff(np.exp(-0.5 * ends**2))[0]) / (2.0 * pi)
        return a, height * share / root, -height * (step / 2.0 + a * share / root**3)


@dataclass(frozen=True)
class _Study:
    """The power of a test, and the quantity that gives it."""

    scores: _Binormal
    ratio: float
    design_effect: float
    other: float  # the area to test against
    correlation: tuple[float, float] | None  # of scores; None for one model
    is_published: bool

    def solve(self, unknown: str, quantities: dict[str, Any]) -> dict[str, float]:
        """Return all quantities, with the unknown one."""

        def power(value: float | None = None) -> float:
            tried = quantities if value is None else {**quantities, unknown: value}
            return self.power(tried["auc"], tried["n_positive"], tried["level"])

        if unknown == "power":
            return {**quantities, "power": power()}
        if unknown == "n_positive":
            rows = range(2, _MAX_ROWS)
            least = bisect_left(rows, quantities["power"], key=power)
            high = float(rows[min(least, len(rows) - 1)])
        else:
            low, high = 0.0, 1.0 - _EDGE
            if unknown == "auc":
                # from below, since the approximate power falls again close to 1
                low, high = self.other + _EDGE, (1.0 + self.other) / 2.0
                while high < 1.0 - _EDGE and power(high) < quantities["power"]:
                    low, high = high, min((1.0 + high) / 2.0, 1.0 - _EDGE)
            while high - low > 1e-9 and power(high) >= quantities["power"]:
                middle = (low + high) / 2.0
                is_low = power(middle) < quantities["power"]
                low, high = (middle, high) if is_low else (low, middle)
        if power(high) < quantities["power"]:
            raise ValueError(
                f"no {unknown} up to {high:g} gives a power of "
                f"{quantities['power']:g}; plan for a lower power, a larger difference "
                "or more rows."
            )
        solved = {**quantities, unknown: high}
        return {**solved, "power": power(high)} if unknown == "n_positive" else solved

    def rows_of_width(self, auc: float, level: float, width: float) -> int:
        """Return the fewest positives with an interval of at most this width."""

        def is_narrow(n_positive: int) -> bool:
            rows, counted = self._rows(n_positive)
            error = self._error(auc, rows)
            low, high = area_interval(auc, error, 1.0 - level, counted)
            return high - low <= width

        return bisect_left(range(_MAX_ROWS), True, lo=2, key=is_narrow)

    def _rows(self, n_positive: float) -> tuple[FloatArray, Rows]:
        """Return the independent rows of both classes, and those within the ranges."""
        n, (a, b, c, d) = n_positive / self.design_effect, self.scores.box
        rows = np.array([n, n * self.ratio])
        return rows, (n * (d - c), n * self.ratio * (b - a))

    def power(self, auc: float, n_positive: float, level: float) -> float:
        """Return the probability to detect the area."""
        if self.is_published:
            return self._published_power(auc, n_positive / self.design_effect, level)
        rows, counted = self._rows(n_positive)
        test = self._power_of_one if self.correlation is None else self._power_of_two
        return test(auc, rows, counted, 1.0 - level)

    def _power_of_one(
        self, auc: float, rows: FloatArray, counted: Rows, confidence_level: float
    ) -> float:
        # The normal quantiles of measured areas spread evenly around the true one.
        # Count those whose interval excludes the null: not always all beyond a bound,
        # since intervals widen where errors are few.
        height = exp(-0.5 * float(ndtri(auc)) ** 2) / sqrt(2.0 * pi)
        spread = self._error(auc, rows) / height
        n_pairs = counted[0] * counted[1]
        areas = ndtr(ndtri(auc) + spread * _DEVIATES)
        areas[n_pairs * areas < 0.5], areas[n_pairs * (1.0 - areas) < 0.5] = 0.0, 1.0
        each = ((area, self._error(area, rows)) for area in areas.tolist())
        ends = [area_interval(*one, confidence_level, counted) for one in each]
        low, high = np.array(ends).T
        beyond = low - self.other if auc > self.other else self.other - high
        most = np.maximum(beyond[1:], beyond[:-1])
        least = np.minimum(beyond[1:], beyond[:-1])
        share = np.clip(most / np.maximum(most - least, 1e-12), 0.0, 1.0)
        return float(share @ np.diff(ndtr(_DEVIATES)))

    def _error(self, auc: float, rows: FloatArray) -> float:
        """Return the standard error of one area."""
        variances = self.scores.variances(auc)
        residual = 0.0
        if self.scores.box == WHOLE_SQUARE:
            residual = max(auc * (1.0 - auc) - float(variances.sum()), 0.0)
        return sqrt(float((variances / rows).sum()) + residual / float(rows.prod()))

    def _power_of_two(
        self, auc: float, rows: FloatArray, counted: Rows, confidence_level: float
    ) -> float:
        areas = np.array([auc, self.other])
        r = self.scores.correlations((auc, self.other), self.correlation or (0, 0))

        def moments(areas: FloatArray) -> tuple[Any, ...]:
            """Return the variances of both areas, and their covariance."""
            one, two = map(self.scores.variances, areas)
            shared = r * np.sqrt(one * two)
            return tuple((v / rows).sum() for v in (one, two, shared))

        first, second, shared = moments(areas)
        variance = max(first + second - 2.0 * shared, 1e-300)
        # how the areas move with their difference: its error is another where it is
        # just detected
        slopes = np.array([first - shared, shared - second]) / variance
        size = abs(auc - self.other)
        towards = slopes if auc > self.other else -slopes
        margin = size
        for _ in range(5):
            shifted = np.clip(areas + towards * (margin - size), _EDGE, 1.0 - _EDGE)
            first, second, shared = moments(shifted)
            error = sqrt(max(first + second - 2.0 * shared, 1e-300))
            shifted_pair = float(shifted[0]), float(shifted[1])
            _, margin, *_ = two_sided_test(
                0.0, error, confidence_level, counted, shifted_pair
            )
        return float(ndtr((size - margin) / sqrt(variance)))

    def _published_power(self, auc: float, n: float, level: float) -> float:
        null, alternative = self._published(self.other), self._published(auc)
        if self.correlation is not None:
            shared = self._published_covariance(auc)
            both = null + alternative - 2.0 * shared
            null, alternative = 2.0 * (alternative - shared), both
        z = t_quantile(inf, 1.0 - level)
        distance = sqrt(n) * abs(auc - self.other) - z * sqrt(max(null, 0.0))
        return float(ndtr(distance / sqrt(max(alternative, 1e-300))))

    def _published(self, auc: float) -> float:
        """Return Obuchowski's variance of an area times the number of positives."""
        k = self.ratio
        if self.scores.box == WHOLE_SQUARE and self.correlation is None:
            a2 = (1.414 * float(ndtri(auc))) ** 2  # reference [2], rounded constants
            return 0.0099 * exp(-a2 / 2.0) * (5.0 * a2 + 8.0 + (a2 + 8.0) / k)
        a, f, g = self.scores.derivatives(auc)
        return f**2 * (1.0 + 1.0 / k + a**2 / 2.0) + g**2 * (1.0 + k) / (2.0 * k)

    def _published_covariance(self, auc: float) -> float:
        a, f, g = self.scores.derivatives(auc)
        a2, f2, g2 = self.scores.derivatives(self.other)
        p, n = self.correlation or (0.0, 0.0)
        k = self.ratio
        return (
            f * f2 * (p + n / k + p**2 * a * a2 / 2.0)
            + g * g2 * (n**2 + k * p**2) / (2.0 * k)
            + (f * g2 * a + g * f2 * a2) * p**2 / 2.0
        )
