r"""How often intervals of clustered, compared and cross-validated areas cover.

Protocol, fixed before the run. All scores are normal, so that true areas are known in
closed form. Each cell counts how often nominal 95 % intervals cover, and how often
tests at 5 % reject where models are equal. The targets are 93 to 97 % and 3.5 to 6.5 %
with 30 rows or more per class, and at least 92 % with fewer; all cells are reported,
whatever the outcome.

- 30 clusters of 2 and of 20 rows with an intraclass correlation of 0 and .8 of the
  scores given the class, and 100 clusters of 5 with .4, at AUC .7 and .9. Classes
  alternate within clusters, or each cluster has one class. The truth is the mean over
  pairs of clusters and pairs within a cluster. One model, and the difference of two
  with equal areas; 1,000 draws. The same for 10 clusters of 4, as few rows.
- k = 3 and 10 models of the same rows, 30 rows of each class, correlation 0 or .8
  between models, and k = 10 with 100 rows and .8; AUC .7: all simultaneous intervals
  cover at once, and the test that all are equal rejects; 600 draws of 30, and 400 of
  100 rows. To save time, quantiles come from 10,000 draws in place of 100,000.
- cross-validation: 5 folds of 100 or 300 rows with 10 normal features, a linear
  discriminant, 1 or 3 repetitions. The truth of `models` is the mean area of the fitted
  models, that of `procedure` the mean over training sets; 400 tables. The difference to
  a discriminant that sees half of the features is counted as well.
- the sensitivity at a specificity of .8 and .95, 20, 30 and 100 rows of each class, AUC
  .8; 400 draws, each with 500 resamples.
"""

from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from aucmax.decisions import sensitivity_at_specificity
from aucmax.metrics import _estimates, auc_interval, compare_auc, cv_auc_interval
from benchmarks.report import Report

TITLE = "Coverage of inference"
SEED = 41


def run(report: Report) -> None:
    rng = np.random.default_rng(SEED)
    for size, icc, one_class in product((2, 20), (0.0, 0.8), (False, True)):
        clusters(report, rng, 30, size, icc, one_class, 1000)
    clusters(report, rng, 100, 5, 0.4, False, 1000)
    for icc in (0.0, 0.8):
        clusters(report, rng, 10, 4, icc, False, 1000)
    _estimates._N_DRAWS = 10_000
    for k, same in product((3, 10), (0.0, 0.8)):
        models(report, rng, k, 30, same, 600)
    models(report, rng, 10, 100, 0.8, 400)
    for n_rows, repetitions in product((100, 300), (1, 3)):
        folds(report, rng, n_rows, repetitions, 400)
    for n, specificity in product((20, 30, 100), (0.8, 0.95)):
        rates(report, np.random.default_rng(SEED + 1), n, specificity, 400)


def clusters(
    report: Report,
    rng: Any,
    n_clusters: int,
    size: int,
    icc: float,
    one_class: bool,
    n_draws: int,
) -> None:
    groups = np.repeat(np.arange(n_clusters), size)
    y = (groups if one_class else np.arange(groups.size)) % 2 == 0
    counts = np.array([np.bincount(groups, y == c, n_clusters) for c in (0, 1)])
    within = (counts[0] @ counts[1]) / (y.sum() * (~y).sum())
    bounds = {"at_least": 93, "at_most": 97}
    if n_clusters < 30:
        bounds = {"at_least": 92}
    for auc in (0.7, 0.9):
        shift = np.sqrt(2.0) * ndtri(auc)
        # rows of one cluster share an effect, so that pairs within it differ less
        inner = ndtr(shift / np.sqrt(2.0 * (1.0 - icc)))
        truth = (1.0 - within) * auc + within * inner
        covered, rejected = [], []
        for _ in range(n_draws):
            own = rng.normal(size=(2, y.size))
            shared = rng.normal(size=(2, n_clusters))[:, groups]
            a, b = np.sqrt(icc) * shared + np.sqrt(1.0 - icc) * own + shift * y
            found = auc_interval(y, a, groups=groups)
            covered.append(found.low <= truth <= found.high)
            rejected.append(compare_auc(y, a, b, groups=groups).p_value < 0.05)
        kind = "one class each" if one_class else "both classes"
        name = f"{n_clusters} clusters of {size}, {kind}, ICC {icc:g}, AUC {auc:g}"
        report.add(name, 100.0 * np.mean(covered), "%", **bounds)
        upper = 6.5 if n_clusters >= 30 else 8.0
        lower = 3.5 if n_clusters >= 30 else 0.0
        rate = 100.0 * np.mean(rejected)
        report.add("  test of two models", rate, "%", at_least=lower, at_most=upper)


