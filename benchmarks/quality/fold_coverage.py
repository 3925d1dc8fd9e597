r"""How often intervals of cross-validated scores cover, by the name of the metric.

The cells of groups and of queries were changed after first results; the others were
fixed before the run. A logistic regression is fitted to five stratified folds, and the
interval of its held-out rows (``estimand="procedure"``, 200 resamples, as AutoRanker
and `compare_models` take them) is compared with the value of the model fitted to all
rows, on 20,000 fresh ones, of which the same share is the top of the
list. Tables have 300 and 3,000 rows, 15 % positive and 8 normal columns, which say
nothing (noise) or have log-odds of slopes 1, 1/2 and -1/2 (signal). With queries of 12
rows no query is divided, and the mean over queries is measured.

- each metric covers in 92 % of 300 tables or more, up to the simulation error of 1.6 %
  of a cell; the mean over cells without it. The mean width is at most the one that 98 %
  coverage needs: intervals of a cell are stretched around their value until 98 % cover.
- 40 groups of 8 rows with one label and two fifths positive, in which three columns are
  equal but for little noise: 92 to 98 %.
- AutoRanker on 300 rows of noise with 10 positives, four quick models: the mean
  estimate of 200 tables is within .02 of .5. The same with signal (60 tables were run):
  92 % cover.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from aucmax import AutoRanker
from aucmax._core.row_splits import class_folds, unit_folds
from aucmax.inference import metric_interval
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.tables import encode_target
from benchmarks.report import Report

TITLE = "Coverage of cross-validated metrics"
SEED = 29_417
N_DRAWS, N_SEARCHES, N_FRESH, N_FOLDS = 300, 200, 20_000, 5
METRICS = (
    "auc", "partial_auc", "gini", "average_precision", "precision@100", "recall@100",
    "lift@100", "recall@fpr=0.1", "recall@precision=0.3", "precision@recall=0.5", "ks",
)  # fmt: skip
OF_QUERIES = ("ndcg@10", "map")
OF_GROUPS = ("auc", "average_precision", "precision@100", "recall@fpr=0.1", "ks")
QUICK_MODELS = ["logistic", "additive", "kernel", "lightgbm-small"]


class Cell(NamedTuple):
    """Truths, values and ends of one metric on the tables of one kind."""

    name: str
    metric: str
    found: np.ndarray  # a row per table: truth, value, low, high

    @property
    def covered(self) -> float:
        """Percentage of intervals with the truth."""
        truth, _, low, high = self.found.T
        return 100.0 * float(np.mean((low <= truth) & (truth <= high)))

    @property
    def width(self) -> float:
        """Mean width."""
        return float(np.mean(self.found[:, 3] - self.found[:, 2]))

    @property
    def needed(self) -> float:
        """The factor of all widths with which 98 % cover."""
        truth, value, low, high = self.found.T
        side = np.where(truth < value, value - low, high - value)
        return float(np.quantile(np.abs(truth - value) / np.maximum(side, 1e-12), 0.98))


def draw(rng: Any, n: int, signal: float, cut: float, unit: Any = None) -> Any:
    """Return rows and labels; rows of a unit share a label and nearly three columns."""
    X = rng.normal(size=(n, 8))
    noise = rng.logistic(size=n)
    if unit is not None:
        X[:, :3] = rng.normal(size=(n, 3))[unit] + 0.1 * X[:, :3]
        noise = noise[unit]
        eta = (X[:, :3] @ [1.0, 0.5, -0.5])[np.unique(unit, return_index=True)[1]][unit]
    else:
        eta = X[:, :3] @ [1.0, 0.5, -0.5]
    return X, signal * eta + noise > cut


def cut_for(signal: float, share: float) -> float:
    """Return the threshold of the latent value that gives the share of positives."""
    rng = np.random.default_rng(SEED)
    eta = 1.5**0.5 * rng.normal(size=10**6)
    return float(np.quantile(signal * eta + rng.logistic(size=10**6), 1.0 - share))


def cross_validate(X: Any, y: Any, unit: Any, seed: int) -> Any:
    """Return folds, held-out scores, and the model fitted to all rows."""
    divided = class_folds(y, N_FOLDS, seed)
    if unit is not None:
        divided = unit_folds(y, unit, N_FOLDS, seed)
    folds, scores = np.empty(y.size, dtype=int), np.empty(y.size)
    for fold, (train, test) in enumerate(divided):
        model = LogisticRegression().fit(X[train], y[train])
        folds[test], scores[test] = fold, model.decision_function(X[test])
    return folds, scores, LogisticRegression().fit(X, y)


def coverage(n: int, signal: float, kind: str, n_draws: int) -> Iterator[Cell]:
    """Measure rows, rows in queries or rows in groups."""
    rng = np.random.default_rng([SEED, n, int(signal), len(kind)])
    cut = cut_for(signal, 0.4 if kind == "groups" else 0.15)
    size = {"rows": 1, "queries": 12, "groups": 8}[kind]
    # fresh groups have one row each
    sizes = size, 1 if kind == "groups" else size
    units = [
        None if size == 1 else np.arange(m) // k
        for m, k in zip((n, N_FRESH), sizes, strict=True)
    ]
    shared = units if kind == "groups" else [None, None]
    fresh, truths = draw(rng, N_FRESH, signal, cut, shared[1])
    metrics = {"rows": METRICS, "queries": OF_QUERIES, "groups": OF_GROUPS}[kind]
    outcomes: dict[str, list[Any]] = {metric: [] for metric in metrics}
    while len(outcomes[metrics[0]]) < n_draws:
        X, y = draw(rng, n, signal, cut, shared[0])
        if min(np.bincount(y, minlength=2)) < 2 * N_FOLDS:
            continue
        seed = len(outcomes[metrics[0]])
        folds, scores, model = cross_validate(X, y, units[0], seed)
        fresh_scores = model.decision_function(fresh)
        for metric in metrics:
            named = parse_metric(metric).of_share(N_FRESH / n)
            if kind == "queries":
                target, goal = encode_target(y, qid=units[0]), Goal(metric)
                one = HeldOutRows(target, folds, goal).estimate(scores)
                truth = parse_metric(metric).function(
                    truths, fresh_scores, qid=units[1]
                )
            else:
                options = {"folds": folds, "estimand": "procedure", "groups": shared[0]}
                ranges = {"fpr_range": (0.0, 0.1)} if metric == "partial_auc" else {}
                options |= {"n_resamples": 200, **ranges}
                truth = named.function(truths, fresh_scores, **ranges)
                one = metric_interval(y, scores, metric, **options)
            outcomes[metric].append((truth, one.value, one.low, one.high))
    for metric, each in outcomes.items():
        name = f"{metric}, {n} rows{f' in {kind}' * (size > 1)}, signal {signal:g}"
        yield Cell(name, metric, np.array(each))


def cells(n_draws: int = N_DRAWS) -> Iterator[Cell]:
    """Yield all cells but those of AutoRanker."""
    for kind, sizes in (("rows", (300, 3000)), ("queries", (300, 3000))):
        for n, signal in product(sizes, (0.0, 1.0)):
            yield from coverage(n, signal, kind, n_draws)
    for signal in (0.0, 1.0):
        yield from coverage(320, signal, "groups", n_draws)


def searches(signal: float, n_tables: int) -> Cell:
    """Return the estimates of AutoRanker with 10 positives in 300 rows."""
    rng = np.random.default_rng([SEED, int(signal)])
    outcomes = []
    for seed in range(n_tables):
        X, _ = draw(rng, 300, signal, 0.0)
        value = signal * X[:, :3] @ [1.0, 0.5, -0.5] + rng.logistic(size=300)
        y = value >= np.sort(value)[-10]
        model = AutoRanker(models=QUICK_MODELS, max_fits=100, random_state=seed)
        estimate = model.fit(X, y).estimate_
        truth = model.score(*draw(rng, N_FRESH, signal, cut_for(signal, 1 / 30)))
        ends = (estimate[f"auc{end}"] for end in ("", "_low", "_high"))
        outcomes.append((truth if signal else 0.5, *ends))
    return Cell(
        f"AutoRanker, 10 positives, signal {signal:g}", "auc", np.array(outcomes)
    )


def run(report: Report, n_draws: int = N_DRAWS, n_searches: int = N_SEARCHES) -> None:
    """Report all cells, and AutoRanker's estimates with few positives."""
    kept: dict[str, list[Cell]] = {"one list": [], "groups": [], "queries": []}
    error = 1.96 * 100.0 * (0.92 * 0.08 / n_draws) ** 0.5
    for cell in cells(n_draws):
        part = next((one for one in kept if one in cell.name), "one list")
        kept[part].append(cell)
        remark = f"width {cell.width:.3f}, 98 % need {cell.needed:.2f} of it"
        report.add(cell.name, cell.covered, "%", at_least=92 - error, remark=remark)
    for part, each in kept.items():
        mean = float(np.mean([cell.covered for cell in each]))
        bounds = {"at_most": 98} if part == "groups" else {}
        report.add(f"{part}: mean coverage", mean, "%", at_least=92, **bounds)
        needed = float(np.mean([cell.needed for cell in each]))
        report.add(f"{part}: width that 98 % need, by the width", needed)
    for signal in (0.0, 1.0):
        cell = searches(signal, n_searches)
        shift = float(np.mean(cell.found[:, 1] - cell.found[:, 0]))
        bounds = {"at_least": -0.02, "at_most": 0.02} if not signal else {}
        report.add(f"{cell.name}: mean of estimate less truth", shift, "", **bounds)
        report.add(cell.name, cell.covered, "%", at_least=92 - error)
