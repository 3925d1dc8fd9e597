import re

import numpy as np
import pytest

from aucmax import AUCSVC, AutoRanker, LambdaMART, LinearRankerCV
from aucmax.model_selection.models import named_candidate
from aucmax.model_selection.typed_parameters import parse_parameters


@pytest.mark.parametrize(
    ("estimator", "setting", "expected"),
    [
        (AUCSVC(), "C=1", {"C": 1.0}),
        (AUCSVC(), "loss=sigmoid", {"loss": "sigmoid"}),
        (AUCSVC(), "fpr_range=0,0.2", {"fpr_range": (0, 0.2)}),
        (AUCSVC(), "max_time=2.5", {"max_time": 2.5}),
        (LambdaMART(), "n_estimators=5e2", {"n_estimators": 500}),
        (LinearRankerCV(), "standardize=no", {"standardize": False}),
        (LinearRankerCV(), "losses=hinge,sigmoid", {"losses": ("hinge", "sigmoid")}),
        (LinearRankerCV(), "max_time=none", {"max_time": None}),
        (AutoRanker(), "models=['logistic']", {"models": ("logistic",)}),
        (AutoRanker(), "models=[logistic]", {"models": ("logistic",)}),
        (AutoRanker(), "models=a,b", {"models": ("a", "b")}),
        (AutoRanker(), "models=default", {"models": "default"}),
        (AutoRanker(), "metric=recall@fpr=0.01", {"metric": "recall@fpr=0.01"}),
    ],
    ids=str,
)
def test_values_have_the_type_of_their_default(estimator, setting, expected):
    parameters = parse_parameters(estimator, [setting], "a model")
    assert parameters == expected
    (value,), (wanted,) = parameters.values(), expected.values()
    assert type(value) is type(wanted)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["C"], "NAME=VALUE, such as C=.*, got 'C'"),
        (["c=1"], "svm has no parameter 'c'.*Its parameters are .*penalty"),
        (["C=much"], "C must be a number, got 'much'"),
        (["max_iter=1.5"], "max_iter must be an integer, got '1.5'"),
        (["C=1", "C=2"], "C is set twice"),
        (["callback=print"], "svm has no parameter 'callback'"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        parse_parameters(AUCSVC(), settings, "svm")


def test_the_advice_of_the_models_works_when_typed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    typed = parse_parameters(AutoRanker(), ["models=logistic"], "auto")
    with pytest.raises(ValueError, match="write models=") as raised:
        AutoRanker(**typed).fit(X, y)
    advice = re.search(r"write (models=\S+) for", str(raised.value))[1]
    for text in (advice, advice.replace("'", "")):  # in a shell, without its quotes
        typed = parse_parameters(AutoRanker(), [text], "auto")
        AutoRanker(**typed, max_fits=2).fit(X, y)


def test_a_parameter_that_is_set_does_not_grow_with_the_rows():
    model = named_candidate("svm-auc", parameters={"C": 3.0})
    assert not model.per_row
    assert model.estimator.C == 3.0
    assert named_candidate("svm-auc").per_row == {"C": 0.1}
