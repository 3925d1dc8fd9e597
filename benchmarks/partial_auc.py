"""Partial AUC and sparse machines: passes, the price of a pass, explicit programs."""

import warnings
from functools import partial

import cvxpy as cp
import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucmax import AUCSVC
from aucmax.metrics import partial_auc_score
from aucmax.risks import PairHinge, PartialHinge
from benchmarks.auc_svc import linear, overlapping
from benchmarks.harness import Report, time_in_turn, timed

TITLE = "Partial AUC and sparse machines against bare products, programs and peers"
RANGE = (0.0, 0.1)
PASSES = {1.0: 40, 1000.0: 80}
GAP = 1e-3


def run(report: Report) -> None:
    risk_calls(report)
    explicit_program(report)
    for name, (X, y) in dense_data().items():
        passes(report, f"dense 10^5 x 100, {name}", X, y)
    kinds = {"uniform": uniform, "words": words, "binary": binary, "counts": counts}
    for name, values in kinds.items():
        passes(report, f"sparse 50,000 x 50,000, {name}", *sparse_data(values))
    few_weights(report)
    few_of_many_bits(report)
    against_logistic_regression(report)


def dense_data() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Draw two easy sets, and one whose best weights are 0."""
    generator = np.random.default_rng(0)
    y = (np.arange(100_000) < 5_000).astype(int)
    shifted = generator.normal(size=(100_000, 100))
    shifted[y == 1] += generator.normal(size=100) / 5.0
    return {
        "linear rule": linear(100_000, 100, 0.05),
        "shifted Gaussians": (shifted, y),
        "overlap (w = 0 is best)": overlapping(100_000, 100, 0.05),
    }


def uniform(generator: np.random.Generator) -> sparse.csr_array:
    shape = 50_000, 50_000
    return sparse.csr_array(sparse.random_array(shape, density=1e-3, rng=generator))


def binary(generator: np.random.Generator) -> sparse.csr_array:
    """Draw zeros and ones, which a line nearly separates."""
    X = uniform(generator)
    X.data[:] = 1.0
    return X


def documents(generator: np.random.Generator) -> sparse.csr_array:
    """Draw documents whose words follow a power law; one entry for each word."""
    m = N = 50_000
    chance = 1.0 / np.arange(1, N + 1) ** 0.7
    columns = generator.choice(N, size=50 * m, p=chance / chance.sum())
    rows = np.repeat(np.arange(m), 50)
    return sparse.csr_array((np.ones(50 * m), (rows, columns)), shape=(m, N))


def counts(generator: np.random.Generator) -> sparse.csr_array:
    """Draw how often each word stands in each document."""
    X = documents(generator)
    X.sum_duplicates()
    return X


def words(generator: np.random.Generator) -> sparse.csr_array:
    """Draw documents with rows of length 1."""
    X = documents(generator)
    X.data = 1.0 + np.log(X.data)
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    return sparse.csr_array(sparse.diags_array(1.0 / lengths) @ X)


def sparse_data(draw) -> tuple[sparse.csr_array, np.ndarray]:
    generator = np.random.default_rng(0)
    X = draw(generator)
    score = X @ generator.normal(size=X.shape[1])
    score = score / score.std() + 0.5 * generator.normal(size=X.shape[0])
    return X, (score > np.quantile(score, 0.95)).astype(int)


def risk_calls(report: Report) -> None:
    generator = np.random.default_rng(0)
    scores, labels = generator.normal(size=100_000), np.arange(100_000) < 5_000
    times = time_in_turn(
        {
            "part": lambda: PartialHinge(RANGE).bind(labels).value_and_gradient(scores),
            "whole": lambda: PairHinge().bind(labels).value_and_gradient(scores),
            "sort": lambda: np.argsort(scores),
        },
        20,
    )
    report.add(
        "risk of 10^5 rows: [0, 0.1] / whole range",
        times["part"].best / times["whole"].best,
        at_most=1.0,
    )
    report.add(
        "risk of 10^5 rows: [0, 0.1] / np.argsort",
        times["part"].best / times["sort"].best,
    )


def explicit_program(report: Report) -> None:
    """Solve the quadratic program with all pairs, by a conic solver."""
    X, y = linear(400, 10, 0.2)
    C, covered = 10.0, 0.1 * np.sum(y == 0)
    positive, negative = X[y == 1], X[y == 0]
    w = cp.Variable(X.shape[1])
    ahead = cp.reshape(negative @ w, (1, len(negative)), order="C")
    behind = cp.reshape(positive @ w, (len(positive), 1), order="C")
    ones = np.ones((len(positive), 1)), np.ones((1, len(negative)))
    hinges = cp.pos(1.0 - behind @ ones[1] + ones[0] @ ahead)
    risk = cp.sum_largest(cp.sum(hinges, axis=0), covered)
    risk /= len(positive) * covered
    program = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * risk))
    model = AUCSVC(C, fpr_range=RANGE, tol=1e-8)
    times = time_in_turn(
        {
            "program": lambda: program.solve(solver=cp.CLARABEL),
            "ours": lambda: model.fit(X, y),
        },
        3,
    )
    label = "400 rows, 25,600 pairs, gap 1e-8"
    report.add(
        f"{label}: distance from Clarabel",
        abs(model.objective_ / program.value - 1.0),
        "",
        at_most=1e-6,
    )
    report.add(
        f"{label}: Clarabel / ours",
        times["program"].best / times["ours"].best,
        at_least=1.0,
    )


def passes(report: Report, name: str, X, y: np.ndarray) -> None:
    ones, scores = np.ones(X.shape[1]), np.ones(X.shape[0])
    for C, most in PASSES.items():
        model = AUCSVC(C, fpr_range=RANGE, tol=GAP)

        def fit(model: AUCSVC = model) -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y)

        times = time_in_turn({"fit": fit, "pass": lambda: (X @ ones, X.T @ scores)}, 5)
        gap = model.dual_gap_ / model.objective_
        remark = f"relative gap {gap:.1e}, risk {model.objective_ / C:.3f}"
        report.add(
            f"{name}, C = {C:g}", model.n_passes_, "passes", at_most=most, remark=remark
        )
        report.add(
            f"{name}, C = {C:g}: a pass / bare products",
            times["fit"].best / model.n_passes_ / times["pass"].best,
            at_most=1.3,
        )


def few_weights(report: Report) -> None:
    """Count the passes to an L1 solution with about a tenth of the weights."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(100_000, 100))
    score = X[:, :12].sum(axis=1) + generator.normal(size=100_000)
    y = (score > np.quantile(score, 0.95)).astype(int)
    sparse_X, sparse_y = sparse_data(uniform)
    problems = {
        "dense 10^5 x 100": (X, y, RANGE, 30.0),
        "sparse 50,000 x 50,000, whole range": (sparse_X, sparse_y, (0, 1), 2500.0),
    }
    for name, (data, labels, fpr_range, C) in problems.items():
        machine = AUCSVC(C, fpr_range=fpr_range, penalty="l1", tol=GAP)
        seconds, _ = timed(partial(machine.fit, data, labels))
        used = np.count_nonzero(machine.coef_) / data.shape[1]
        gap = machine.dual_gap_ / machine.objective_
        report.add(
            f"L1, {name}",
            machine.n_passes_,
            "passes",
            at_most=150,
            remark=f"gap {gap:.1e}, {used:.1%} of the weights, {seconds:.1f} s",
        )


