"""Every metric and every estimator, with every kind of bad input, generated.

Each call ends by a ValueError or a TypeError that names the argument.
"""

import inspect
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import aucmax
from aucmax import metrics

pytestmark = pytest.mark.sampled(2)

N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = np.arange(N) % 2
S = RNG.normal(size=N)


def with_entry(array, value, dtype=float):
    changed = np.array(array, dtype=dtype)
    changed[(3,) + (0,) * (changed.ndim - 1)] = value
    return changed


def bad_vectors(good):
    """Return what must be refused in the place of a vector of numbers."""
    return {
        "None": None,
        "nan": with_entry(good, np.nan),
        "inf": with_entry(good, np.inf),
        "minus inf": with_entry(good, -np.inf),
        "object None": with_entry(good, None, object),
        "complex": np.asarray(good) * 1j,
        "empty": np.empty(0),
        "short": np.asarray(good)[:-1],
        "long": np.append(good, 1),
        "matrix": np.zeros((N, 2)),
        "scalar": 3.0,
        "dates": np.asarray(good).astype("datetime64[s]"),
        "masked": np.ma.array(good, mask=np.arange(N) == 3),
        "lazy": pl.LazyFrame({"a": np.asarray(good, dtype=float)}),
        "ragged": [[1], [2, 3]],
        "dict": {"a": 1},
    }


def bad_weights():
    ones = np.ones(N)
    return {
        **{k: v for k, v in bad_vectors(ones).items() if k != "None"},
        "negative": with_entry(ones, -1.0),
        "zero": np.zeros(N),
        "strings": np.full(N, "a"),
    }


def bad_labels():
    bad = {k: v for k, v in bad_vectors(Y).items() if k not in ("short", "long")}
    return {**bad, "one class": np.ones(N, dtype=int)}


def bad_tables():
    return {
        "None": None,
        "nan": with_entry(X, np.nan),
        "inf": with_entry(X, np.inf),
        "minus inf": with_entry(X, -np.inf),
        "complex": X * 1j,
        "empty": np.empty((0, 3)),
        "scalar": 3.0,
        "dates": X.astype("datetime64[s]"),
        "lazy": pl.LazyFrame({"a": X[:, 0]}),
        "strings": np.full((N, 3), "a"),
        "short": X[:-1],
        "vector": X[:, 0],
        "cube": X[:, :, None],
        "no columns": np.empty((N, 0)),
        "masked": np.ma.array(X, mask=X > 1.0),
        "dict": {"a": 1},
    }


def metrics_of_scores():
    """Find the metrics that take labels and scores, with what else they need."""
    options = {"k": 3, "metric": metrics.roc_auc_score}
    for name in metrics.__all__:
        metric = getattr(metrics, name)
        if not inspect.isfunction(metric):
            continue
        parameters = inspect.signature(metric).parameters
        if not {"y_true", "y_score"} <= parameters.keys():
            continue
        needed = {k: v for k, v in options.items() if k in parameters}
        yield pytest.param(metric, needed, parameters, id=name)


def refused(call, names):
    """Check that a call ends by an error of ours that names one of the arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
    message = str(caught.value)
    assert any(name in message for name in names), message


@pytest.mark.parametrize(("metric", "needed", "parameters"), [*metrics_of_scores()])
def test_metrics_refuse_bad_input_by_name(metric, needed, parameters):
    labels = Y
    if "multi_class" in parameters:
        pytest.skip("takes a matrix of scores; its own tests have the cases")
    for bad in bad_vectors(S).values():
        call = lambda bad=bad: metric(y_true=labels, y_score=bad, **needed)  # noqa: E731
        refused(call, ["y_score"])
    for kind, bad in bad_labels().items():
        if kind == "one class" and metric.__name__ in ("ndcg_score", "precision_at_k"):
            continue
        if kind == "one class" and metric.__name__ == "mean_average_precision":
            continue
        call = lambda bad=bad: metric(y_true=bad, y_score=S, **needed)  # noqa: E731
        refused(call, ["y_true", "labels"])
    if "sample_weight" in parameters:
        for bad in bad_weights().values():
            call = lambda bad=bad: metric(  # noqa: E731
                y_true=labels, y_score=S, sample_weight=bad, **needed
            )
            refused(call, ["sample_weight"])


def estimators():
    for name in aucmax.__all__:
        found = getattr(aucmax, name)
        if inspect.isclass(found) and hasattr(found, "fit") and name != "GraphRanker":
            yield pytest.param(found, id=name)


def small(kind):
    model = kind()
    few = {"n_estimators": 2, "C_values": (1.0,), "cv": 2}
    return model.set_params(**{k: v for k, v in few.items() if k in vars(model)})


@pytest.mark.parametrize("kind", [*estimators()])
def test_estimators_refuse_bad_input_by_name(kind):
    template = small(kind)
    takes_gaps = template.__sklearn_tags__().input_tags.allow_nan
    takes_text = template.__sklearn_tags__().input_tags.string
    for name, bad in bad_tables().items():
        if (name == "nan" and takes_gaps) or (takes_text and name in _FOR_TABLES):
            continue
        refused(lambda bad=bad: clone(template).fit(bad, Y), ["X", "table", "Found"])
    for bad in bad_labels().values():
        refused(lambda bad=bad: clone(template).fit(X, bad), ["y", "target"])
    if "sample_weight" in inspect.signature(template.fit).parameters:
        for bad in bad_weights().values():
            refused(
                lambda bad=bad: clone(template).fit(X, Y, sample_weight=bad),
                ["sample_weight"],
            )


_FOR_TABLES = ("strings", "dates", "nan")


@pytest.mark.parametrize("kind", [*estimators()])
def test_a_failed_fit_leaves_a_model_as_it_was(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = small(kind).fit(X, Y)
        before = model.decision_function(X)
        with pytest.raises((ValueError, TypeError)):
            model.fit(X, np.ones(N))
        assert (model.decision_function(X) == before).all()
