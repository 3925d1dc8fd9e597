r"""The cells: a way to draw tables with known truth, and the intervals of each table.

A sampler is a generator: it works out the true values first, and then yields for every
table, per interval, whether it covers the true value, and its width. For a test of a
true hypothesis it yields whether the p-value is at least .05, and the p-value. Cells
differ in kind: few rows of one class and many of the other, areas near 1, heavy tails,
ties, rare values, models that nearly agree, clusters, folds, censored times.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from math import sqrt
from typing import Any
from zlib import crc32

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from aucmax.decisions import (
    compare_groups,
    net_benefit,
    operating_point,
    reliability,
)
from aucmax.inference import (
    auc_interval,
    bootstrap_interval,
    compare_auc,
    compare_concordance,
    compare_metric,
    concordance_interval,
    cumulative_dynamic_auc,
    metric_interval,
)
from aucmax.metrics import concordance_index, roc_auc_score
from aucmax.metrics.metric_names import parse_metric

Outcome = tuple[bool, float]
Drawn = Iterator[dict[str, Outcome]]
Figures = dict[str, dict[str, float]]
SEED = 20_271
N_TRUE = 400_000  # rows that true values without a formula come from
N_RESAMPLES = 100  # of a bootstrap, in place of 1,000 or 2,000
#: needs minutes: only if it is named
BY_NAME = ("AutoRanker",)


@dataclass(frozen=True)
class Cell:
    """A sampler with its options, and how many tables are drawn."""

    draw: Callable[..., Drawn]
    options: dict[str, Any] = field(default_factory=dict)
    n_draws: int = 500


CELLS: dict[str, Cell] = {}


def difference(y: Any, a: Any, b: Any, metric: str = "auc", **options: Any) -> Any:
    """Return the difference of two models by any metric."""
    return compare_metric(y, {"a": a, "b": b}, metric, **options).differences[0]


def add(
    name: str, draw: Callable[..., Drawn], n_draws: int = 500, **options: Any
) -> None:
    CELLS[name] = Cell(draw, options, n_draws)


def measure(name: str) -> Figures:
    """Return the coverage and mean width of each interval of a cell."""
    cell: Cell = CELLS[name]
    rng = np.random.default_rng([SEED, crc32(name.encode())])
    outcomes_by_name: dict[str, list[tuple[bool, float]]] = {}
    with warnings.catch_warnings(action="ignore"):
        for drawn in islice(cell.draw(rng, **cell.options), cell.n_draws):
            for interval, outcome in drawn.items():
                outcomes_by_name.setdefault(interval, []).append(outcome)
    figures = {}
    for interval, outcomes in outcomes_by_name.items():
        covers, widths = np.array(outcomes, dtype=float).T
        share, n = float(covers.mean()), covers.size
        figures[f"{name}: {interval}"] = {
            "coverage": round(share, 4),
            "width": float(f"{widths.mean():.4g}"),
            "draws": n,
            "standard_error": round(sqrt(share * (1.0 - share) / n), 4),
        }
    return figures


def covers(found: Any, truth: float) -> Outcome:
    return bool(
        found.low - 1e-12 <= truth <= found.high + 1e-12
    ), found.high - found.low


def accepts(found: Any) -> Outcome:
    """Return the outcome of a test of a true hypothesis."""
    return found.p_value >= 0.05, found.p_value


class TwoNormals:
    """A share of it wide, the rest narrow, both around 0."""

    def __init__(self, share: float, narrow: float, wide: float) -> None:
        self.share, self.narrow, self.wide = share, narrow, wide
        self._at = np.linspace(-6.0 * wide, 6.0 * wide, 60_001)

    def cdf(self, x: Any) -> Any:
        """Return the share below x."""
        wide, narrow = (ndtr(np.divide(x, s)) for s in (self.wide, self.narrow))
        return self.share * wide + (1.0 - self.share) * narrow

    def sf(self, x: Any) -> Any:
        """Return the share above x."""
        return self.cdf(-np.asarray(x))

    def ppf(self, u: Any) -> Any:
        """Return quantiles."""
        return np.interp(u, self.cdf(self._at), self._at)

    def isf(self, u: Any) -> Any:
        """Return upper quantiles."""
        return -self.ppf(u)


_NORMAL = stats.norm()
_LEVELS = np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
#: negatives, and positives before their shift
KINDS: dict[str, tuple[Any, Any]] = {
    "normal": (_NORMAL, _NORMAL),
    "log-normal": (stats.lognorm(1.0), stats.lognorm(1.0)),
    "t3": (stats.t(3), stats.t(3)),
    "two normals": (_NORMAL, TwoNormals(0.2, 0.5, 3.0)),
    "levels": (_NORMAL, TwoNormals(0.2, 0.5, 3.0)),  # cut into six
    "Pareto": (stats.pareto(3.0), stats.pareto(3.0)),
    "outliers": (TwoNormals(0.03, 1.0, 8.0), _NORMAL),
}
_GRID = (np.arange(20_000) + 0.5) / 20_000


@cache
def shift_of(kind: str, auc: float) -> float:
    """Return the shift of the positives with this AUC, ties one half."""
    negative, positive = KINDS[kind]

    def area(shift: float) -> float:
        if kind != "levels":
            return float(positive.sf(negative.ppf(_GRID) - shift).mean())
        ends = negative.cdf(_LEVELS), positive.cdf(_LEVELS - shift)
        below, own = (np.diff(end, prepend=0.0, append=1.0) for end in ends)
        return float(own @ (np.cumsum(below) - below / 2.0))

    return float(brentq(lambda shift: area(shift) - auc, -100.0, 100.0))


def place(kind: str, u: Any, is_positive: bool, shift: float) -> Any:
    """Turn uniform numbers into scores."""
    scores = KINDS[kind][is_positive].ppf(u) + shift * is_positive
    return np.digitize(scores, _LEVELS) * 1.0 if kind == "levels" else scores


def tables(rng: Any, kind: str, auc: float, p: int, n: int) -> Iterator[Any]:
    """Yield scores, positives first; 100 tables at a time."""
    shift = shift_of(kind, auc)
    while True:
        positive = place(kind, rng.random((100, p)), True, shift)
        yield from np.hstack((positive, place(kind, rng.random((100, n)), False, 0.0)))


def areas(rng: Any, kind: str, auc: float, p: int, n: int, **ranges: Any) -> Drawn:
    y, truth = np.arange(p + n) < p, auc
    if ranges:
        (low, high), (negative, positive) = ranges["fpr_range"], KINDS[kind]
        cuts = negative.isf(low + (high - low) * _GRID)
        truth = float(positive.sf(cuts - shift_of(kind, auc)).mean())
    for scores in tables(rng, kind, auc, p, n):
        yield {"AUC": covers(auc_interval(y, scores, **ranges), truth)}


SIZES = ((3, 200), (10, 200), (200, 10), (20, 20), (50, 50), (50, 500), (200, 200))
for _kind in KINDS:
    for _auc in (0.5, 0.7, 0.9, 0.97, 0.995):
        for _p, _n in SIZES:
            _cell: Any = {"kind": _kind, "auc": _auc, "p": _p, "n": _n}
            add(f"area, {_kind}, {_auc:g}, {_p} and {_n}", areas, 1000, **_cell)
for _kind in ("normal", "t3", "Pareto"):
    for _auc in (0.7, 0.97):
        for _p, _n in ((10, 200), (200, 20), (50, 50), (200, 200)):
            for _ends in ((0.0, 0.1), (0.0, 0.3), (0.1, 0.5)):
                if _n * (_ends[1] - _ends[0]) > 2.0:  # else a warning
                    _cell = {"kind": _kind, "auc": _auc, "p": _p, "n": _n}
                    _name = (
                        f"partial area, {_kind}, {_auc:g}, {_p} and {_n}, FPR {_ends}"
                    )
                    add(_name, areas, fpr_range=_ends, **_cell)


def differences(
    rng: Any, kind: str, auc: float, gap: float, r: float, p: int, n: int
) -> Drawn:
    """Draw two models, correlated within the class as normal scores would be."""
    y = np.arange(p + n) < p
    shifts = [shift_of(kind, auc + half) for half in (gap / 2, -gap / 2)]
    while True:
        first, other = rng.normal(size=(2, p + n))
        u = ndtr(first), ndtr(r * first + np.sqrt(1.0 - r**2) * other)
        a, b = (
            np.concatenate((place(kind, w[:p], True, s), place(kind, w[p:], False, 0)))
            for w, s in zip(u, shifts, strict=True)
        )
        test = compare_auc(y, a, b)
        yield {"difference": covers(test, gap)} | (
            {} if gap else {"test": accepts(test)}
        )


for _kind in ("normal", "log-normal", "t3", "Pareto"):
    for _auc in (0.7, 0.9, 0.965):
        for _gap, _r in ((0.0, 0.0), (0.0, 0.9), (0.05, 0.5)):
            for _p, _n in ((5, 200), (20, 200), (200, 20), (50, 50), (50, 500)):
                _cell = {"kind": _kind, "auc": _auc, "gap": _gap, "r": _r, "p": _p}
                _name = f"difference, {_kind}, {_auc:g}, gap {_gap:g}, r {_r:g}"
                add(f"{_name}, {_p} and {_n}", differences, n=_n, **_cell)


def unpaired(rng: Any, kind: str, auc: float, gap: float, sizes: Any) -> Drawn:
    labels = [np.arange(p + n) < p for p, n in sizes]
    samples = [
        tables(rng, kind, auc + half, *size)
        for half, size in zip((gap / 2, -gap / 2), sizes, strict=True)
    ]
    for scores in zip(*samples, strict=True):
        test = compare_metric(
            labels,
            list(scores),
        )
        (one,) = test.differences
        yield {"difference": covers(one, gap)} | ({} if gap else {"test": accepts(one)})


for _kind in ("normal", "t3"):
    for _auc, _gap in ((0.7, 0.0), (0.9, 0.05), (0.965, 0.0)):
        for _sizes in (((20, 200), (50, 50)), ((50, 500), (200, 50))):
            _cell = {"kind": _kind, "auc": _auc, "gap": _gap, "sizes": _sizes}
            add(
                f"unpaired, {_kind}, {_auc:g}, gap {_gap:g}, {_sizes}",
                unpaired,
                **_cell,
            )


#: shares of the levels among positives and negatives, lowest first; "+" is a
#: continuous score above the first level, shifted by 1 among positives
RARE: dict[str, tuple[Any, Any]] = {
    "flag on 2%": ((0.98, 0.02), (0.98, 0.02)),
    "flag on 2%, 0.4%": ((0.98, 0.02), (0.996, 0.004)),
    "flag on 10%, 2%": ((0.9, 0.1), (0.98, 0.02)),
    "flag on 30%, 5%": ((0.7, 0.3), (0.95, 0.05)),
    "two values, 98% right": ((0.02, 0.98), (0.98, 0.02)),
    "two values, 80% right": ((0.2, 0.8), (0.8, 0.2)),
    "zeros and 3%": ((0.97, "+"), (0.97, "+")),
    "zeros and 15%, 5%": ((0.85, "+"), (0.95, "+")),
    "five levels": ((0.95, 0.02, 0.01, 0.01, 0.01), (0.95, 0.02, 0.01, 0.01, 0.01)),
    "five levels, better": (
        (0.8, 0.08, 0.06, 0.03, 0.03),
        (0.95, 0.02, 0.01, 0.01, 0.01),
    ),
}


def draw_rare(rng: Any, shares: Any, is_positive: bool, n: int) -> Any:
    if shares[1] != "+":
        return rng.choice(len(shares), n, p=shares) * 1.0
    scores = rng.exponential(size=n) + 1.0 * is_positive
    return np.where(rng.random(n) < shares[0], 0.0, scores)


def area_of_rare(kind: str) -> float:
    positive, negative = RARE[kind]
    if positive[1] != "+":
        below = np.array(negative)
        return float(np.array(positive) @ (np.cumsum(below) - below / 2.0))
    # of two exponential scores, one shifted by 1
    (a, b), area = (positive[0], negative[0]), 1.0 - np.exp(-1.0) / 2.0
    return a * b / 2.0 + (1.0 - a) * b + (1.0 - a) * (1.0 - b) * area


def rare_values(rng: Any, kind: str, p: int, n: int, size: int = 1) -> Drawn:
    """Draw scores of few values; with a size, rows come in clusters of equal scores."""
    y, truth = np.repeat(np.arange(p + n) < p, size), area_of_rare(kind)
    groups = None if size == 1 else np.arange(y.size) // size
    while True:
        parts = (
            draw_rare(rng, RARE[kind][0], True, p),
            draw_rare(rng, RARE[kind][1], False, n),
        )
        scores = np.repeat(np.concatenate(parts), size)
        interval = auc_interval(y, scores, groups=groups, null=truth)
        yield {"AUC": covers(interval, truth), "test": accepts(interval)}


SMALL = ((20, 200), (50, 500), (50, 5000), (100, 100), (250, 250), (500, 50))
for _kind in RARE:
    for _p, _n in SMALL:
        _name = f"rare values, {_kind}, {_p} and {_n}"
        add(_name, rare_values, 1000, kind=_kind, p=_p, n=_n)
    add(f"rare values, {_kind}, clusters", rare_values, kind=_kind, p=50, n=500, size=3)


def near_pairs(
    rng: Any, how: str, auc: float, share: float, p: int, n: int, size: int = 1
) -> Drawn:
    """Compare a model and itself, changed in few rows.

    "redrawn": other scores of the same class, so that areas are equal; "lost": scores
    of negatives; "raised": to the top, in both classes.
    """
    y, shift = np.repeat(np.arange(p + n) < p, size), np.sqrt(2.0) * ndtri(auc)
    groups = None if size == 1 else np.arange(y.size) // size
    truth = {
        "redrawn": 0.0,
        "lost": share * (auc - 0.5),
        "raised": auc - (1 - share) ** 2 * auc - share * (1 - share) - share**2 * auc,
    }[how]
    while True:
        a = rng.normal(size=y.size) + shift * y
        changed = np.repeat(rng.random(p + n) < share, size)
        fresh = rng.normal(size=y.size) + shift * y * (how == "redrawn")
        b = np.where(changed, a + 100.0 if how == "raised" else fresh, a)
        test = compare_auc(y, a, b, null=truth, groups=groups)
        yield {"difference": covers(test, truth), "test": accepts(test)}


for _how in ("redrawn", "lost", "raised"):
    for _auc in (0.7, 0.9):
        for _share in (0.01, 0.02, 0.05):
            for _p, _n in SMALL:
                _cell = {"how": _how, "auc": _auc, "share": _share, "p": _p, "n": _n}
                _name = f"near pairs, {_how}, {_auc:g}, {_share:g} of the rows"
                add(f"{_name}, {_p} and {_n}", near_pairs, **_cell)
    add(
        f"near pairs, {_how}, 0.7, clusters",
        near_pairs, how=_how, auc=0.7, share=0.02, p=50, n=500, size=3,
    )  # fmt: skip


def rare_pairs(rng: Any, kinds: Any, p: int, n: int, is_paired: bool = True) -> Drawn:
    """Compare independent scores of few values."""
    y = np.arange(p + n) < p
    truth = area_of_rare(kinds[0]) - area_of_rare(kinds[1])
    while True:
        a, b = (
            np.concatenate(
                [
                    draw_rare(rng, RARE[k][0], True, p),
                    draw_rare(rng, RARE[k][1], False, n),
                ]
            )
            for k in kinds
        )
        test = compare_auc(y if is_paired else [y, y], a, b, null=truth)
        yield {"difference": covers(test, truth), "test": accepts(test)}


for _kinds in (("flag on 2%", "flag on 10%, 2%"), ("zeros and 3%", "five levels")):
    for _p, _n in SMALL:
        _cell = {"kinds": _kinds, "p": _p, "n": _n}
        add(f"rare pairs, {' and '.join(_kinds)}; {_p} and {_n}", rare_pairs, **_cell)
        _name = f"rare pairs, unpaired, {' and '.join(_kinds)}; {_p} and {_n}"
        add(_name, rare_pairs, is_paired=False, **_cell)


def near_models(rng: Any, p: int, n: int, share: float) -> Drawn:
    """Compare four models at once: three that differ in few rows, and another one."""
    y, shift = np.arange(p + n) < p, np.sqrt(2.0) * ndtri(0.7)
    while True:
        a, last, *fresh = rng.normal(size=(4, y.size)) + shift * y
        near = [np.where(rng.random(y.size) < share, one, a) for one in fresh]
        comparison = compare_metric(y, np.column_stack([a, *near, last]))
        each = [covers(one, 0.0) for one in comparison.differences]
        width = float(np.mean([one[1] for one in each]))
        yield {
            "all differences": (all(one[0] for one in each), width),
            "test": accepts(comparison),
        }


for _p, _n in ((50, 500), (250, 250)):
    add(f"near models, {_p} and {_n}", near_models, p=_p, n=_n, share=0.02)


def models(rng: Any, k: int, n: int, r: float) -> Drawn:
    y, shift = np.arange(2 * n) < n, np.sqrt(2.0) * ndtri(0.7)
    while True:
        own, shared = rng.normal(size=(k, 2 * n)), rng.normal(size=2 * n)
        comparison = compare_metric(
            y, (np.sqrt(r) * shared + np.sqrt(1.0 - r) * own + shift * y).T
        )
        each = [covers(one, 0.0) for one in comparison.differences]
        width = float(np.mean([one[1] for one in each]))
        yield {
            "all differences": (all(one[0] for one in each), width),
            "test": accepts(comparison),
        }


for _k, _n, _r in ((3, 30, 0.0), (3, 30, 0.8), (6, 30, 0.8), (6, 100, 0.0)):
    add(f"{_k} models, {_n} per class, r {_r:g}", models, k=_k, n=_n, r=_r)


def clusters(rng: Any, k: int, size: int, icc: float, mixed: bool, auc: float) -> Drawn:
    """Draw clusters with an effect on all of their scores."""
    groups = np.repeat(np.arange(k), size)
    y = (np.arange(groups.size) if mixed else groups) % 2 == 0
    counts = np.array([np.bincount(groups, y == c, k) for c in (0, 1)])
    within = (counts[0] @ counts[1]) / (y.sum() * (~y).sum())
    shift = np.sqrt(2.0) * ndtri(auc)
    # rows of one cluster share an effect, so that pairs within it differ less
    truth = (1.0 - within) * auc + within * ndtr(shift / np.sqrt(2.0 * (1.0 - icc)))
    while True:
        shared, own = rng.normal(size=(2, k))[:, groups], rng.normal(size=(2, y.size))
        a, b = np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * own + shift * y
        test = compare_auc(y, a, b, groups=groups)
        yield {
            "AUC": covers(auc_interval(y, a, groups=groups), truth),
            "difference": covers(test, 0.0),
            "test": accepts(test),
        }


for _k, _size, _icc, _mixed in (
    (10, 4, 0.0, True), (10, 4, 0.8, True), (30, 2, 0.8, False), (30, 20, 0.0, True),
    (30, 20, 0.8, False), (30, 20, 0.8, True), (100, 5, 0.4, True),
):  # fmt: skip
    for _auc in (0.7, 0.9):
        _cell = {"k": _k, "size": _size, "icc": _icc, "mixed": _mixed, "auc": _auc}
        _name = (
            f"clusters, {_k} of {_size}, {'both classes' if _mixed else 'one class'}"
        )
        add(f"{_name}, ICC {_icc:g}, {_auc:g}", clusters, **_cell)


_MEANS = np.array([0.6, 0.4, 0.3, 0.2, 0.1, 0.3, 0.2, 0.1, 0.0, 0.0])


def table_of_means(rng: Any, n: int) -> Any:
    y = np.arange(n) % 2 == 0
    return rng.normal(size=(n, 10)) + y[:, None] * _MEANS, y


def fit_discriminant(X: Any, y: Any, used: int) -> Callable[[Any], Any]:
    spread = np.cov(X[:, :used].T) + 1e-3 * np.eye(used)
    w = np.linalg.solve(spread, X[y, :used].mean(axis=0) - X[~y, :used].mean(axis=0))
    return lambda X: X[:, :used] @ w


def fit_tree(X: Any, y: Any, used: int) -> Callable[[Any], Any]:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        max_depth=used // 2, min_samples_leaf=5, random_state=0
    )
    tree.fit(X, y)
    return lambda X: tree.predict_proba(X)[:, 1]


def folds(rng: Any, fit: Any, n_rows: int, repetitions: int) -> Drawn:
    """Cross-validate two models; estimands are the fitted ones, and the procedures."""
    new_X, new_y = table_of_means(rng, 4000)

    def scored(X: Any, y: Any) -> tuple[list[Any], list[float]]:
        both = [fit(X, y, used) for used in (10, 5)]
        return both, [roc_auc_score(new_y, one(new_X)) for one in both]

    n_train = n_rows - n_rows // 5
    procedure = np.mean(
        [scored(*table_of_means(rng, n_train))[1] for _ in range(500)], axis=0
    )
    while True:
        X, y = table_of_means(rng, n_rows)
        numbers = np.empty((n_rows, repetitions), dtype=int)
        scores, truths = np.empty((2, n_rows, repetitions)), []
        for repetition in range(repetitions):
            for label in (False, True):
                rows = rng.permutation(np.flatnonzero(y == label))
                numbers[rows, repetition] = np.arange(rows.size) % 5
            for fold in range(5):
                test = numbers[:, repetition] == fold
                both, truth = scored(X[~test], y[~test])
                truths.append(truth)
                scores[:, test, repetition] = [one(X[test]) for one in both]
        held = {}
        goals = {"models": np.mean(truths, axis=0), "procedure": procedure}
        for estimand, truth in goals.items():
            interval = auc_interval(y, scores[0], folds=numbers, estimand=estimand)
            options = {"folds": numbers, "estimand": estimand}
            test = difference(y, *scores, **options)
            held[f"{estimand}, AUC"] = covers(interval, truth[0])
            held[f"{estimand}, difference"] = covers(test, truth[0] - truth[1])
        yield held


for _n, _r in ((100, 1), (300, 1), (300, 3)):
    _cell = {"n_rows": _n, "repetitions": _r}
    add(f"folds, linear, {_n} rows, {_r} times", folds, fit=fit_discriminant, **_cell)
add("folds, trees, 300 rows, 1 times", folds, fit=fit_tree, n_rows=300, repetitions=1)


def draw_rows(rng: Any, kind: str, shift: float, share: float, m: int) -> Any:
    """Return random labels, so that the share of positives varies, and scores."""
    while True:
        y = rng.random(m) < share
        if 2 <= np.count_nonzero(y) <= m - 2:
            break
    scores = np.empty(m)
    for is_positive in (True, False):
        rows = y == is_positive
        scores[rows] = place(
            kind, rng.random(np.count_nonzero(rows)), is_positive, shift
        )
    return y, scores


def precision(
    rng: Any, kind: str, value: float, share: float, n_positive: int
) -> Drawn:
    """Draw rows with this average precision."""
    negative, positive = KINDS[kind]
    tpr = (np.arange(50_000) + 0.5) / 50_000

    def true_value(shift: float) -> float:
        fpr = negative.sf(positive.isf(tpr) + shift)
        return float((share * tpr / (share * tpr + (1.0 - share) * fpr)).mean())

    shift = float(brentq(lambda shift: true_value(shift) - value, -10.0, 60.0))
    while True:
        y, scores = draw_rows(rng, kind, shift, share, round(n_positive / share))
        yield {"average precision": covers(metric_interval(y, scores), value)}


for _kind in ("normal", "two normals", "Pareto", "t3", "outliers"):
    for _share, _value in (
        (0.02, 0.1),
        (0.1, 0.3),
        (0.1, 0.6),
        (0.1, 0.9),
        (0.3, 0.97),
    ):
        for _p in (20, 50, 200):
            _cell = {"kind": _kind, "value": _value, "share": _share, "n_positive": _p}
            _name = f"average precision, {_kind}, {_value:g}, {_p} of {_p / _share:.0f}"
            add(_name, precision, **_cell)


def equal_precision(rng: Any, shift: float, r: float, n_positive: int) -> Drawn:
    while True:
        y, a = draw_rows(rng, "normal", shift, 0.1, 10 * n_positive)
        b = (
            r * (a - shift * y)
            + np.sqrt(1.0 - r**2) * rng.normal(size=y.size)
            + shift * y
        )
        yield {"test": accepts(difference(y, a, b, metric="average_precision"))}


for _shift, _r, _p in ((1.0, 0.5, 20), (1.0, 0.9, 50), (2.0, 0.5, 50), (3.0, 0.9, 200)):
    _cell = {"shift": _shift, "r": _r, "n_positive": _p}
    add(
        f"equal average precision, shift {_shift:g}, r {_r:g}, {_p}",
        equal_precision,
        **_cell,
    )

BY_RULE = ("recall@fpr=0.01", "recall@fpr=0.1", "ks", "gini")
BY_BOOTSTRAP = (
    "precision@100", "recall@100", "lift@100", "recall@precision=0.8",
    "precision@recall=0.5",
)  # fmt: skip


def top(rng: Any, kind: str, shift: float, share: float, m: int, names: Any) -> Drawn:
    y, scores = draw_rows(rng, kind, shift, share, N_TRUE * 5)
    truth = {}
    for name in names:
        named = parse_metric(name)
        truth[name] = named.of_share(N_TRUE * 5 / m).function(y, scores)
    while True:
        y, scores = draw_rows(rng, kind, shift, share, m)
        draws: Any = {"n_resamples": N_RESAMPLES, "random_state": 0}
        yield {
            name: covers(metric_interval(y, scores, name, **draws), value)
            for name, value in truth.items()
        }


for _kind in ("normal", "log-normal", "levels"):
    for _shift, _m, _share in ((1.0, 400, 0.1), (2.5, 400, 0.1), (2.5, 2000, 0.05)):
        _cell = {"kind": _kind, "shift": _shift, "share": _share, "m": _m}
        _name = f"{_kind}, shift {_shift:g}, {_share:.0%} of {_m}"
        add(f"rates, {_name}", top, names=BY_RULE, **_cell)
        if _kind == "normal" and _m == 400:
            add(f"top, {_name}", top, names=BY_BOOTSTRAP, **_cell)


def equal_top(rng: Any, metric: str) -> Drawn:
    while True:
        y, a = draw_rows(rng, "normal", 1.5, 0.1, 1000)
        b = 0.5 * (a - 1.5 * y) + np.sqrt(0.75) * rng.normal(size=y.size) + 1.5 * y
        draws: Any = {"n_resamples": N_RESAMPLES, "random_state": 0}
        yield {"test": accepts(difference(y, a, b, metric, **draws))}


add("equal models by recall@fpr=0.1", equal_top, metric="recall@fpr=0.1")


def clustered_top(rng: Any, k: int, size: int) -> Drawn:
    """Draw clusters whose rows share an effect, for metrics other than areas."""
    names = "average_precision", "recall@fpr=0.1"

    def rows(k: int) -> Any:
        groups = np.repeat(np.arange(k), size)
        y = rng.random(groups.size) < expit(rng.normal(size=k) - 1.5)[groups]
        noise = 0.7 * rng.normal(size=k)[groups] + 0.7 * rng.normal(size=y.size)
        return y, noise + 1.5 * y, groups

    y, scores, _ = rows(N_TRUE // size)
    truth = {name: parse_metric(name).function(y, scores) for name in names}
    while True:
        y, scores, groups = rows(k)
        draws: Any = {"n_resamples": N_RESAMPLES, "random_state": 0}
        yield {
            name: covers(
                metric_interval(y, scores, name, groups=groups, **draws), value
            )
            for name, value in truth.items()
        }


add("clusters, 60 of 8, top of the list", clustered_top, k=60, size=8)


def queries(rng: Any, k: int) -> Drawn:
    """Draw queries of 12 rows and three levels; some are easier than others."""

    def rows(k: int) -> Any:
        qid = np.repeat(np.arange(k), 12)
        ease, quality = rng.normal(size=k)[qid], rng.normal(size=qid.size)
        noise = rng.normal(size=qid.size) * np.exp(ease / 2.0)
        return np.digitize(quality + ease, [1.0, 2.5]), quality + noise, qid

    y, scores, qid = rows(N_TRUE // 12)
    truth = float(parse_metric("ndcg@10").function(y, scores, qid=qid))
    while True:
        y, scores, qid = rows(k)
        yield {"NDCG@10": covers(metric_interval(y, scores, "ndcg@10", qid=qid), truth)}


for _k in (20, 100):
    add(f"queries, {_k}", queries, k=_k)


def sensitivities(rng: Any, kind: str, p: int, n: int, auc: float) -> Drawn:
    """Draw rows for the sensitivity at a false positive rate, by all calls of it."""
    y, (negative, positive) = np.arange(p + n) < p, KINDS[kind]
    rates = 0.05, 0.1, 0.2
    shift = shift_of(kind, auc)
    truth = {rate: float(positive.sf(negative.isf(rate) - shift)) for rate in rates}
    for scores in tables(rng, kind, auc, p, n):
        held = {}
        for rate, value in truth.items():
            name = f"recall@fpr={rate:g}"
            held[name] = covers(metric_interval(y, scores, name), value)
        point = operating_point(y, scores, fpr=0.1)
        low, high = point.intervals["recall"]
        # of the threshold that was chosen
        real = float(positive.sf(point.threshold - shift))
        held["operating_point, recall at its threshold"] = (
            low <= real <= high,
            high - low,
        )
        held["operating_point, recall at FPR 0.1"] = (
            low <= truth[0.1] <= high,
            high - low,
        )
        metric = parse_metric("recall@fpr=0.1").function
        draws: Any = {"n_resamples": N_RESAMPLES, "random_state": 0}
        held["bootstrap"] = covers(
            bootstrap_interval(metric, y, scores, **draws), truth[0.1]
        )
        yield held


for _kind, _p, _n in (
    ("normal", 20, 20), ("normal", 100, 100), ("t3", 30, 300), ("t3", 200, 50)
):  # fmt: skip
    _cell = {"kind": _kind, "p": _p, "n": _n}
    add(f"sensitivity, {_kind}, {_p} and {_n}", sensitivities, auc=0.8, **_cell)


def decided(rng: Any, p: int, n: int) -> Drawn:
    """Draw rows for the outcome at a threshold that is known before."""
    y, cut = np.arange(p + n) < p, 1.2
    recall, fpr = ndtr(1.5 - cut), ndtr(-cut)
    truth = {"recall": recall, "fpr": fpr}
    truth["precision"] = p * recall / (p * recall + n * fpr)
    for scores in tables(rng, "normal", ndtr(1.5 / np.sqrt(2.0)), p, n):
        intervals = operating_point(y, scores, threshold=cut).intervals
        yield {
            name: (
                bool(intervals[name][0] <= value <= intervals[name][1]),
                np.ptp(intervals[name]),
            )
            for name, value in truth.items()
        }


for _p, _n in ((20, 200), (100, 100)):
    add(f"decisions at a threshold, {_p} and {_n}", decided, 1000, p=_p, n=_n)

CUTS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.65, 0.8])


def net_benefits(
    rng: Any, n: int, base: float, spread: float, slope: float, shift: float
) -> Drawn:
    """Draw outcomes of normal log-odds: as predicted, or by another slope and shift."""
    z = ndtri((np.arange(40_000) + 0.5) / 40_000)
    centre = brentq(
        lambda c: expit(shift + slope * (c + spread * z)).mean() - base, -30, 30
    )
    x = centre + spread * z
    predicted, real = expit(x), expit(shift + slope * x)
    above, odds = predicted[:, None] > CUTS, CUTS / (1.0 - CUTS)
    benefit = (real @ above - odds * ((1.0 - real) @ above)) / x.size
    large = brentq(lambda a: expit(a + x).mean() - real.mean(), -10, 10)
    truth = {"slope": slope, "intercept": shift, "in_the_large": large}
    counted = np.flatnonzero(n * above.mean(axis=0) >= 5.0)
    while True:
        x = centre + spread * rng.normal(size=n)
        y = rng.random(n) < expit(shift + slope * x)
        if not 2 <= y.sum() <= n - 2:
            continue
        found, held = net_benefit(y, expit(x), thresholds=CUTS), {}
        for k in counted:
            ends = found.low[k], found.high[k]
            held[f"net benefit at {CUTS[k]:g}"] = (
                bool(ends[0] <= benefit[k] <= ends[1]), ends[1] - ends[0],
            )  # fmt: skip
        fitted = reliability(y, expit(x))
        for name, value in truth.items():
            low, high = getattr(fitted, f"{name}_interval")
            held[name] = bool(low <= value <= high), high - low
        yield held


for _n, _base, _spread, _slope, _shift in (
    (60, 0.5, 2.5, 1.6, 0.4), (200, 0.2, 1.5, 1.0, 0.0), (600, 0.06, 1.0, 1.6, 0.4)
):  # fmt: skip
    _cell = {
        "n": _n,
        "base": _base,
        "spread": _spread,
        "slope": _slope,
        "shift": _shift,
    }
    add(f"net benefit, {_n} rows, {_base:.0%}, slope {_slope:g}", net_benefits, **_cell)


def groups_of_people(rng: Any, sizes: Any, positive: Any, negative: Any) -> Drawn:
    """Draw three groups of people; intervals of differences cover at once."""
    cut, gaps = 0.8, np.subtract(positive, negative)
    truth = {
        "auc": ndtr(gaps / np.sqrt(2.0)),
        "recall": ndtr(np.array(positive) - cut),
        "fpr": ndtr(np.array(negative) - cut),
    }
    codes = np.repeat([0, 1, 2, 0, 1, 2], [*sizes, *sizes])
    y = np.repeat([True, False], sum(sizes))
    means = np.where(y, np.array(positive)[codes], np.array(negative)[codes])
    while True:
        scores = means + rng.normal(size=y.size)
        comparison = compare_groups(y, scores, codes, threshold=cut, all_pairs=True)
        held = {}
        for name, values in truth.items():
            one = comparison.groups[-1]
            held[f"{name} of a group"] = covers(
                getattr(one, name), values[int(one.group)]
            )
            pairs = [one for one in comparison.differences if one.metric == name]
            each = [
                covers(one, values[int(one.names[0])] - values[int(one.names[1])])
                for one in pairs
            ]
            width = float(np.mean([one[1] for one in each]))
            held[f"differences of {name}"] = all(one[0] for one in each), width
            if np.ptp(values) < 1e-12:
                least = min(one.p_value for one in pairs)
                held[f"test of {name}"] = least >= 0.05, least
        yield held


for _sizes, _positive, _negative in (
    ((30, 30, 30), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
    ((200, 60, 30), (1.2, 1.2, 1.2), (0.0, 0.0, 0.0)),
    ((200, 100, 40), (2.0, 1.5, 1.2), (-0.4, 0.0, 0.2)),
):
    _cell = {"sizes": _sizes, "positive": _positive, "negative": _negative}
    add(f"groups of {_sizes}, {_positive}", groups_of_people, **_cell)


def levels(rng: Any, sizes: Any, gap: float, share: float = 1.0) -> Drawn:
    """Compare two models of several levels, which differ in a share of the rows."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    while True:
        a, b = (
            0.7 * rng.normal(size=y.size) + 0.7 * rng.normal(size=(2, y.size)) + gap * y
        )
        if share < 1.0:
            b = np.where(rng.random(y.size) < share, b, a)
        test = difference(y, a, b, metric="ordinal_auc")
        yield {"difference": covers(test, 0.0), "test": accepts(test)}