def bits(n_rows: int, n_columns: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw bits that follow some hidden factors, most of them rare: separable."""
    generator = np.random.default_rng(0)
    factors = generator.normal(size=(n_rows, 300))
    blocks = []
    for _ in range(0, n_columns, 4000):
        followed = generator.integers(0, 300, 4000)
        closeness = np.sqrt(0.5 * generator.random(4000))
        noise = generator.normal(size=(n_rows, 4000)) * np.sqrt(1.0 - closeness**2)
        levels = closeness * factors[:, followed] + noise
        rarity = np.minimum(0.5, 0.003 / np.sqrt(generator.random(4000)))
        thresholds = [
            np.quantile(column, 1.0 - share)
            for column, share in zip(levels.T, rarity, strict=True)
        ]
        blocks.append(sparse.csr_array((levels > thresholds).astype(float)))
    score = factors[:, :20].sum(axis=1) + 2.0 * generator.normal(size=n_rows)
    X = sparse.csr_array(sparse.hstack(blocks)[:, :n_columns])
    return X, (score > np.quantile(score, 0.9)).astype(int)


def few_of_many_bits(report: Report) -> None:
    """Fit L1 with a hundred times as many columns as rows."""
    X, y = bits(800, 88_000)
    theirs = LogisticRegression(C=1.0, l1_ratio=1.0, solver="liblinear")
    for C in (10.0, 100.0, 1000.0):
        ours = AUCSVC(C, penalty="l1", tol=GAP)
        times = time_in_turn(
            {"ours": partial(ours.fit, X, y), "theirs": partial(theirs.fit, X, y)}, 3
        )
        used = [np.count_nonzero(model.coef_) for model in (ours, theirs)]
        gap = ours.dual_gap_ / ours.objective_
        report.add(
            f"L1, 800 x 88,000 bits, C = {C:g}",
            ours.n_passes_,
            "passes",
            at_most=150,
            remark=f"gap {gap:.1e}, {used[0]} weights, {times['ours'].best:.2f} s",
        )
        report.add(
            f"L1, 800 x 88,000 bits, C = {C:g}: time / L1 logistic regression",
            times["ours"].best / times["theirs"].best,
            remark=f"liblinear, {used[1]} weights, {times['theirs'].best:.2f} s",
        )


def against_logistic_regression(report: Report) -> None:
    """Fit a rare class with few columns: peers see the whole curve."""
    X, y = linear(100_000, 50, 0.05)
    train, test = slice(50_000), slice(50_000, None)
    ours = AUCSVC(30.0, fpr_range=RANGE, penalty="l1")
    theirs = LogisticRegression(C=0.002, l1_ratio=1.0, solver="saga", max_iter=300)

    def fit_theirs() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs.fit(X[train], y[train])

    times = time_in_turn(
        {"ours": lambda: ours.fit(X[train], y[train]), "theirs": fit_theirs}, 2
    )
    report.add(
        "50,000 x 50, L1: time / L1 logistic regression (saga)",
        times["ours"].best / times["theirs"].best,
        at_most=1.0,
    )
    areas, used = [], []
    for model in (ours, theirs):
        scores = model.decision_function(X[test])
        areas.append(partial_auc_score(y[test], scores, fpr_range=RANGE))
        used.append(np.count_nonzero(model.coef_))
    report.add(
        "50,000 x 50, L1: test pAUC[0, 0.1] - logistic regression's",
        areas[0] - areas[1],
        "",
        at_least=0.0,
        remark=f"{areas[0]:.4f} and {areas[1]:.4f}, {used[0]} and {used[1]} weights",
    )
