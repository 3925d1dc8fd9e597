import numpy as np
import polars as pl
import pytest
from scipy import sparse

from aucmax import AutoRanker
from aucmax.exceptions import ColumnsWarning
from aucmax.model_selection.input_table import read_rows, read_table
from aucmax.tables import encode_target

X = np.arange(12.0).reshape(6, 2)
Y = [0, 1, 0, 1, 0, 1]


def test_frames_keep_texts_and_remember_names():
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    model = AutoRanker()
    assert read_table(model, frame, fitting=True) is frame
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.warns(ColumnsWarning, match="1 column that .* is ignored: 'c'"):
        read_table(model, frame.rename({"b": "c"}), fitting=False)


def test_arrays_may_have_gaps_but_no_infinity():
    table = X.copy()
    table[1, 1] = np.nan
    assert read_table(AutoRanker(), table, fitting=True).shape == (6, 2)
    table[2, 0] = np.inf
    with pytest.raises(ValueError, match="infinity in row 2, column 0"):
        read_table(AutoRanker(), table, fitting=True)


def test_other_kinds_of_tables():
    assert sparse.issparse(read_table(AutoRanker(), sparse.csc_array(X), fitting=True))
    with pytest.raises(TypeError, match=r"call collect\(\) first"):
        read_table(AutoRanker(), pl.LazyFrame(X), fitting=True)
    with pytest.raises(ValueError, match="at least one row and one column"):
        read_table(AutoRanker(), pl.DataFrame({"a": []}), fitting=True)


def test_rows_without_weight_are_left_out():
    table, target, _ = read_rows(
        AutoRanker(),
        X,
        Y,
        [1, 2, 0, 3, 4, 5],
        qid=list("aabbcc"),
        groups=[1, 1, 1, 2, 2, 2],
        times=["2024-01-01"] * 5 + ["2024-02-01"],
    )
    assert target.labels.size == table.shape[0] == 5
    assert target.weights.tolist() == [1, 2, 3, 4, 5]
    assert target.queries.tolist() == [0, 0, 1, 2, 2]
    assert target.groups.tolist() == [0, 0, 1, 1, 1]
    assert target.times[-1] > target.times[0]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"times": [1, 2]}, "times has 2 rows, but the target has 6"),
        (
            {"times": ["soon"] * 6},
            "must be a number or a date such as .* in every row, but row 0",
        ),
        ({"groups": [1, 2]}, "groups"),
        ({"qid": [1, 2]}, "qid"),
    ],
)
def test_weights_queries_groups_and_times_must_fit_the_rows(extra, message):
    with pytest.raises(ValueError, match=message):
        read_rows(AutoRanker(), X, Y, **extra)


def test_an_encoded_target_has_its_own_queries():
    with pytest.raises(ValueError, match="leave out sample_weight, qid, groups and"):
        read_rows(AutoRanker(), X, encode_target(Y), qid=[1] * 6)
