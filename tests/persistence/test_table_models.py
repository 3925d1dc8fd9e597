"""Models of whole tables come back with their preparation, trees included."""

import json
import random
from functools import cache

import numpy as np
import polars as pl
import pytest

from aucmax.exceptions import ModelFileError
from aucmax.metrics import survival_target
from aucmax.model_selection import MODELS, AutoRanker
from aucmax.model_selection.models import named_candidate
from aucmax.persistence.model_file import _pack, _unpack
from persistence.equality import same, through_file
from persistence.forgery import ODD, compact, forge, places, take_apart
from torture.amount import times

N_TRIALS = times(50, 150)

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


def booster_file():
    members = take_apart(_pack(fitted("lightgbm"), "AutoRanker"))
    del members["manifest.json"]
    (text,) = [name for name in members if name.endswith(".txt")]
    return members, text


def test_trees_of_another_type_are_rejected():
    members, text = booster_file()
    state = members["state.json"].replace(compact({"text": text}), b"5")
    assert state != members["state.json"]
    del members[text]
    with pytest.raises(ModelFileError, match="model_text_ is not of type str"):
        _unpack(forge({**members, "state.json": state}, **{"class": "AutoRanker"}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted({choice.import_path for choice in MODELS.values()})
)
def test_odd_values_under_right_hashes_raise_only_our_exception(path):
    # models of one class differ in their parameters, so they share the trials
    files = []
    for name in (name for name, choice in MODELS.items() if choice.import_path == path):
        files.append(take_apart(_pack(fitted(name), "AutoRanker")))
        del files[-1]["manifest.json"]
    rng, rejected = random.Random(path), 0
    for trial in range(N_TRIALS):
        members = files[trial % len(files)]
        tree = json.loads(members["state.json"])
        container, key = rng.choice(list(places(tree)))
        container[key] = rng.choice(ODD)
        changed = {**members, "state.json": compact(tree)}
        try:
            _unpack(forge(changed, **{"class": "AutoRanker"}))
        except ModelFileError:
            rejected += 1
    assert rejected > N_TRIALS // 4
