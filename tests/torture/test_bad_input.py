"""Every metric, plot, and estimator, with every kind of bad input, generated.

Each call ends by a ValueError or a TypeError that names the argument.
"""

import inspect
import warnings

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone

import aucmax
from aucmax import decisions, inference, metrics, plots

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
    """Return what must be rejected in the place of a vector of numbers."""
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


#: what functions call the scores of rows
SCORES = ("y_score", "y_score_1", "y_score_2", "y_prob")


#: a good value of each argument of a function of scores; the first are always given
USUAL = {**dict.fromkeys(SCORES, S), "y_true": Y, "y_prob": np.tanh(np.abs(S))}
USUAL |= {"metric": metrics.roc_auc_score, "k": 3, "recall": 0.5}
GOOD = {**USUAL, "fpr": 0.5, "precision": 0.5, "specificity": 0.8, "sensitivity": 0.8}
GOOD |= {"folds": np.arange(N) // 2 % 2, "by": np.arange(N) // 2 % 2}
GOOD |= {"thresholds": [0.3]}


def functions_of_scores():
    """Find what takes labels and scores, with what else it needs, and the scores."""
    for module in (metrics, inference, plots, decisions):
        for name in module.__all__:
            public = getattr(module, name)
            # displays are made from predictions
            function = getattr(public, "from_predictions", public)
            if not inspect.isroutine(function):
                continue
            parameters = inspect.signature(function).parameters
            needed = {
                k: v
                for k, v in GOOD.items()
                if k in parameters
                and (k in USUAL or parameters[k].default is inspect.Parameter.empty)
            }
            if name != "bootstrap_interval":
                needed.pop("metric", None)  # by name, and the AUC by default
            # censored times, and many models, are tested with their metrics
            if "event" in parameters or name == "compare_metric":
                continue
            for scores in filter(needed.__contains__, SCORES):
                yield pytest.param(function, needed, scores, id=f"{name}-{scores}")


def assert_rejected(call, names):
    """Check that a call ends by an error of ours that names one of the arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
    message = str(caught.value)
    assert any(name in message for name in names), message


#: what one class alone can be measured by
OF_ONE_CLASS = ("ndcg_score", "precision_at_k", "mean_average_precision", "reliability")
OF_ONE_CLASS += ("recall_at_k",)


@pytest.mark.parametrize(("function", "needed", "scores"), [*functions_of_scores()])
def test_functions_of_scores_refuse_bad_input_by_name(function, needed, scores):
    parameters = inspect.signature(function).parameters
    is_matrix = "multi_class" in parameters
    if is_matrix:
        needed = {**needed, scores: np.column_stack([-S, S])}

    def call(**bad):
        figure = {"ax": Figure().subplots()} if "ax" in parameters else {}
        return lambda: function(**{**needed, **figure, **bad})

    for bad in (bad_tables() if is_matrix else bad_vectors(S)).values():
        assert_rejected(call(**{scores: bad}), [scores, "y_prob"])
    for kind, bad in bad_labels().items():
        if kind != "one class" or function.__name__ not in OF_ONE_CLASS:
            assert_rejected(call(y_true=bad), ["y_true", "labels"])
    if "sample_weight" in parameters:
        for bad in bad_weights().values():
            assert_rejected(call(sample_weight=bad), ["sample_weight"])


def estimators():
    """Find the estimators of tables; graphs have tests of their own."""
    for name in aucmax.__all__:
        estimator = getattr(aucmax, name)
        if (
            inspect.isclass(estimator)
            and hasattr(estimator, "fit")
            and name != "GraphRanker"
        ):
            yield pytest.param(estimator, id=name)


def small(kind):
    model = kind()
    few = {"n_estimators": 2, "C_values": (1.0,), "cv": 2, "models": ["logistic"]}
    return model.set_params(**{k: v for k, v in few.items() if k in vars(model)})


@pytest.mark.parametrize("kind", [*estimators()])
def test_estimators_refuse_bad_input_by_name(kind):
    template = small(kind)
    takes_gaps = template.__sklearn_tags__().input_tags.allow_nan
    takes_text = template.__sklearn_tags__().input_tags.string
    for name, bad in bad_tables().items():
        if (name == "nan" and takes_gaps) or (takes_text and name in _FOR_TABLES):
            continue
        assert_rejected(lambda bad=bad: clone(template).fit(bad, Y), NAMES_OF_TABLES)
    for bad in bad_labels().values():
        assert_rejected(lambda bad=bad: clone(template).fit(X, bad), ["y", "target"])
    if "sample_weight" in inspect.signature(template.fit).parameters:
        for bad in bad_weights().values():
            assert_rejected(
                lambda bad=bad: clone(template).fit(X, Y, sample_weight=bad),
                ["sample_weight"],
            )


_FOR_TABLES = ("strings", "dates", "nan")
NAMES_OF_TABLES = ("X", "table", "column", "Found")


@pytest.mark.parametrize("kind", [*estimators()])
def test_fitted_models_refuse_bad_rows_by_name(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = small(kind).fit(X, Y)
    tags = model.__sklearn_tags__().input_tags
    bad_rows = {**bad_tables(), "wide": np.column_stack([X, X]), "narrow": X[:, :2]}
    for name, bad in bad_rows.items():
        is_sound = (name == "nan" and tags.allow_nan) or name in ("short", "empty")
        if not is_sound and not (name == "dates" and tags.string):
            assert_rejected(
                lambda bad=bad: model.decision_function(bad), NAMES_OF_TABLES
            )


@pytest.mark.parametrize("kind", [*estimators()])
def test_a_failed_fit_leaves_a_model_as_it_was(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = small(kind).fit(X, Y)
        before = model.decision_function(X)
        with pytest.raises((ValueError, TypeError)):
            model.fit(X, np.ones(N))
        assert (model.decision_function(X) == before).all()
