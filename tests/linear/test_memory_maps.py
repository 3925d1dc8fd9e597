"""Linear models of rows on disk, none of which is copied as a whole."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from aucmax import AUCSVC, LinearRankerCV
from aucmax._core import mapped as _mapped
from aucmax._core.eval_set import LabelledRows
from aucmax._core.mapped import is_mapped, write_map
from aucmax.linear.linear_ranker_cv import _standardized

ROWS = 500


def as_map(X):
    return write_map([X], X.shape[1], float)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_mapped, "_CELLS_AT_ONCE", 100)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4)) * [1, 20, 1, 0.1] + [0, 5, 0, 0]
    X[:, 2] = rng.random(ROWS) < 0.02
    y = (X[:, 0] + X[:, 1] / 20 + rng.normal(size=ROWS) > 1).astype(int)
    return X, y


@pytest.fixture
def mapped(data):
    return as_map(data[0])


def test_columns_are_brought_to_one_scale_on_disk(data, mapped):
    X, _ = data
    weight = np.random.default_rng(1).random(ROWS)
    scaled, centre, scale = _standardized(mapped, weight)
    assert is_mapped(scaled)
    mean = np.average(X, axis=0, weights=weight)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    spread[((X == 0.0) | (X == 1.0)).all(axis=0)] = 1.0
    expected = (X - mean) / spread, mean, spread
    for found, known in zip((scaled, centre, scale), expected, strict=True):
        np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-12)
    assert scale[2] == 1.0


def test_folds_are_taken_on_disk(data, mapped):
    part = LabelledRows(mapped, data[1] > 0, None, None).part(np.arange(0, ROWS, 3))
    assert is_mapped(part.X)
    np.testing.assert_array_equal(part.X, data[0][::3])


CV = {"C_values": (1.0,), "cv": StratifiedKFold(2)}


@pytest.mark.parametrize(
    "model", [AUCSVC(), LinearRankerCV(**CV), LinearRankerCV(standardize=False, **CV)]
)
def test_the_weights_are_those_of_rows_in_memory(data, mapped, model):
    X, y = data
    expected = model.fit(X, y).coef_
    np.testing.assert_allclose(model.fit(mapped, y).coef_, expected, rtol=1e-9)


def test_a_missing_value_is_rejected_with_its_place(data):
    X, y = data
    X[7, 1] = np.nan
    for model in (AUCSVC(), LinearRankerCV()):
        with pytest.raises(ValueError, match="NaN in row 7, column 1"):
            model.fit(as_map(X), y)
