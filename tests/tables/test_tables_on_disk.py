"""Rows that stay on disk give the model that they give in memory."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from aucmax import AutoRanker
from aucmax._core.mapped import is_mapped
from aucmax.datasets import on_disk, open_table
from aucmax.exceptions import IncompatibleError
from aucmax.model_selection import table_model
from aucmax.model_selection.cross_validation import find_notices
from aucmax.tables import TableEncoder, TableModel, encode_target

ROWS = 900


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(on_disk, "_MAX_CELLS", 1)
    monkeypatch.setattr(on_disk, "_MIN_ROWS", 130)


@pytest.fixture(scope="module")
def frame():
    """Gaps, categories, many kinds of words, dates, and numbers with strays."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 3))
    written = np.round(x[:, 2], 3).astype(str)
    written[-40:] = "what"  # all of them in the last piece
    return pl.DataFrame(
        {
            "a": x[:, 0],
            "b": np.where(x[:, 1] > 1, np.nan, x[:, 1]),
            "written": written,
            "ward": rng.choice(["north", "south", "east"], ROWS),
            "street": np.char.add("s", rng.integers(0, 150, ROWS).astype(str)),
            "day": pl.Series(rng.integers(0, 900, ROWS)).cast(pl.Date),
            "y": (x[:, 0] + x[:, 1] ** 2 + rng.normal(size=ROWS) > 2).astype(int),
        }
    ).with_columns(pl.col("b").fill_nan(None))


@pytest.fixture
def table(tmp_path, frame):
    for k in range(3):
        frame[300 * k : 300 * k + 300].write_parquet(tmp_path / f"{k}.parquet")
    return open_table(tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:column 'written' holds numbers")
@pytest.mark.parametrize("name", ["lambdamart", "linear", "svm-auc", "lightgbm"])
def test_the_model_is_the_same_bit_for_bit(frame, table, name):
    settings = {"n_estimators": 20} if name == "lambdamart" else {}
    rows, y = frame.drop("y"), frame["y"]
    expected = table_model(name, parameters=settings).fit(rows, y)
    model = table_model(name, parameters=settings).fit(table.drop(["y"]), table["y"])
    assert model.encoder_.columns_ == expected.encoder_.columns_
    assert model.encoder_.notices_ == expected.encoder_.notices_
    assert model.threshold_ == expected.threshold_
    scores = expected.decision_function(rows)
    np.testing.assert_array_equal(model.decision_function(rows), scores)
    features = table.drop(["y"])
    by_pieces = model.decision_function(features)
    np.testing.assert_allclose(by_pieces, scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(features), expected.predict(rows))
    np.testing.assert_array_equal(model.row_sketch_, expected.row_sketch_)
    assert model.share_of_known_rows(table, y) == 1.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:column 'written' holds numbers")
def test_probabilities_are_the_same_too(frame, table):
    rows = frame.drop("y")
    expected = TableModel(LogisticRegression(), calibrate="sigmoid")
    expected.fit(rows, frame["y"])
    model = TableModel(LogisticRegression(), calibrate="sigmoid")
    model.fit(table.drop(["y"]), table["y"])
    chances = expected.predict_proba(rows)
    np.testing.assert_allclose(
        model.predict_proba(table.drop(["y"])), chances, rtol=1e-12
    )


@pytest.mark.filterwarnings("ignore:column .written. holds numbers")
def test_matrices_stay_on_disk(frame, table):
    encoder = TableEncoder().fit(frame.drop("y"), frame["y"])
    for view in ("linear", "trees"):
        matrix = encoder.training_rows(table, frame["y"], view)
        expected = encoder.training_rows(frame, frame["y"], view)
        assert is_mapped(matrix)
        np.testing.assert_array_equal(matrix, expected)


def test_sparse_matrices_do_as_well(tmp_path):
    rng = np.random.default_rng(1)
    words = {f"w{j}": rng.choice(list("abcdefghijklmnop"), ROWS) for j in range(8)}
    frame = pl.DataFrame(words)
    frame.write_parquet(tmp_path / "a.parquet")
    encoder = TableEncoder().fit(frame)
    expected = encoder.transform(frame)
    assert sparse.issparse(expected)
    matrix = encoder.transform(open_table(tmp_path))
    assert is_mapped(matrix.data)
    assert is_mapped(matrix.indices)
    assert (matrix != expected).nnz == 0
    assert matrix.shape == expected.shape


def test_strays_are_counted_over_all_pieces(frame, table):
    encoder = TableEncoder().fit(frame.drop("y"))
    with pytest.warns(
        UserWarning, match="40 of its [0-9]+ filled cells treated as missing"
    ) as seen:
        encoder.transform_for_trees(table)
    assert len(seen) == 1
    few = table.filter(np.arange(ROWS) >= 600)
    with pytest.raises(ValueError, match="40 of its 300 filled cells are not"):
        encoder.transform_for_trees(few)


def test_an_error_names_the_file_and_where_rows_are_counted_from(tmp_path, frame):
    encoder = TableEncoder().fit(frame.select("a"))
    values = frame["a"].to_numpy().copy()
    values[200] = np.inf
    pl.DataFrame({"a": values}).write_parquet(tmp_path / "a.parquet")
    where = r"a\.parquet, rows counted from 131 on: column 'a', row 71: inf"
    with pytest.raises(ValueError, match=where):
        encoder.transform(open_table(tmp_path))
    with pytest.raises(ValueError, match="column 'a', row 201: inf"):
        TableEncoder().fit(open_table(tmp_path))


def test_what_needs_rows_in_memory_says_so(table):
    model = TableModel(AutoRanker(), view="raw")
    with pytest.raises(IncompatibleError, match="AutoRanker needs all rows in memory"):
        model.fit(table.drop(["y"]), table["y"])


def test_leaks_are_looked_for_among_some_rows(frame, table, tmp_path):
    target = encode_target(frame["y"])
    assert not find_notices(table.drop(["y"]), target)
    leaky = frame.with_columns(pay=pl.col("y") * 2.0 + pl.col("a") / 1e3)
    leaky.drop("y").write_parquet(tmp_path / "leak.parquet")
    found = find_notices(open_table(tmp_path / "leak.parquet"), target)
    assert [(notice.kind, notice.columns) for notice in found] == [("leak", ("pay",))]


def test_nothing_is_said_twice(frame, table):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        table_model("svm-auc").fit(table.drop(["y"]), table["y"])
    told = [str(one.message) for one in seen if "written" in str(one.message)]
    assert len(set(told)) <= 1
