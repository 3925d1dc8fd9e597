import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax.exceptions import ColumnsWarning, ModelFileError
from aucmax.tables import TableEncoder, encode_target
from aucmax.tables.cross_fit import FoldedTable

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*left out:aucmax.exceptions.ColumnsWarning"
)

ROWS = 40


def patients() -> pl.DataFrame:
    """A table with every kind of column, gaps included."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": [None if i % 7 == 0 else float(20 + i) for i in range(ROWS)],
            "sex": [None if i % 9 == 0 else "FM"[i % 2] for i in range(ROWS)],
            "visit": [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(ROWS)],
            "dose": (10.0 ** rng.uniform(-150, 150, ROWS)).tolist(),
            "smoker": [i % 3 == 0 for i in range(ROWS)],
            "name": [f"patient number {i}" for i in range(ROWS)],
            "site": ["north"] * ROWS,
            "comment": [None] * ROWS,
        },
        schema_overrides={"comment": pl.String},
    )


def linear(table, **settings) -> dict[str, np.ndarray]:
    """Fit, transform, and name the columns."""
    encoder = TableEncoder(**settings).fit(table)
    matrix = encoder.transform(table)
    return dict(zip(encoder.get_feature_names_out(), matrix.T, strict=True))


def test_every_kind_of_column_is_recognised():
    encoder = TableEncoder().fit(patients())
    kinds = {column["name"]: column["kind"] for column in encoder.columns_}
    assert kinds == {
        "age": "number",
        "sex": "category",
        "visit": "date",
        "dose": "number",
        "smoker": "category",
    }
    assert set(encoder.dropped_) == {"name", "site", "comment"}
    assert "names or keys" in encoder.dropped_["name"]
    assert "'north' in every row" in encoder.dropped_["site"]
    assert "empty" in encoder.dropped_["comment"]


def test_numbers_are_standardised_and_gaps_take_the_median_with_an_indicator():
    columns = linear(pl.DataFrame({"age": [10.0, 20.0, 30.0, 40.0, None]}))
    assert list(columns) == ["age", "age=(missing)"]
    assert columns["age=(missing)"].tolist() == [0, 0, 0, 0, 1]
    ages = columns["age"][:4]
    assert ages.mean() == pytest.approx(0)
    assert ages.std() == pytest.approx(1)
    assert columns["age"][4] == pytest.approx((ages[1] + ages[2]) / 2)


def test_an_integer_column_with_a_gap_and_one_value_is_only_its_indicator():
    columns = linear(pl.DataFrame({"flag": [1, None, 1, 1]}))
    assert list(columns) == ["flag=(missing)"]
    assert columns["flag=(missing)"].tolist() == [0, 1, 0, 0]


def test_a_category_has_one_indicator_a_word_and_one_for_gaps():
    columns = linear(pl.DataFrame({"sex": ["F", "M", "F", None, "M", ""]}))
    assert list(columns) == ["sex=F", "sex=M", "sex=(missing)"]
    assert columns["sex=F"].tolist() == [1, 0, 1, 0, 0, 0]
    assert columns["sex=(missing)"].tolist() == [0, 0, 0, 1, 0, 1]


def test_an_unseen_category_has_no_indicator_when_training_had_no_rare_words():
    encoder = TableEncoder().fit(pl.DataFrame({"sex": ["F", "M", "F", "M"]}))
    new = pl.DataFrame({"sex": ["X", None]})
    with pytest.warns(
        UserWarning, match="'sex': 1 of 1 filled cells are none of the 2"
    ):
        assert encoder.transform(new).tolist() == [[0, 0]] * 2


def test_rare_and_unseen_categories_share_one_indicator():
    table = pl.DataFrame({"town": ["a"] * 9 + ["b"] * 8 + ["c"] * 7 + ["d", "e"]})
    encoder = TableEncoder(max_categories=2).fit(table)
    names = ["town=a", "town=b", "town=(other)"]
    assert list(encoder.get_feature_names_out()) == names
    # over a third of training is other: two of three such cells cause no warning
    new = encoder.transform(pl.DataFrame({"town": ["b", "c", "never seen"]}))
    assert new.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert "2 most frequent" in encoder.notices_[0]
    twice = encoder.fit(table.with_columns(again=table.to_series()))
    assert "2 columns have rare categories" in twice.notices_[0]
    assert len(twice.notices_) == 1


def test_dates_give_month_weekday_and_on_request_days():
    table = pl.DataFrame({"day": ["2024-01-01", "2024-01-02", "2024-02-05"]})
    columns = linear(table, absolute_dates=True)
    assert columns.keys() - linear(table).keys() == {"day:days"}
    for is_absolute, note in ((None, "not as numbers"), (True, "as numbers, which")):
        encoder = TableEncoder(absolute_dates=is_absolute).fit(table)
        assert note in encoder.notices_[0]
    assert columns["day:month=1"].tolist() == [1, 1, 0]
    assert columns["day:weekday=1"].tolist() == [1, 0, 1]
    days = columns["day:days"]
    assert (days[2] - days[0]) / (days[1] - days[0]) > 1
    assert not any("hour" in name for name in columns)


@pytest.mark.parametrize(
    "dates",
    [
        ["2024-01-31", "2024-02-28", "2025-03-05"],
        ["2024/01/31", "2024/02/28", "2025/03/05"],
        ["2024-01-31T00:00:00Z", "2024-02-28T00:00:00Z", "2025-03-05 00:00"],
        ["2024-01-31 02:00:00+02:00", "2024-02-28", "2025-03-05T00:00"],
        [date(2024, 1, 31), date(2024, 2, 28), date(2025, 3, 5)],
    ],
    ids=lambda dates: str(dates[0]),
)  # fmt: skip
def test_all_spellings_of_a_date_mean_the_same(dates):
    reference = TableEncoder().fit(
        pl.DataFrame({"day": ["2024-01-31", "2024-02-28", "2025-03-05"]})
    )
    assert (
        TableEncoder().fit(pl.DataFrame({"day": dates})).columns_[0]["parts"]
        == (reference.columns_[0]["parts"])
    )


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([1, 2, None, 4], dtype=pl.Int8),
        pl.Series([1, 2, None, 4], dtype=pl.UInt64),
        pl.Series([1, 2, None, 4], dtype=pl.Float32),
        pl.Series(["1", "2", None, "4"]).cast(pl.Decimal(10, 2)),
        pl.Series([1, 2, None, 4]).cast(pl.Duration("ms")),
        pl.Series([1, 2, None, 4]).cast(pl.Time),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_every_type_of_number_is_a_number(cells):
    columns = linear(pl.DataFrame({"x": cells}))
    expected = linear(pl.DataFrame({"x": [1.0, 2.0, None, 4.0]}))
    assert list(columns) == list(expected)
    np.testing.assert_allclose(columns["x"], expected["x"])


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Null, pl.String])
def test_a_column_of_numbers_may_be_empty_later_whatever_its_type(dtype):
    encoder = TableEncoder().fit(pl.DataFrame({"x": [1.0, 2.0, None]}))
    empty = pl.DataFrame({"x": pl.Series([None, None], dtype=dtype)})
    assert encoder.transform(empty)[:, 1].tolist() == [1, 1]


def test_times_of_day_are_a_feature_and_time_zones_are_settled():
    columns = linear(
        pl.DataFrame({"at": ["2024-01-01T06:00:00Z", "2024-01-01T14:00:00+02:00"]}),
        absolute_dates=True,
    )
    hours = columns["at:hour"]
    assert hours[1] > hours[0]
    assert columns["at:days"][1] > columns["at:days"][0]


def test_a_missing_column_is_named_with_what_may_have_been_meant():
    encoder = TableEncoder().fit(patients())
    with pytest.raises(ValueError, match=r"missing column 'age'.*mean 'Age'"):
        encoder.transform(patients().rename({"age": "Age"}))


def test_a_few_stray_words_in_a_column_of_numbers_count_as_gaps():
    cells = [str(i) for i in range(30)]
    encoder = TableEncoder().fit(pl.DataFrame({"dose": [*cells, "n.d."]}))
    assert encoder.columns_[0]["kind"] == "number"
    assert "row 31 has 'n.d.'" in encoder.notices_[0]
    with pytest.warns(UserWarning, match=r"'dose'.*row 2 has 'oops'"):
        matrix = encoder.transform(pl.DataFrame({"dose": ["1", "oops", *cells]}))
    assert matrix[1, 1] == 1


@pytest.mark.parametrize(("n_strays", "kind"), [(900, "number"), (1100, "category")])
def test_a_tenth_of_stray_words_in_a_long_column_is_the_limit(n_strays, kind):
    cells = [str(i % 50) for i in range(10_000)]
    for i in range(n_strays):
        cells[i * 9] = "low"
    encoder = TableEncoder().fit(pl.DataFrame({"dose": cells}))
    assert encoder.columns_[0]["kind"] == kind


def test_many_stray_words_are_an_error_with_column_and_row():
    encoder = TableEncoder().fit(pl.DataFrame({"dose": [1.0, 2.0, 3.0]}))
    with pytest.raises(ValueError, match=r"'dose' holds numbers, but row 2 has 'high'"):
        encoder.transform(pl.DataFrame({"dose": ["1", "high"]}))


@pytest.mark.parametrize("cell", [np.inf, -np.inf])
def test_infinite_numbers_are_an_error_with_column_and_row(cell):
    with pytest.raises(ValueError, match=r"column 'dose', row 2: -?inf"):
        TableEncoder().fit(pl.DataFrame({"dose": [1.0, cell, 3.0]}))
    encoder = TableEncoder().fit(pl.DataFrame({"dose": [1.0, 2.0, 3.0]}))
    with pytest.raises(ValueError, match=r"column 'dose', row 1: -?inf"):
        encoder.transform(pl.DataFrame({"dose": [cell]}))


def test_missing_words_and_nan_are_gaps_in_a_column_of_numbers():
    columns = linear(pl.DataFrame({"dose": ["1", "?", "2", "NA", "3", "nan", " 4 "]}))
    assert columns["dose=(missing)"].tolist() == [0, 1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["$1,200.50", "-$3", "$12"], "numbers with a currency sign"),
        (["1,200.50 €", "-3 €", "+12 €"], "numbers with a currency sign"),
        (["1200.5%", "-3%", "12%"], "percent sign"),
        (["1.200,50", "-3", "12,0"], "decimal commas"),
        (["31.01.2024", "28.02.2024", "05.03.2025"], "dates that are not written year"),
        (["01/31/2024", "2/8/24", "03/05/2025"], "dates that are not written year"),
        (["31-Jan-2024", "28-Feb-2024", "05-Mar-2025"], "dates that are not written"),
    ],
)
def test_numbers_and_dates_of_other_forms_are_text_with_a_warning(cells, said):
    table = pl.DataFrame({"x": cells * 3})
    encoder = TableEncoder()
    with pytest.warns(ColumnsWarning, match=f"column 'x' has .*{said}.*is text"):
        encoder.fit(table)
    assert encoder.columns_[0]["kind"] == "category"
    with pytest.warns(ColumnsWarning, match="2 columns look like .* each is text"):
        encoder.fit(table.with_columns(y=pl.col("x")))


@pytest.mark.parametrize("cells", [["1,2,3", "4,5,6"], ["12-7", "13-8"], ["$", "%"]])
def test_strings_that_only_resemble_numbers_are_categories(cells):
    encoder = TableEncoder(min_frequency=1).fit(pl.DataFrame({"x": cells}))
    assert encoder.columns_[0]["kind"] == "category"


def test_a_row_counter_is_left_out_but_a_counting_feature_is_not():
    counting = list(range(50))
    encoder = TableEncoder().fit(pl.DataFrame({"id": counting, "depth": counting}))
    assert [column["name"] for column in encoder.columns_] == ["depth"]
    assert encoder.dropped_ == {"id": "it only counts the rows"}


def test_a_table_without_any_usable_column_is_an_error_with_reasons():
    with pytest.raises(
        ValueError, match=r"no column can be used: 'a': it is 1 in every"
    ):
        TableEncoder().fit(pl.DataFrame({"a": [1, 1], "b": [None, None]}))


@pytest.mark.parametrize("table", [pl.DataFrame(), pl.DataFrame({"a": []})])
def test_an_empty_table_is_an_error(table):
    with pytest.raises(ValueError, match="it needs at least one of each"):
        TableEncoder().fit(table)


def test_nested_cells_are_left_out_at_training_and_refused_later():
    nested = pl.DataFrame({"a": [[1], [2]], "b": [1, 2]})
    encoder = TableEncoder().fit(nested)
    assert "List" in encoder.dropped_["a"]
    with pytest.raises(ValueError, match="column 'b' holds List"):
        encoder.transform(nested.rename({"a": "b", "b": "a"}))


@pytest.mark.parametrize("name", ["max_categories", "min_frequency"])
def test_settings_below_one_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1"):
        TableEncoder(**{name: 0}).fit(patients())


def test_pandas_categories_nullable_numbers_and_moments_work():
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(["a", "b", None, "a", "b"]),
            "count": pd.array([1, None, 3, 4, 5], dtype="Int64"),
            "at": pd.to_datetime(
                ["2024-01-01", "2024-02-01", None, "2024-04-01", None]
            ),
        }
    )
    encoder = TableEncoder().fit(frame)
    kinds = [column["kind"] for column in encoder.columns_]
    assert kinds == ["category", "number", "date"]
    assert np.isfinite(encoder.transform(frame)).all()


def test_arrays_get_default_names_and_vectors_are_rejected():
    array = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 7.0]])
    encoder = TableEncoder().fit(array)
    assert list(encoder.get_feature_names_out()) == ["x0", "x1", "x1=(missing)"]
    with pytest.raises(ValueError, match="rows and columns"):
        TableEncoder().fit([1.0, 2.0])


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.none() | finite, min_size=2, max_size=30), st.lists(finite))
def test_no_finite_table_gives_an_infinity_or_nan(train, new):
    table = pl.DataFrame(
        {"x": train, "z": range(len(train))}, schema_overrides={"x": pl.Float64}
    )
    encoder = TableEncoder().fit(table)
    rows = pl.DataFrame(
        {"x": new, "z": [0] * len(new)}, schema_overrides={"x": pl.Float64}
    )
    for frame in (table, rows):
        assert np.isfinite(encoder.transform(frame)).all()
        assert not np.isinf(encoder.matrix(frame, "trees")).any()


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=30), st.integers(-200, 200))
def test_the_unit_of_a_column_does_not_matter(values, exponent):
    table = pl.DataFrame({"x": values, "z": range(len(values))})
    # a power of two, so that the product is exact unless it is subnormal
    scaled = table.with_columns(x=np.ldexp(np.array(values), exponent))
    if np.abs(values)[np.abs(values) > 0].min(initial=1) < 1e-100:
        return
    np.testing.assert_allclose(
        TableEncoder().fit_transform(scaled), TableEncoder().fit_transform(table)
    )


@given(st.lists(finite, min_size=2, max_size=30, unique=True))
def test_scaling_keeps_the_order_of_numbers(values):
    ordered = sorted(values)
    table = pl.DataFrame({"x": ordered})
    for matrix in (
        TableEncoder().fit_transform(table),
        TableEncoder().fit(table).matrix(table, "trees"),
    ):
        assert (np.diff(matrix[:, 0]) >= 0).all()


def test_trees_see_gaps_as_nan_and_categories_as_codes():
    encoder = TableEncoder().fit(patients())
    matrix = encoder.matrix(patients(), "trees")
    names = [part.name for part in encoder._parts()]
    assert [names[i] for i in encoder.categorical_features_] == [
        "sex", "visit:month", "visit:weekday", "smoker",
    ]  # fmt: skip
    sex = matrix[:, names.index("sex")]
    assert np.isnan(sex[::9]).all()
    assert set(sex[~np.isnan(sex)]) == {0.0, 1.0}
    assert np.isnan(matrix[::7, names.index("age")]).all()


def test_many_categories_give_a_sparse_matrix_with_the_same_numbers():
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {f"c{j}": [f"w{w}" for w in rng.integers(0, 60, 3000)] for j in range(3)}
        | {"x": rng.normal(size=3000)}
    )
    encoder = TableEncoder().fit(table)
    matrix = encoder.transform(table)
    assert sparse.issparse(matrix)
    names = list(encoder.get_feature_names_out())
    assert matrix.shape == (3000, len(names))
    dense = matrix.toarray()
    word = encoder.columns_[0]["categories"][3]
    np.testing.assert_array_equal(
        dense[:, names.index(f"c0={word}")], (table["c0"] == word).to_numpy()
    )
    assert dense[:, -1].std() == pytest.approx(1)


def test_sparse_matrices_stay_sparse_and_scale_like_their_dense_copy():
    dense = np.array([[0, 2.0, 0], [1e150, 0, 0], [2e150, 4.0, 0], [0, 6.0, 0]])
    encoder = TableEncoder().fit(sparse.csc_matrix(dense))
    scaled = encoder.transform(sparse.csr_array(dense)).toarray()
    assert ((scaled == 0) == (dense == 0)).all()
    assert scaled[2, 0] == pytest.approx(2 * scaled[1, 0])
    for j in (0, 1):
        filled = scaled[dense[:, j] != 0, j]
        assert np.mean(filled**2) == pytest.approx(1)
    trees = encoder.matrix(sparse.csr_array(dense), "trees").toarray()
    assert 0.5 <= trees[1, 0] <= 4
    assert trees[2, 0] == 2 * trees[1, 0]


def test_new_sparse_rows_may_have_fewer_or_more_features():
    encoder = TableEncoder().fit(sparse.eye_array(4, format="csr"))
    assert encoder.transform(sparse.csr_array((2, 3))).shape == (2, 4)
    assert encoder.transform(sparse.csr_array((2, 9))).shape == (2, 4)


def test_unusable_numbers_in_a_sparse_matrix_are_located():
    matrix = sparse.csr_array(np.array([[1.0, 0, 2], [0, np.nan, 1]]))
    with pytest.raises(ValueError, match="row 2, feature 2: nan"):
        TableEncoder().fit(matrix)


def test_tables_and_sparse_matrices_do_not_mix():
    table, matrix = patients(), sparse.eye_array(4, format="csr")
    with pytest.raises(ValueError, match="named columns, got a sparse matrix"):
        TableEncoder().fit(table).transform(matrix)
    with pytest.raises(ValueError, match="sparse matrix, got a table"):
        TableEncoder().fit(matrix).transform(table)


def test_fitting_again_forgets_the_first_table():
    encoder = TableEncoder().fit(patients())
    encoder.fit(pl.DataFrame({"a": [1, 2]}))
    assert list(encoder.get_feature_names_out()) == ["a"]
    encoder.fit(sparse.eye_array(3, format="csr"))
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.columns_ == []


@pytest.mark.parametrize(
    "damage",
    [
        {"columns_": [{"kind": "number", "name": "x"}]},
        {"columns_": [{"kind": "picture", "name": "x"}]},
        {"columns_": []},
        {"columns_": "age"},
        {"categorical_features_": [99]},
        {"categorical_features_": ["age"]},
        {"scales_": {"half_spread": np.ones(2), "size": np.ones(3)}},
        {"scales_": {}},
    ],
    ids=str,
)
def test_a_damaged_state_is_refused(damage):
    encoder = TableEncoder().fit(patients())
    encoder._check_state()
    vars(encoder).update(damage)
    with pytest.raises(ModelFileError, match="damaged"):
        encoder._check_state()


def test_transforming_clean_rows_warns_of_nothing():
    encoder = TableEncoder().fit(patients())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(patients())


def test_codes_that_look_like_numbers_are_the_same_category_when_kept_as_text():
    encoder = TableEncoder().fit(pl.DataFrame({"ward": ["007", "007", "x", "x"]}))
    assert encoder.transform(pl.DataFrame({"ward": ["007"]})).tolist() == [[1, 0]]


@given(st.lists(st.floats(-1e100, 1e100), min_size=4, max_size=30), st.booleans())
def test_raw_values_are_those_of_the_table(values, has_gaps):
    cells = values + [None] * has_gaps
    words = ["a", "b", *["a"] * (len(cells) - 3), "b"]
    table = pl.DataFrame({"x": cells, "w": words})
    encoder = TableEncoder().fit(table)
    names = list(encoder.get_feature_names_out())
    matrix = np.asarray(encoder.transform(table))
    for k, name in enumerate(names):
        back = [encoder.raw_value(k, value) for value in matrix[: len(values), k]]
        if name == "x":
            spread = np.ptp(np.asarray(values) / 2)
            np.testing.assert_allclose(back, values, rtol=1e-9, atol=1e-9 * spread)
        else:
            assert back == matrix[: len(values), k].tolist()


def test_raw_values_of_sparse_rows_are_those_of_the_matrix():
    rows = sparse.random_array((50, 6), density=0.5, rng=np.random.default_rng(0))
    rows.data **= -3  # far values, too
    encoder = TableEncoder().fit(rows.tocsr())
    matrix = encoder.transform(rows.tocsr()).toarray()
    back = [[encoder.raw_value(k, one) for k, one in enumerate(row)] for row in matrix]
    np.testing.assert_allclose(back, rows.toarray(), rtol=1e-9)


# ------------------------------------------------- what no column can be read as


def rows(**columns):
    return {"age": [float(k % 7) for k in range(30)], **columns}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(rows(wave=pd.Series([1j] * 30, dtype=object))),
        pl.DataFrame(rows(wave=pl.Series([1j] * 30, dtype=pl.Object))),
    ],
    ids=["pandas", "polars"],
)
def test_complex_columns_are_refused_by_name(frame):
    with pytest.raises(ValueError, match="column 'wave' holds complex numbers"):
        TableEncoder().fit(frame)


def test_a_duration_is_no_number_and_a_number_no_duration():
    hours = pd.to_timedelta(np.arange(30), unit="h")
    numbers = TableEncoder().fit(pd.DataFrame(rows(wait=np.arange(30) % 11)))
    durations = TableEncoder().fit(pd.DataFrame(rows(wait=hours)))
    for encoder, wrong in ((numbers, hours), (durations, np.arange(30))):
        with pytest.raises(ValueError, match=r"column 'wait' held .* in training"):
            encoder.transform(pd.DataFrame(rows(wait=wrong)))
    assert np.isfinite(durations.transform(pd.DataFrame(rows(wait=hours)))).all()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_and_durations_of_pandas_are_read_in_every_unit(unit):
    whole = {"since": np.arange(30).astype("M8[D]"), "wait": np.arange(30) * 3600}
    frame = pl.DataFrame(whole).with_columns(pl.duration(seconds="wait").alias("wait"))
    since = pd.Series(whole["since"].astype(f"M8[{unit}]"))
    wait = pd.Series(whole["wait"].astype("m8[s]").astype(f"m8[{unit}]"))
    wait[3] = pd.NaT
    frame[3, "wait"] = None
    encoder = TableEncoder().fit(frame)
    matrix = encoder.transform(pd.DataFrame({"since": since, "wait": wait}))
    assert_allclose(matrix, encoder.transform(frame), atol=1e-14)


def test_repeated_names_are_refused():
    frame = pd.DataFrame(np.eye(4), columns=["a", "b", "b", "c"])
    with pytest.raises(ValueError, match="2 columns called 'b'; rename"):
        TableEncoder().fit(frame)


def test_integers_of_128_bits_are_numbers_if_they_fit_and_text_otherwise():
    for first, kind in ((0, "number"), (2**70, "category")):
        wide = pl.Series([first + k % 5 for k in range(30)], dtype=pl.Int128)
        encoder = TableEncoder().fit(pl.DataFrame(rows(account=wide)))
        assert encoder.columns_[1]["kind"] == kind


@pytest.mark.filterwarnings("ignore:column 'code'. 8 of 8 filled cells")
def test_the_type_of_a_column_is_decided_once_for_all_folds():
    codes = ["10", "20", "007", "30"] * 8 + ["A1", "B2"] * 4
    table = pl.DataFrame({"code": codes, "x": np.arange(40) % 7})
    labels = np.arange(40) % 2
    first, last = np.arange(32), np.arange(32, 40)  # of which only the last have words
    folds = [(first, last), (np.arange(8, 40), np.arange(8))]
    folded = FoldedTable(table, encode_target(labels), folds)
    for fold, (train, test) in enumerate(folds):
        encoder = folded.encoder(fold)
        assert [column["kind"] for column in encoder.columns_] == ["category", "number"]
        for view in ("linear", "trees"):
            learned, new = folded.matrices(view, fold)
            assert_allclose(learned, encoder.matrix(table[train], view))
            assert_allclose(new, encoder.matrix(table[test], view))


def test_test_rows_of_their_own_do_not_decide_the_type_of_a_column():
    table = pl.DataFrame({"dose": ["1", "2", "3", "4", "low", "high"]})
    folds = [(np.arange(4), np.arange(4, 6))]
    folded = FoldedTable(table, encode_target([0, 1, 0, 1, 0, 1]), folds)
    assert folded.encoder(0).columns_[0]["kind"] == "number"
    with pytest.raises(ValueError, match="'dose' holds numbers, but row 1 has 'low'"):
        folded.matrices("linear", 0)
