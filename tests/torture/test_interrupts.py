"""Ctrl-C at any moment of a fit: it ends soon, and the earlier model is as it was."""

import random
import signal
import time
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import aucmax
from aucmax.graphs import grid_edges
from aucmax.linear.additive_logistic import AdditiveLogistic
from aucmax.linear.kernel_logistic import KernelLogistic
from aucmax.model_selection import LambdaRankBaseline, LightGBMBaseline
from aucmax.model_selection.forest import Forest
from aucmax.model_selection.network import Network
from torture.amount import times

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "ITIMER_PROF"), reason="there is no timer of processor time"
)
#: seconds of processor time, so that other processes do not count
LONGEST = 1.0

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20_000, 20))
Y = X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=20_000) > 0.5
LEVELS = np.digitize(X[:, 0] + RNG.normal(size=20_000), [0.0, 1.0])
TABLE = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": (X[:, 2] * 9).astype(int)})
TABLE = TABLE.with_columns(pl.col("kind").cast(pl.String))
GRAPHS = [(rows, grid_edges(20, 20)) for rows in X[:12_000].reshape(30, 400, 20)]
NODES = list(Y[:12_000].reshape(30, 400))

#: model, rows and labels that take a while
MODELS = {
    "AUCSVC": (aucmax.AUCSVC(tol=1e-9), X, Y),
    "AUCSVC partial": (aucmax.AUCSVC(fpr_range=(0.0, 0.1), tol=1e-9), X, Y),
    "AUCSVC sparse": (aucmax.AUCSVC(penalty="l1", tol=1e-9), X, Y),
    "AUCSVC sigmoid": (aucmax.AUCSVC(loss="sigmoid"), X, Y),
    "LevelSumRanker": (aucmax.LevelSumRanker(aucmax.AUCSVC(tol=1e-9)), X, LEVELS),
    "LinearRankerCV": (aucmax.LinearRankerCV(), X, Y),
    "MarginRanker": (aucmax.MarginRanker("stumps", tol=1e-9), X, Y),
    "MarginRanker global": (
        aucmax.MarginRanker("stumps", formulation="global"),
        X[:300],
        Y[:300],
    ),
    "RankBoost": (aucmax.RankBoost(n_estimators=2000), X, Y),
    "SoftRankBoost": (aucmax.SoftRankBoost(n_estimators=2000), X, Y),
    "LambdaMART": (aucmax.LambdaMART(n_estimators=2000), X, Y),
    "LightGBMBaseline": (LightGBMBaseline(n_estimators=2000), X, Y),
    "LambdaRankBaseline": (
        LambdaRankBaseline(n_estimators=2000),
        X[:8000],
        LEVELS[:8000],
    ),
    "Forest": (Forest(n_estimators=2000), X, Y),
    "Network": (Network(n_epochs=2000), X, Y),
    "AdditiveLogistic": (AdditiveLogistic(), X, Y),
    "KernelLogistic": (KernelLogistic(), X, Y),
    "AutoRanker": (aucmax.AutoRanker(time_limit=None), TABLE, Y),
    "GraphRanker": (aucmax.GraphRanker(tol=1e-9), GRAPHS, NODES),
}


def some(rows, n):
    return rows[:n]


def interrupted(model, rows, labels, delay):
    """Fit, with Ctrl-C after a delay; return how long it took to end, if it was hit."""
    before = signal.signal(
        signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT)
    )
    start, has_ended = time.process_time(), False
    try:
        signal.setitimer(signal.ITIMER_PROF, delay)
        model.fit(rows, labels)
        has_ended = True
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    except KeyboardInterrupt:  # just after the fit, it hits nothing
        return None if has_ended else time.process_time() - start - delay
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    is_hit = any("interrupted" in text for text in getattr(model, "notices_", ()))
    return time.process_time() - start - delay if is_hit else None


def scores(model, rows):
    scores = model.decision_function(some(rows, 40))
    return np.concatenate(scores) if isinstance(scores, list) else scores


def is_unchanged(model, state):
    now = vars(model)
    return now.keys() == state.keys() and all(now[k] is state[k] for k in now)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_ends_soon_and_leaves_the_earlier_model(name, record_property):
    template, rows, labels = MODELS[name]
    draw, longest, n_hits, most = random.Random(name), 0.0, 0, times(0.3, 1.0)
    few = 2 if isinstance(rows, list) else 60
    model = clone(template)
    if name == "AutoRanker":
        model.set_params(models=["logistic"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(some(rows, few), some(labels, few))
        model.set_params(**template.get_params(deep=False))
        expected, state = scores(model, rows), dict(vars(model))
        while n_hits < times(1, 50):
            late = interrupted(model, rows, labels, draw.uniform(0.0, most))
            if late is None:
                most /= 2.0
                assert most > 1e-3, "the fit is too fast to be interrupted"
            else:
                n_hits += 1
                longest = max(longest, late)
                # the search of AutoRanker keeps what it has found
                assert name == "AutoRanker" or is_unchanged(model, state)
            if is_unchanged(model, state):
                np.testing.assert_array_equal(scores(model, rows), expected)
            vars(model).clear()
            vars(model).update(state)
    record_property("the longest time to the end, in seconds", longest)
    assert longest <= LONGEST
