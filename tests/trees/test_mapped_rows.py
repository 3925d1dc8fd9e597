"""Rows of a memory map reach LightGBM's bins as those in memory do."""

import numpy as np
import pytest

from aucmax import LambdaMART
from aucmax._core.mapped import write_map

ROWS = 600


def rows_of(seed: int, dtype: type = np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 5)).astype(dtype)
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=ROWS) > 1).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = rng.integers(0, 6, ROWS)
    return X, y


def mapped(X):
    return write_map([X], X.shape[1], X.dtype)


def test_rows_without_weight_and_held_out_rows_are_chosen_on_disk():
    X, y = rows_of(0)
    weight = np.random.default_rng(2).integers(0, 3, ROWS).astype(float)
    held_out = rows_of(1)
    expected = LambdaMART(n_estimators=15).fit(X, y, weight, eval_set=held_out)
    model = LambdaMART(n_estimators=15)
    model.fit(mapped(X), y, weight, eval_set=(mapped(held_out[0]), held_out[1]))
    assert model.model_text_ == expected.model_text_
    assert model.best_score_ == expected.best_score_


def test_infinity_is_rejected_with_its_place():
    X, y = rows_of(0)
    X[17, 3] = np.inf
    with pytest.raises(ValueError, match="infinity in row 17, column 3"):
        LambdaMART().fit(mapped(X), y)


def test_rows_of_a_memory_map_give_the_model_of_those_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    y = X[:, 0] + rng.normal(size=500) > 0
    on_disk = LambdaMART(n_estimators=3).fit(mapped, y)
    in_memory = LambdaMART(n_estimators=3).fit(X, y)
    scores = on_disk.decision_function(X)
    np.testing.assert_array_equal(in_memory.decision_function(X), scores)
