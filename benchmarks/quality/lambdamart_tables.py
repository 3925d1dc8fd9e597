"""LambdaMART against LightGBM's ``binary`` on real tables of two classes.

With defaults, each side is as its library has it. Tuned, both grow the same trees from
the same rows, and each chooses one of six settings and the number of rounds by the
validation rows; test rows are looked at once, after that. Data sets are looked for in
``AUCMAX_DATA``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from aucmax import LambdaMART
from aucmax.datasets import load_svmlight, load_table
from aucmax.metrics import partial_auc_score, roc_auc_score
from aucmax.tables import TableEncoder
from benchmarks.papers.data import FOLDER
from benchmarks.papers.differences import mean_difference
from benchmarks.report import Report

TITLE = "LambdaMART against LightGBM binary on real tables, by AUC and pAUC[0, 0.1]"
# where there are several classes, the one that logistic regression finds hardest
POSITIVE = {"satimage": 4, "segment": 4, "vehicle": "opel"}
SPARSE_FILES = {"bace": "bace_morgan2048.svm.gz", "a9a": "a9a_train.svm.gz"}
NAMES = (
    *("ionosphere", "spambase", "kr-vs-kp", "hypothyroid", "sick-euthyroid", "sick"),
    *("mammography", *SPARSE_FILES, *POSITIVE),
)
MOST_ROWS = 16_000  # more than these only in a9a
N_SPLITS = 8
TRAINING, VALIDATION, TEST = 0.6, 0.2, 0.2
MOST_ROUNDS, PATIENCE = 300, 30
PART = (0.0, 0.1)
# held to a mean no lower than that of binary, and to the majority of sets
MEAN_HELD, COUNT_HELD = "logistic", "pauc"
# equal trees, where a setting is chosen
TUNED = {"learning_rate": 0.1, "min_child_samples": 20, "colsample_bytree": 1.0}
LIGHTGBM = {
    "objective": "binary",
    "metric": "None",
    "force_row_wise": True,
    "deterministic": True,
    "num_threads": 1,
    "seed": 0,
    "verbosity": -1,
}

Metric = Callable[[np.ndarray, np.ndarray], float]
Setting = dict[str, Any]
Outcomes = dict[str, dict[str, float]]  # by contest and side


def auc(labels: np.ndarray, scores: np.ndarray) -> float:
    return roc_auc_score(labels, scores)


def partial_auc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Return the mean height of the curve over the range, 1 for a perfect ranking."""
    return partial_auc_score(labels, scores, fpr_range=PART)


@dataclass(frozen=True)
class Contest:
    """Who competes by which metric: `binary`, and objectives of LambdaMART.

    Each has settings to choose from by the validation rows, as many as the others. One
    without any choice is not validated, and runs as the library has it.
    """

    metric: Metric
    settings: dict[str, list[Setting]]


def settings(**choices: tuple[Any, ...]) -> list[Setting]:
    """Return all combinations."""
    found = product(*choices.values())
    return [dict(zip(choices, values, strict=True)) for values in found]


SIX = [
    TUNED | setting
    for setting in settings(num_leaves=(7, 31), reg_lambda=(0.0, 5.0, 50.0))
]
CONTESTS = {
    "AUC, defaults": Contest(auc, {"binary": [{}], "logistic": [{}], "auc": [{}]}),
    "pAUC, defaults": Contest(partial_auc, {"binary": [{}], "pauc": [{}]}),
    "AUC, tuned": Contest(auc, {"binary": SIX, "logistic": SIX, "auc": SIX}),
    "pAUC, tuned": Contest(partial_auc, {"binary": SIX, "pauc": SIX}),
}


@dataclass(frozen=True)
class Split:
    """Training, validation and test rows, as numbers for trees."""

    X: list[Any]
    y: list[np.ndarray]
    categorical: list[int]


def run(report: Report) -> None:
    names = list(there())
    if not names:
        return
    results = {
        name: [of_split(name, number) for number in range(N_SPLITS)] for name in names
    }
    for title, contest in CONTESTS.items():
        for side in contest.settings:
            if side != "binary":
                compare(report, title, side, results)


def there() -> Iterator[str]:
    """Yield the data sets whose files are there, and say which are not."""
    for name in NAMES:
        if (path := path_of(name)).is_file():
            yield name
        else:
            print(f"no {path}; name the folder of data sets in AUCMAX_DATA")


def path_of(name: str) -> Path:
    return FOLDER / name / SPARSE_FILES.get(name, f"{name}.csv.gz")


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, np.ndarray]:
    """Return the rows as they are, and which are positive."""
    rows: Any
    if name in SPARSE_FILES:
        read = load_svmlight(path_of(name))
        rows, y = sparse.csr_array(read.X), np.asarray(read.y) > 0
    else:
        table = load_table(path_of(name))
        rows = table.drop("target")
        y = table["target"].to_numpy() == POSITIVE.get(name, 1)
    if y.size > MOST_ROWS:
        kept, _ = train_test_split(
            np.arange(y.size), train_size=MOST_ROWS, stratify=y, random_state=0
        )
        rows, y = rows[kept], y[kept]
    return rows, y


