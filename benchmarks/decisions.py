"""The cost of importance by permutation, against bare scorings and sorts."""

import time
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression

from aucmax.inspection import permutation_importance
from aucmax.trees import LightGBMBaseline
from benchmarks.harness import Report

TITLE = "Importance of columns"


def run(report: Report) -> None:
    """Compare 50 columns of 10^5 rows with 60 scorings and 60 sorts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 50))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=100_000) > 2.0
    models = {
        "logistic regression": LogisticRegression().fit(X[:5000], y[:5000]),
        "20 trees": LightGBMBaseline(20).fit(X[:5000], y[:5000]),
    }
    for name, model in models.items():
        scores = model.decision_function(X)
        permutation_importance(model, X[:2000], y[:2000])  # compiles
        once = [
            _processor(lambda m=model: m.decision_function(X))
            + _processor(lambda s=scores: np.argsort(s))
            for _ in range(5)
        ]
        whole = _processor(lambda m=model: permutation_importance(m, X, y))
        # a product with 50 weights takes no longer than to exchange a column does
        target = {} if name == "logistic regression" else {"at_most": 1.0}
        ratio = whole / (60.0 * float(np.median(once)))
        report.add(f"{name}: time over 60 scorings and sorts", ratio, **target)


def _processor(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start
