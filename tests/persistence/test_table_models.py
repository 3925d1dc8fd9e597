"""Models of whole tables come back with their preparation, trees included."""

from functools import cache

import numpy as np
import polars as pl
import pytest

from aucmax.exceptions import ModelFileError
from aucmax.metrics import survival_target
from aucmax.model_selection import MODELS, AutoRanker
from aucmax.model_selection.models import named_candidate
from persistence.equality import same, through_file
from persistence.forgery import compact, file_of, unpack_with

RNG = np.random.default_rng(4)
N = 300
SIZE = np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N))
KIND = RNG.choice(np.array(["red", "größe", "x=y", None], dtype=object), N)
TABLE = pl.DataFrame(
    {"size": SIZE, "kind": KIND, "count": RNG.integers(0, 9, N)}, strict=False
).with_columns(pl.col("size").fill_nan(None))
TARGET = np.where(np.nan_to_num(SIZE) + (KIND == "red") > 0.4, "yes", "no")


@cache
def fitted(name):
    """A model of few trees, whose text is checked in no time."""
    few = {"n_estimators": 20} if "n_estimators" in defaults(name) else {}
    models = ["logistic", "lightgbm-small"] if name == "auto" else [(name, few)]
    model = AutoRanker(models=models, cv=2, time_limit=None)
    if MODELS[name].learns_survival:
        is_event = TARGET == "yes"
        return model.fit(TABLE, survival_target(is_event, np.where(is_event, 1.0, 2.0)))
    return model.fit(TABLE, TARGET)


def defaults(name):
    return named_candidate(name).estimator.get_params()


@pytest.mark.parametrize("name", MODELS)
def test_a_table_model_scores_raw_rows_alike(name, tmp_path):
    model = fitted(name)
    again = through_file(model, tmp_path)
    assert same(vars(again), vars(model))
    scores = model.decision_function(TABLE)
    assert (again.decision_function(TABLE) == scores).all()
    # a short scorecard has few scores, and full trees have two on training rows
    assert np.unique(scores).size > (1 if name == "extra-trees" else 4)


def test_trees_of_another_type_are_rejected():
    members, class_name = file_of(fitted("lightgbm"))
    (text,) = [name for name in members if name.endswith(".txt")]
    state = members["state.json"].replace(compact({"text": text}), b"5")
    assert state != members["state.json"]
    del members[text]
    with pytest.raises(ModelFileError, match="model_text_ is not of type str"):
        unpack_with(members, class_name, state)