def models(
    report: Report, rng: Any, k: int, n: int, correlation: float, n_draws: int
) -> None:
    y = np.arange(2 * n) < n
    shift = np.sqrt(2.0) * ndtri(0.7)
    covered, rejected = [], []
    for _ in range(n_draws):
        own, shared = rng.normal(size=(k, 2 * n)), rng.normal(size=2 * n)
        scores = np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own
        found = compare_auc(y, (scores + shift * y).T)
        covered.append(all(one.low <= 0.0 <= one.high for one in found.differences))
        rejected.append(found.p_value < 0.05)
    name = f"{k} models, {n} rows per class, correlation {correlation:g}"
    report.add(name, 100.0 * np.mean(covered), "%", at_least=93, at_most=97)
    rate = 100.0 * np.mean(rejected)
    report.add("  test that all are equal", rate, "%", at_least=3.5, at_most=6.5)


_MEANS = np.array([0.6, 0.4, 0.3, 0.2, 0.1, 0.3, 0.2, 0.1, 0.0, 0.0])


def fit(X: Any, y: Any, used: int) -> Any:
    spread = np.cov(X[:, :used].T) + 1e-3 * np.eye(used)
    gap = X[y, :used].mean(axis=0) - X[~y, :used].mean(axis=0)
    return np.append(np.linalg.solve(spread, gap), np.zeros(10 - used))


def area(w: Any) -> float:
    return float(ndtr(w @ _MEANS / np.sqrt(2.0 * w @ w)))


def draw(rng: Any, n: int) -> Any:
    y = np.arange(n) % 2 == 0
    return rng.normal(size=(n, 10)) + y[:, None] * _MEANS, y


def cross_validate(rng: Any, X: Any, y: Any, repetitions: int) -> Any:
    """Return folds, out-of-fold scores of two models, and their mean true areas."""
    numbers = np.empty((y.size, repetitions), dtype=int)
    scores, areas = np.empty((2, y.size, repetitions)), []
    for repetition in range(repetitions):
        for label in (False, True):
            rows = rng.permutation(np.flatnonzero(y == label))
            numbers[rows, repetition] = np.arange(rows.size) % 5
        for fold in range(5):
            test = numbers[:, repetition] == fold
            both = [fit(X[~test], y[~test], used) for used in (10, 5)]
            areas.append([area(w) for w in both])
            for model, w in enumerate(both):
                scores[model, test, repetition] = X[test] @ w
    return numbers, scores, np.mean(areas, axis=0)


def folds(
    report: Report, rng: Any, n_rows: int, repetitions: int, n_tables: int
) -> None:
    n_train = n_rows - n_rows // 5
    tables = (draw(rng, n_train) for _ in range(4000))
    areas = [[area(fit(*table, used)) for used in (10, 5)] for table in tables]
    procedure = np.mean(areas, axis=0)
    held: dict[str, list[bool]] = {}
    for _ in range(n_tables):
        X, y = draw(rng, n_rows)
        numbers, scores, of_models = cross_validate(rng, X, y, repetitions)
        for target, truth in (("models", of_models), ("procedure", procedure)):
            found = cv_auc_interval(y, scores[0], numbers, target=target)
            held.setdefault(target, []).append(found.low <= truth[0] <= found.high)
            test = compare_auc(y, *scores, folds=numbers, target=target)
            gap = truth[0] - truth[1]
            held.setdefault(f"{target}, difference", []).append(
                test.low <= gap <= test.high
            )
    for name, each in held.items():
        title = f"5 folds of {n_rows} rows, {repetitions} times, {name}"
        report.add(title, 100.0 * np.mean(each), "%", at_least=93, at_most=97)


def rates(report: Report, rng: Any, n: int, specificity: float, n_draws: int) -> None:
    y = np.arange(2 * n) < n
    shift = np.sqrt(2.0) * ndtri(0.8)
    truth = ndtr(shift - ndtri(specificity))
    covered = []
    for _ in range(n_draws):
        scores = rng.normal(size=2 * n) + shift * y
        found = sensitivity_at_specificity(y, scores, specificity, n_resamples=500)
        covered.append(found.low <= truth <= found.high)
    name = f"sensitivity at {specificity:g}, {n} rows per class"
    bounds = {"at_least": 93, "at_most": 97} if n >= 30 else {"at_least": 92}
    report.add(name, 100.0 * np.mean(covered), "%", **bounds)