def split(name: str, number: int) -> Split:
    """Draw the parts, stratified; what is learned of columns, from training rows."""
    rows, y = load(name)
    places = np.arange(y.size)
    rest, test = train_test_split(
        places, test_size=TEST, stratify=y, random_state=number
    )
    training, validation = train_test_split(
        rest,
        test_size=VALIDATION / (1.0 - TEST),
        stratify=y[rest],
        random_state=number,
    )
    parts = training, validation, test
    encoder = TableEncoder().fit(rows[training])
    X: list[Any] = [encoder.matrix(rows[part], "trees") for part in parts]
    if sparse.issparse(rows):
        X = [sparse.csr_matrix(part) for part in X]  # LightGBM warns of arrays
    return Split(X, [y[part] for part in parts], encoder.categorical_features_)


def of_split(name: str, number: int) -> Outcomes:
    """Return the test metric of every side of every contest on one split."""
    rows = split(name, number)
    return {
        title: {
            side: best_of(side, choices, contest.metric, rows)
            for side, choices in contest.settings.items()
        }
        for title, contest in CONTESTS.items()
    }


def best_of(side: str, choices: list[Setting], metric: Metric, rows: Split) -> float:
    """Choose by the validation rows; return the metric of the test rows."""
    watched = metric if len(choices) > 1 else None
    fit = fit_binary if side == "binary" else partial(fit_ours, side)
    scores = [fit(setting, watched, rows) for setting in choices]
    values = [metric(rows.y[1], score(rows.X[1])) for score in scores]
    return metric(rows.y[2], scores[int(np.argmax(values))](rows.X[2]))


def fit_binary(
    setting: Setting, watched: Metric | None, rows: Split
) -> Callable[[Any], np.ndarray]:
    parameters = {**LIGHTGBM, **setting}
    y, y_validation, _ = (labels.astype(float) for labels in rows.y)
    data = lightgbm.Dataset(
        rows.X[0], y, categorical_feature=rows.categorical, params=parameters
    )
    if watched is None:
        model = lightgbm.train(parameters, data)
    else:
        model = lightgbm.train(
            parameters,
            data,
            MOST_ROUNDS,
            [data.create_valid(rows.X[1], y_validation)],
            feval=lambda scores, _: ("", watched(rows.y[1], scores), True),
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
    return lambda X: np.asarray(model.predict(X, raw_score=True))


def fit_ours(
    objective: str, setting: Setting, watched: Metric | None, rows: Split
) -> Callable[[Any], np.ndarray]:
    model = LambdaMART(objective, categorical_features=rows.categorical, **setting)
    if watched is None:
        return model.fit(rows.X[0], rows.y[0]).decision_function
    model.set_params(
        n_estimators=MOST_ROUNDS,
        n_iter_no_change=PATIENCE,
        eval_metric=watched,
    )
    model.fit(rows.X[0], rows.y[0], eval_set=(rows.X[1], rows.y[1]))
    return model.decision_function


def compare(
    report: Report,
    title: str,
    side: str,
    results: dict[str, list[dict[str, dict[str, float]]]],
) -> None:
    """Report how much better one side is than `binary`: on each set, and over all."""
    differences = []
    for name, splits in results.items():
        ours, theirs = (
            np.array([one[title][who] for one in splits]) for who in (side, "binary")
        )
        # test rows are drawn anew, but most training rows are the same ones
        found = mean_difference(ours - theirs, overlap=TEST / TRAINING)
        differences.append(found)
        report.add(
            f"{title}: {name}, {side!r} less binary",
            found.mean,
            "",
            remark=f"+- {found.reach:.4f}; {ours.mean():.4f} and {theirs.mean():.4f}",
        )
    means = np.array([one.mean for one in differences])
    wins = sum(one.is_ahead for one in differences)
    losses = sum(one.is_behind for one in differences)
    report.add(
        f"{title}: mean over {len(means)} sets, {side!r} less binary",
        np.mean(means),
        "",
        at_least=0.0 if side == MEAN_HELD else float("-inf"),
        remark=f"+- {mean_difference(means).reach:.4f}; clearly better on {wins}, "
        f"worse on {losses}",
    )
    report.add(
        f"{title}: {side!r} above binary",
        sum(mean > 0 for mean in means),
        "sets",
        at_least=len(means) // 2 + 1 if side == COUNT_HELD else 0,
        remark=f"of {len(means)}",
    )