for _sizes in ((30, 30, 30), (200, 40, 10)):
    add(f"levels, {_sizes}", levels, sizes=_sizes, gap=0.8)
add(
    "levels, near pairs, (200, 40, 10)",
    levels,
    sizes=(200, 40, 10),
    gap=0.8,
    share=0.02,
)


def draw_times(rng: Any, x: Any, strength: float, rate: float) -> Any:
    """Return times of events and of censoring."""
    return rng.exponential(np.exp(-strength * x)), rng.exponential(1.0 / rate, x.size)


def censoring_rate(rng: Any, draw: Any, strength: float, censored: float) -> float:
    """Return the rate with this share of censored rows."""
    death, left = draw_times(rng, draw(100_000), strength, 1.0)
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = np.sqrt(low * high)
        is_few = np.mean(death > left / middle) < censored
        low, high = (middle, high) if is_few else (low, middle)
    return float(low)


def concordance(
    rng: Any, strength: float, censored: float, n_rows: int, marker: float = 0.0
) -> Drawn:
    """Draw censored times; with a marker, the score is 1 in that share of the rows."""

    def draw(size: int) -> Any:
        return (rng.random(size) < marker) * 1.0 if marker else rng.normal(size=size)

    rate = censoring_rate(rng, draw, strength, censored)
    x = draw(N_TRUE)
    death, left = draw_times(rng, x, strength, rate)
    seen = np.minimum(death, left)
    times = np.quantile(seen, (0.2, 0.5, 0.9))
    truth = {"Harrell": concordance_index(death <= left, seen, x)}
    truth["Uno"] = concordance_index(np.ones(x.size), death, x, horizon=times[-1])
    at = [concordance_index(death <= t, np.minimum(death, t) >= t, x) for t in times]
    shares = np.diff([np.mean(death <= t) for t in times], prepend=0.0)
    truth |= {"AUC at the median": at[1], "mean AUC": at @ shares / shares.sum()}
    while True:
        x = draw(n_rows)
        death, left = draw_times(rng, x, strength, rate)
        rows = death <= left, np.minimum(death, left), x
        held = {"Harrell": concordance_interval(*rows)}
        held["Uno"] = concordance_interval(*rows, method="uno", horizon=times[-1])
        events, seen = np.sort(rows[1][rows[0]]), np.sort(rows[1])
        if events[1] <= times[0] and seen[-2] > times[-1]:
            dynamic = cumulative_dynamic_auc(*rows, times)
            held |= {"AUC at the median": dynamic.areas[1], "mean AUC": dynamic.mean}
        yield {name: covers(found, truth[name]) for name, found in held.items()}


