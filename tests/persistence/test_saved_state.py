"""Files of every estimator, forged with right hashes: rejected, or they score."""

import json
import random
import time
import tracemalloc

import numpy as np
import polars as pl
import pytest

from aucmax.exceptions import ModelFileError
from aucmax.persistence.model_file import _pack, _unpack
from aucmax.persistence.registry import (
    REGISTRY,
    find_class,
    public_name,
    saved_fields,
)
from aucmax.tables._columns import Date, as_plain, check_plain
from every_model import MODELS, fitted, scores
from persistence.forgery import (
    ODD,
    compact,
    file_of,
    forge,
    forge_state,
    places,
    toy_state,
    unpack_with,
)
from torture.amount import times

N_TRIALS = times(25, 60)


def forge_values(name, members, class_name, rng):
    """Put an odd value somewhere, or one array in the place of another."""
    tree = json.loads(members["state.json"])
    container, key = rng.choice(list(places(tree["estimator"]["state"])))
    container[key] = rng.choice(ODD)
    members = {**members, "state.json": compact(tree)}
    if rng.random() < 0.3:
        arrays = [member for member in members if member.endswith(".npy")]
        if arrays:
            members[rng.choice(arrays)] = members[rng.choice(arrays)]
    return forge(members, **{"class": class_name})


def test_every_class_that_can_be_saved_declares_its_state_and_has_a_sample():
    names = {*REGISTRY} - {"Toy", "Checked"}
    assert all(saved_fields(find_class(name)) for name in names)
    with_parts = {type(fitted(name)).__name__ for name in MODELS}
    elsewhere = {"Certificate", "MarginCurve"}
    assert with_parts | elsewhere == names


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_scores_alike(name):
    model = fitted(name)
    again = _unpack(_pack(model, public_name(type(model))))
    assert (scores(name, again) == scores(name, model)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::aucmax.exceptions.UnknownCategoriesWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_forged_file_is_rejected_or_scores(name):
    members, class_name = file_of(fitted(name))
    rng, expected = random.Random(name), scores(name, fitted(name))
    rejected = 0
    for _ in range(N_TRIALS):
        try:
            model = _unpack(forge_values(name, members, class_name, rng))
        except ModelFileError:
            rejected += 1
            continue
        forged_scores = scores(name, model)
        assert forged_scores.shape == expected.shape
        assert forged_scores.dtype == np.float64
    assert rejected > N_TRIALS // 6


@pytest.mark.parametrize("word", ["has_missing", "has_other"])
def test_a_number_in_a_file_takes_no_memory(word):
    members, class_name = file_of(fitted("table_encoder"))
    state = members["state.json"]
    assert f'["{word}",false]'.encode() in state
    state = state.replace(f'["{word}",false]'.encode(), f'["{word}",{10**8}]'.encode())
    tracemalloc.start()
    with pytest.raises(ModelFileError, match=word):
        unpack_with(members, class_name, state)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_a_number_in_a_part_of_a_date_takes_no_memory():
    strings = pl.DataFrame(
        {"day": ["2024-01-31", "2024-02-29"], "to": ["2024-03-01"] * 2}
    )
    dates = strings.select(pl.all().str.to_datetime(time_unit="us"))
    columns = {name: dates[name] for name in dates.columns}
    plain = as_plain(Date.learn("day", columns, ["to"], False))
    check_plain(plain)
    for since in (["to", "to"], [1], {"to": None}):
        with pytest.raises(ValueError, match="since of column 'day'"):
            check_plain({**plain, "since": since})
    plain["parts"]["month"]["has_missing"] = 10**9
    with pytest.raises(ValueError, match="has_missing of column 'day:month'"):
        check_plain(plain)


def test_an_attribute_that_no_fit_leaves_is_rejected():
    members, class_name = file_of(fitted("auc_svc"))
    tree = json.loads(members["state.json"])
    tree["estimator"]["state"]["surprise_"] = 1
    with pytest.raises(ModelFileError, match="unknown fitted attribute 'surprise_'"):
        unpack_with(members, class_name, tree)
    del tree["estimator"]["state"]["surprise_"], tree["estimator"]["state"]["classes_"]
    with pytest.raises(ModelFileError, match="no attribute 'classes_'"):
        unpack_with(members, class_name, tree)


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("table_encoder", b'["name","size"]', b'["name","x"]', "names of columns"),
        ("auto_ranker", b'"items":["size",', b'"items":["x",', "other columns"),
    ],
)
def test_parts_that_learnt_from_other_columns_are_rejected(name, old, new, problem):
    members, class_name = file_of(fitted(name))
    assert old in members["state.json"]
    state = members["state.json"].replace(old, new, 1)
    with pytest.raises(ModelFileError, match=problem):
        unpack_with(members, class_name, state)


@pytest.mark.slow
@pytest.mark.parametrize("value", [b"[],", b'"",', b"0,", b'{"tuple":[]},'])
def test_many_small_values_are_rejected_at_once(value):
    many = b"[" + value * (2**24 // len(value)) + b"0]"
    state = compact(toy_state(state={"a_": 0})).replace(b'"a_":0', b'"a_":' + many)
    file, begun = forge_state(state), time.process_time()
    with pytest.raises(ModelFileError, match="quotes, commas and brackets"):
        _unpack(file)
    assert time.process_time() - begun < 2.0
