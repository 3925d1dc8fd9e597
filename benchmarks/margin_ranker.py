"""MarginRanker: passes to a certified gap, HiGHS on the same problems, memory."""

import statistics
import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from tests.margin_programs import solve_instances, solve_pairs

from aucmax import MarginRanker
from aucmax.datasets import load_table, make_r_of_k
from aucmax.exceptions import MarginWarning
from aucmax.hypotheses import ScaledColumns, StumpGrid, stump_values
from aucmax.metrics import roc_auc_score
from benchmarks.harness import Report, share_outside, time_in_turn, timed
from benchmarks.papers.data import FOLDER
from benchmarks.papers.suehiro2011.times import printed_program

TITLE = "MarginRanker against HiGHS on the same linear programs"
EPSILON = 0.2


def run(report: Report) -> None:
    pairs_against_highs(report)
    pairs_at_scale(report)
    instances_against_highs(report)
    global_optimum(report)
    many_words(report)
    stumps(report)
    noisy_stumps(report)


def r_of_k(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the data of the paper's timings: N = 100, r = 3 of k = 10, 5 % noise."""
    return make_r_of_k(n_rows, 100, r=3, k=10, label_noise=0.05, random_state=0)


def pairs_against_highs(report: Report) -> None:
    X, y = r_of_k(300)
    labels = y == 1
    nu = EPSILON * labels.sum() * (~labels).sum()
    model = MarginRanker("pairs", EPSILON, "features", tol=1e-4)
    printed, optimum = timed(lambda: printed_program(X, labels, nu))
    times = time_in_turn(
        {
            "ours": lambda: model.fit(X, y),
            "best form": lambda: solve_pairs(X, labels, nu),
        },
        warm_up=2.0,
    )
    report.add(
        "m = 300: distance from HiGHS's optimum, relative",
        abs(model.objective_ - optimum) / optimum,
        at_most=1e-4,
    )
    report.add(
        "m = 300: HiGHS, problem as printed / ours",
        printed / times["ours"].best,
        at_least=200.0,
        remark=f"{printed:.1f} s / {1e3 * times['ours'].best:.0f} ms, "
        f"first fit {1e3 * times['ours'].first:.0f} ms",
    )
    report.add(
        "m = 300: HiGHS, the fastest form we found / ours",
        times["best form"].best / times["ours"].best,
    )
    X, y = r_of_k(1500)
    model.fit(X, y)
    report.add(
        "m = 1500: gap 1e-4",
        model.n_passes_,
        "passes",
        at_most=40,
        remark=f"relative gap {model.certificate_.gap:.1e}",
    )


def pairs_at_scale(report: Report) -> None:
    X, y = r_of_k(1_000_000)
    model, shares = MarginRanker("pairs", EPSILON, "features"), []
    model.fit(X[:1000], y[:1000])  # compile
    for _ in range(3):
        fit = partial(model.fit, X, y)
        shares.append(share_outside(fit, ScaledColumns, "scores", "edges"))
    report.add(
        "m = 10^6, 2.5 * 10^11 pairs: gap 1e-3",
        model.n_passes_,
        "passes",
        at_most=40,
        remark=f"relative gap {model.certificate_.gap:.1e}",
    )
    report.add(
        "m = 10^6: time outside / in the passes",
        statistics.median(shares),
        at_most=1.0,
    )
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    report.add("m = 10^6: memory / data", 1.0 + peak / X.nbytes, at_most=1.3)


def instances_against_highs(report: Report) -> None:
    X, y = r_of_k(20_000)
    labels = y == 1
    nus = [float(np.sqrt(EPSILON) * members.sum()) for members in (labels, ~labels)]
    model = MarginRanker("instances", EPSILON, "features", tol=1e-4)
    times = time_in_turn(
        {
            "ours": lambda: model.fit(X, y),
            "theirs": lambda: solve_instances(X, labels, *nus),
        },
        repeats=3,
    )
    optimum = solve_instances(X, labels, *nus).value
    report.add(
        "instances, m = 20,000: HiGHS, problem (7) / ours",
        times["theirs"].best / times["ours"].best,
        at_least=20.0,
        remark=f"optimum to {abs(model.objective_ - optimum) / optimum:.1e}",
    )


def global_optimum(report: Report) -> None:
    sets = {"r-of-k, m = 1500": r_of_k(1500), "r-of-k, m = 20,000": r_of_k(20_000)}
    if (table := spambase()) is not None:
        sets["spambase"] = table
    for name, (X, y) in sets.items():
        models = {
            formulation: MarginRanker(formulation, EPSILON, "signed")
            for formulation in ("instances", "adaptive", "global")
        }
        times = time_in_turn(
            {key: partial(model.fit, X, y) for key, model in models.items()},
            repeats=3,
        )
        best, heuristic = (
            models[key].certificate_.gamma_hat for key in ("global", "adaptive")
        )
        report.add(f"{name}: global - adaptive", best - heuristic, at_most=0.0)
        report.add(
            f"{name}: certified gap", models["global"].certificate_.gap, at_most=1e-3
        )
        report.add(
            f"{name}: time of global / one solve over instances",
            times["global"].best / times["instances"].best,
            at_most=30.0,
        )


def texts(n_telling: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw 10,000 texts of 50 words out of 30,000; so many common words matter."""
    generator = np.random.default_rng(0)
    commonness = 1.0 / np.arange(1, 30_001)
    words = generator.choice(
        30_000, (10_000, 50), p=commonness / commonness.sum()
    ).ravel()
    rows = np.repeat(np.arange(10_000), 50)
    X = sparse.csr_array((np.ones(words.size), (rows, words)), shape=(10_000, 30_000))
    X.data[:] = 1.0
    telling = generator.normal(size=30_000) * (np.arange(30_000) < n_telling)
    score = X @ telling + generator.normal(size=10_000)
    return X, score > np.quantile(score, 0.9)


def many_words(report: Report) -> None:
    """Words present or absent."""
    X, y = texts(n_telling=300)
    model = MarginRanker("pairs", EPSILON, "signed")
    times = time_in_turn({"fit": lambda: model.fit(X, y)}, repeats=3)
    report.add("30,000 words: fit", times["fit"].best, "s")
    report.add("30,000 words: gap 1e-3", model.n_passes_, "passes", at_most=48)
    X, y = texts(n_telling=30_000)
    for formulation in ("instances", "pairs"):
        name = f"30,000 words that all matter: {formulation}"
        model = MarginRanker(formulation, EPSILON, "signed", max_iter=300)
        gap_within(report, name, model, X, y)
        report.add(f"{name}, passes", model.n_passes_, "passes", at_most=300)


def gap_within(
    report: Report, what: str, model: MarginRanker, X: object, y: np.ndarray
) -> None:
    """Report the gap that a fit of few iterations or seconds reaches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarginWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds, _ = timed(lambda: model.fit(X, y))
    report.add(
        f"{what}, relative gap",
        model.certificate_.gap,
        at_most=1e-3,
        remark=f"after {model.n_passes_:.0f} passes, {seconds:.0f} s",
    )


def spambase() -> tuple[np.ndarray, np.ndarray] | None:
    path = FOLDER / "spambase" / "spambase.csv.gz"
    if not path.exists():
        print(f"no {path.name}; name the folder of data sets in AUCMAX_DATA")
        return None
    table = load_table(path).to_numpy().astype(float)
    return table[:, :-1], table[:, -1].astype(int)


def stumps(report: Report) -> None:
    if (table := spambase()) is None:
        return
    X, y = table
    seconds, model = timed(lambda: MarginRanker("pairs", 0.1, "stumps").fit(X, y))
    report.add(
        "spambase, all stumps: fit",
        seconds,
        "s",
        at_most=60.0,
        remark=f"{model.weights_.size} in use",
    )
    report.add(
        "spambase: certified gap over all stumps", model.certificate_.gap, at_most=1e-3
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    auc = {}
    for hypotheses in ("features", "signed", "stumps"):
        auc[hypotheses] = []
        for train, test in folds.split(X, y):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MarginWarning)
                model = MarginRanker("pairs", EPSILON, hypotheses)
                model.fit(X[train], y[train])
            scores = model.decision_function(X[test])
            auc[hypotheses].append(roc_auc_score(y[test], scores))
    means = {name: float(np.mean(values)) for name, values in auc.items()}
    remark = ", ".join(f"{name} {mean:.4f}" for name, mean in means.items())
    report.add(
        "spambase: test AUC of stumps - features",
        means["stumps"] - means["features"],
        at_least=0.0,
        remark=remark,
    )


def noisy_table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw 60 columns that matter a little each; a quarter of the labels is wrong."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 60))
    score = X @ generator.normal(size=60) / np.sqrt(60.0) + np.sin(2.0 * X[:, 0])
    labels = score > np.median(score)
    return X, labels ^ (generator.random(n_rows) < 0.25)


def noisy_stumps(report: Report) -> None:
    """All stumps of rows of which a quarter has the wrong label."""
    X, labels = noisy_table(600)
    MarginRanker("pairs", 0.5, "stumps").fit(X[:50], labels[:50])  # compile
    for formulation in ("instances", "pairs"):
        for epsilon in (0.01, 0.05, 0.1, 0.2, 0.4):
            model = MarginRanker(formulation, epsilon, "stumps")
            before = time.process_time()  # other programs do not count
            model.fit(X, labels)
            seconds = time.process_time() - before
            report.add(
                f"600 x 60, 25 % noise: {formulation}, epsilon {epsilon:g}",
                seconds,
                "processor s",
                at_most=1.0,
                remark=f"relative gap {model.certificate_.gap:.1e}",
            )
    X, labels = noisy_table(5000)
    model = MarginRanker("instances", 0.4, "stumps")
    before = time.process_time()
    model.fit(X, labels)
    report.add(
        "5000 x 60, 25 % noise: instances, epsilon 0.4",
        time.process_time() - before,
        "processor s",
        at_most=10.0,
        remark=f"relative gap {model.certificate_.gap:.1e}",
    )
    X, labels = noisy_table(20_000)
    for formulation in ("instances", "pairs"):
        gap_within(
            report,
            f"20,000 x 60, 25 % noise, 10 s: {formulation}, epsilon 0.4",
            MarginRanker(formulation, 0.4, "stumps", max_iter=10**6, max_time=10.0),
            X,
            labels,
        )
    # HiGHS takes many minutes for all rows; on fewer both are done
    X, labels = noisy_table(120)
    grid = StumpGrid(X)
    H = stump_values(X, grid.column, grid.threshold, np.ones(grid.n_stumps))
    for epsilon in (0.05, 0.2):
        nus = [float(np.sqrt(epsilon) * rows.sum()) for rows in (labels, ~labels)]
        model = MarginRanker("instances", epsilon, "stumps")
        ours, _ = timed(partial(model.fit, X, labels))
        theirs, solution = timed(
            partial(solve_instances, H, labels, *nus, weights_set="l1")
        )
        report.add(
            f"120 x 60, epsilon {epsilon:g}: HiGHS over all stumps / ours",
            theirs / ours,
            at_least=1.0,
            remark=f"{theirs:.1f} s, optimum to "
            f"{1.0 - model.objective_ / solution.value:.1e}",
        )