for _strength, _censored, _n in (
    (0.5, 0.2, 38), (0.5, 0.8, 500), (1.5, 0.5, 60), (1.5, 0.8, 150), (4.0, 0.5, 200)
):  # fmt: skip
    _cell = {"strength": _strength, "censored": _censored, "n_rows": _n}
    _name = f"concordance, strength {_strength:g}, {_censored:.0%} censored, {_n} rows"
    add(_name, concordance, **_cell)
for _strength, _marker, _n, _c in (
    (0.0, 0.03, 150, 0.3), (1.0, 0.03, 150, 0.3), (1.0, 0.1, 60, 0.3),
    (0.0, 0.03, 600, 0.3), (1.0, 0.03, 150, 0.8), (2.0, 0.03, 150, 0.8),
    (1.0, 0.03, 600, 0.8),
):  # fmt: skip
    _cell = {"strength": _strength, "censored": _c, "n_rows": _n, "marker": _marker}
    _name = f"concordance, marker in {_marker:.0%} of {_n}, strength {_strength:g}"
    _name += f", {_c:.0%} censored"
    add(_name, concordance, **_cell)


def equal_concordance(rng: Any, n_rows: int, share: float | None = None) -> Drawn:
    """Compare two equal models; with a share, they differ in these rows only."""
    rate = censoring_rate(rng, lambda size: rng.normal(size=size), 1.0, 0.4)
    while True:
        x, (first, other) = rng.normal(size=n_rows), rng.normal(size=(2, n_rows))
        if share is not None:
            other = np.where(rng.random(n_rows) < share, other, first)
        death, left = draw_times(rng, x, 1.0, rate)
        rows = death <= left, np.minimum(death, left)
        models = [x + first, x + other]
        (test,) = compare_concordance(*rows, models).differences
        held = {"Harrell": covers(test, 0.0), "test of Harrell": accepts(test)}
        options: Any = {"method": "uno", "horizon": np.quantile(rows[1], 0.9)}
        (test,) = compare_concordance(*rows, models, **options).differences
        yield held | {"test of Uno": accepts(test)}


