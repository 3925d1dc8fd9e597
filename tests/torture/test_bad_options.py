"""Every option of every public function and estimator, with values of every odd kind.

A call ends well, or by a ValueError or TypeError that names the option.
"""

import inspect
import signal
import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure

import aucmax
from aucmax import datasets, decisions, inspection, metrics, plots
from aucmax.graphs import grid_edges
from torture.test_bad_input import GOOD, S, X, Y, small

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "ITIMER_PROF"), reason="needs a timer"
)

ODD = {
    "None": None,
    "minus one": -1,
    "zero": 0,
    "a half": 0.5,
    "huge": 10**30,
    "nan": float("nan"),
    "inf": float("inf"),
    "minus inf": float("-inf"),
    "word": "no such",
    "nothing": [],
    "empty dict": {},
    "falling pair": (0.5, 0.1),
    "complex": 1j,
}
#: given by tests of their own, or not options
ROWS = {"X", "y", "y_true", "y_score", "y_score_1", "y_score_2", "y_prob", "qid"}
ROWS |= {"sample_weight", "groups", "times", "eval_set", "subsets", "model", "self"}
ROWS |= {"censoring", "estimator", "metric_options", "options", "card"}
ROWS |= {"curve", "ax", "curve_kwargs", "path", "frame", "background"}
#: a large value of these is a long time, as it says
AMOUNTS = {"n_estimators", "n_resamples", "max_iter", "n_repeats", "n_orders"}
AMOUNTS |= {"folds", "cv", "n_samples", "n_features", "n_images"}


#: scikit-learn's
OTHER_WORDS = {"random_state": ("seed", "Seed")}


def functions():
    times = np.abs(S)
    given = {**GOOD, "model": aucmax.AUCSVC().fit(X, Y), "X": X, "y": Y}
    given |= {"y_score_2": S[::-1].copy(), "thresholds": [0.0], "event": Y}
    given |= {"time": times, "column": "x0", "share": 0.5, "n": 10, "name": "a"}
    given |= {"names": ["a"], "subsets": np.tril(np.ones((Y.size, Y.size), bool))}
    special = {
        "plan_auc": {"auc": 0.75, "power": 0.8},
        "compare_auc": {"y_score_2": given["y_score_2"]},
        "compare_concordance": {"y_score_2": given["y_score_2"]},
        "concordance_index": {"time": times, "y_score": S},
        "cumulative_dynamic_auc": {
            "time": times,
            "y_score": S,
            "horizons": [float(np.median(times))],
        },
    }
    for module in (metrics, decisions, inspection, plots):
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isclass(function) and hasattr(function, "from_predictions"):
                function = function.from_predictions
            if not inspect.isroutine(function) or name.endswith(("_scorer", "card")):
                continue
            needed = {
                parameter.name: given[parameter.name]
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty and parameter.name in given
            }
            if name != "margin_curve":
                yield name, function, {**needed, **special.get(name, {})}


def options_of(function):
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in ROWS and parameter.kind is not parameter.VAR_KEYWORD:
            yield parameter.name


def ends_well_or_names(call, option, value):
    """Run a call; return what is wrong with its error, if anything."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, 5.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except (ValueError, TypeError) as error:
        message = str(error)
        words = [option.removesuffix("s"), *OTHER_WORDS.get(option, ())]
        if not any(word in message for word in words):
            return [f"{option}={value!r}: {type(error).__name__} {message[:150]}"]
    except TimeoutError:
        if option not in AMOUNTS:
            return [f"{option}={value!r} does not end"]
    except Exception as error:
        return [f"{option}={value!r}: {type(error).__name__} {str(error)[:150]}"]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    return []


def odd_values(option):
    for kind, value in ODD.items():
        if not (option in AMOUNTS and kind in ("huge", "inf")):
            yield value


FUNCTIONS = [
    pytest.param(function, needed, option, id=f"{name}-{option}")
    for name, function, needed in functions()
    for option in options_of(function)
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "needed", "option"), FUNCTIONS)
def test_functions_name_an_odd_option(function, needed, option):
    offences = []
    has_ax = "ax" in inspect.signature(function).parameters
    for value in odd_values(option):
        given = {**needed, option: value}
        if has_ax:
            given["ax"] = Figure().subplots()
        offences += ends_well_or_names(lambda g=given: function(**g), option, value)
    assert not offences


READERS = [
    pytest.param(reader, content, option, id=f"{reader.__name__}-{option}")
    for reader, content in (
        (datasets.load_table, "a,b\n1,x\n2,y\n"),
        (datasets.load_svmlight, "1 1:2\n0 2:3\n"),
    )
    for option in ["path", *options_of(reader)]
]


@pytest.mark.parametrize(("reader", "content", "option"), READERS)
def test_readers_name_an_odd_option(reader, content, option, tmp_path):
    path, offences = tmp_path / "data.csv", []
    path.write_text(content)
    for value in odd_values(option):
        if option == "path" and value in (0, "no such"):
            continue  # numbers of open files, and files that are not there
        given = {"path": path, option: value}
        offences += ends_well_or_names(lambda g=given: reader(**g), option, value)
    assert not offences


def estimator_options():
    for name in aucmax.__all__:
        kind = getattr(aucmax, name)
        if inspect.isclass(kind) and hasattr(kind, "fit"):
            for option in kind()._get_param_names():
                yield pytest.param(kind, option, id=f"{name}-{option}")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "option"), [*estimator_options()])
def test_estimators_name_an_odd_parameter(kind, option):
    offences = []
    rows = ([(X, grid_edges(4, 6))], [Y]) if kind is aucmax.GraphRanker else (X, Y)
    for value in odd_values(option):
        model = small(kind).set_params(**{option: value})
        offences += ends_well_or_names(lambda m=model: m.fit(*rows), option, value)
    assert not offences


#: flags, and what has no effect by default
FREE = {"verbose", "warm_start", "stores_rows", "standardize", "pos_label", "groups"}
FREE |= {"random_state", "validation_fraction", "bins", "k", "n_jobs"}
CHECKED = [one for one in estimator_options() if one.values[1] not in FREE]


@pytest.mark.parametrize(("kind", "option"), CHECKED)
def test_estimators_name_a_parameter_that_cannot_be_used(kind, option):
    rows = ([(X, grid_edges(4, 6))], [Y]) if kind is aucmax.GraphRanker else (X, Y)
    ranged = {"objective": "pauc"} if kind is aucmax.LambdaMART else {}
    for value in (1j, -2):
        with pytest.raises((ValueError, TypeError), match=option.removesuffix("s")):
            small(kind).set_params(**ranged | {option: value}).fit(*rows)
