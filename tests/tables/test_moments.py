from datetime import date

import numpy as np
import polars as pl
import pytest

from aucmax.tables.target_encoding import read_moments


@pytest.mark.parametrize(
    "values",
    [
        [3.0, 1.0, 2.0],
        np.array([30, 10, 20]),
        ["2024-03-01", "2024-01-01", "2024-02-01"],
        [date(2024, 3, 1), date(2024, 1, 1), date(2024, 2, 1)],
        np.array(["2024-03", "2024-01", "2024-02"], dtype="M8[s]"),
        pl.Series([3, 1, 2]),
        ["3", "1", "2"],
    ],
)
def test_numbers_and_dates_are_put_in_order(values):
    assert np.argsort(read_moments(values)).tolist() == [1, 2, 0]


@pytest.mark.parametrize("values", [["2024-01-01", "soon"], [1.0, np.nan], [None, 2]])
def test_what_cannot_be_read_is_named(values):
    with pytest.raises(ValueError, match=r"when must be .* or a date .* row [01]"):
        read_moments(values, "when")
