"""The linear model that chooses itself, and the bounded risk of all pairs."""

import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import make_scorer
from threadpoolctl import threadpool_limits

from aucmax import AUCSVC, LinearRankerCV
from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import compare_auc, partial_auc_score
from aucmax.risks import PairSigmoid
from benchmarks.auc_svc import linear
from benchmarks.harness import Report, time_in_turn

TITLE = "LinearRankerCV and the sigmoid of all pairs against logistic regression"
EARLY = {"fpr_range": (0.0, 0.1)}
# weights of tuned logistic regression
C_VALUES = np.logspace(-3, 2, 6)
Rows = tuple[np.ndarray, np.ndarray]


def run(report: Report) -> None:
    risk_calls(report)
    with threadpool_limits(1):
        price(report)
        two_kinds_of_positives(report)


def risk_calls(report: Report) -> None:
    """Time value and gradient of a million rows, checks of the input included."""
    generator = np.random.default_rng(0)
    scores = 2.0 * generator.normal(size=10**6)
    labels = generator.random(10**6) < 0.1
    times = time_in_turn(
        {
            "whole": lambda: PairSigmoid().bind(labels).value_and_gradient(scores),
            "part": lambda: (
                PairSigmoid(**EARLY).bind(labels).value_and_gradient(scores)
            ),
            "sort": lambda: np.argsort(scores),
        }
    )
    for part, name in (("whole", "whole range"), ("part", "[0, 0.1]")):
        report.add(
            f"PairSigmoid, 10^6 rows, {name} / np.argsort",
            times[part].best / times["sort"].best,
            at_most=2.0,
        )


def price(report: Report) -> None:
    """Compare the whole choice with one plain logistic regression."""
    X, y = linear(20_000, 50, 0.2)
    for name, part in (("AUC", {}), ("pAUC[0, 0.1]", EARLY)):
        model = LinearRankerCV(**part).fit(X[:3000], y[:3000])
        theirs = min(_seconds(lambda: LogisticRegression().fit(X, y)) for _ in range(9))
        ours = min(_seconds(lambda model=model: model.fit(X, y)) for _ in range(2))
        passes = model.cv_results_["mean_n_passes"]
        report.add(
            f"20,000 x 50, {name}: LinearRankerCV / one logistic regression",
            ours / theirs,
            at_most=60.0,
        )
        report.add(
            f"20,000 x 50, {name}: passes per candidate and fold",
            float(np.mean(passes)),
            "",
            at_most=40.0,
            remark=f"{len(passes)} candidates",
        )


def draw_two_kinds(n_rows: int, seed: int, n_columns: int = 50) -> Rows:
    """Draw a tenth of positives, most of them among the negatives.

    Of the positives 30 % are far out along the first axis, where 10 % of the negatives
    are a little ahead; along the other axes together all positives are 0.8 ahead.
    """
    generator = np.random.default_rng(seed)
    y = generator.random(n_rows) < 0.1
    X = generator.normal(size=(n_rows, n_columns))
    X[y & (generator.random(n_rows) < 0.3), 0] += 3.0
    X[~y & (generator.random(n_rows) < 0.1), 0] += 0.8
    ahead = np.linspace(0.5, 1.5, n_columns - 1)
    X[np.ix_(y, np.arange(1, n_columns))] += 0.8 * ahead / np.linalg.norm(ahead)
    return X, y


def two_kinds_of_positives(report: Report) -> None:
    """Fit a set on which AUC and partial AUC ask for different directions."""
    X, y = draw_two_kinds(100_000, seed=0)
    X_test, y_test = draw_two_kinds(200_000, seed=1)
    scorer = make_scorer(
        partial_auc_score, response_method="decision_function", **EARLY
    )
    models = {
        "tuned logistic regression": LogisticRegressionCV(
            Cs=C_VALUES,
            cv=4,
            scoring=scorer,
            l1_ratios=(0,),
            use_legacy_attributes=False,
        ),
        "LinearRankerCV": LinearRankerCV(**EARLY),
    }
    seconds, scores = {}, {}
    for name, model in models.items():
        seconds[name] = _seconds(lambda model=model: model.fit(X, y))
        scores[name] = model.decision_function(X_test)
    tuned, ours = models
    test = compare_auc(y_test, scores[ours], scores[tuned], **EARLY)
    label = "100,000 x 50, two kinds of positives, pAUC[0, 0.1]"
    report.add(
        f"{label}: ours - tuned logistic regression",
        test.difference,
        "",
        at_least=0.002,
        remark=f"{test.auc_a:.4f}, {test.auc_b:.4f}; [{test.low:.4f}, {test.high:.4f}]",
    )
    report.add(
        f"{label}: time / tuned logistic regression",
        seconds[ours] / seconds[tuned],
        at_most=20.0,
    )
    hinge = AUCSVC(C=1000.0, max_time=20.0, **EARLY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantScoresWarning)
        hinge.fit(X, y)
    collapsed = partial_auc_score(y_test, hinge.decision_function(X_test), **EARLY)
    report.add(f"{label}: tight hinge", collapsed, "")


def _seconds(call: Callable[[], object]) -> float:
    """Return processor seconds: others may be busy on the machine."""
    start = time.process_time()
    call()
    return time.process_time() - start