for _n, _share in ((60, None), (300, None), (150, 0.02), (150, 0.05), (600, 0.02)):
    _name = f"equal concordance, {_n} rows" + (
        f", {_share:.0%} differ" if _share else ""
    )
    add(_name, equal_concordance, n_rows=_n, share=_share)


def auto_ranker(rng: Any, n_rows: int) -> Drawn:
    """Fit AutoRanker to tables of five kinds, from a line to noise."""
    from aucmax import AutoRanker

    rules: Any = (
        lambda X: X[:, 0] + 0.5 * X[:, 1],
        lambda X: X[:, 0] * X[:, 1] + 0.5 * X[:, 2],
        lambda X: np.abs(X[:, 0]) + 0.5 * X[:, 1] - 0.8,
        lambda X: 0.3 * X[:, 0],
        lambda X: 0.0 * X[:, 0],
    )

    def table(n: int, k: int) -> Any:
        X = rng.normal(size=(n, 8))
        return X, (rules[k % 5](X) + rng.normal(size=n) > 0.7).astype(int)

    k = 0
    while True:
        model = AutoRanker(models=["logistic", "additive"]).fit(*table(n_rows, k))
        X, y = table(20_000, k)
        truth, found = roc_auc_score(y, model.decision_function(X)), model.estimate_
        low, high = found["auc_low"], found["auc_high"]
        yield {"AUC": (bool(low <= truth <= high), high - low)}
        k += 1


add("AutoRanker, 300 rows", auto_ranker, n_rows=300)
