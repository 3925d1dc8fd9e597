"""Columns of Python objects: the types of cells, not the first of them, decide."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aucmax.tables import TableEncoder
from aucmax.tables.frames import as_table

# a NumPy scalar, and the Python scalar that it equals
SCALARS = [
    (np.bool_(True), True),
    (np.int8(3), 3),
    (np.int16(300), 300),
    (np.int64(-7), -7),
    (np.uint8(200), 200),
    (np.uint64(2**64 - 1), 2**64 - 1),
    (np.float16(0.5), 0.5),
    (np.float32(1.25), 1.25),
    (np.float64(2.5), 2.5),
    (np.longdouble(4.5), 4.5),
    (np.str_("b"), "b"),
    (np.bytes_(b"x"), b"x"),
    (np.datetime64("2024-01-02", "D"), dt.datetime(2024, 1, 2)),
    (np.datetime64("2024-01-02T03", "ns"), dt.datetime(2024, 1, 2, 3)),
    (np.datetime64("NaT"), None),
    (np.timedelta64(90, "s"), dt.timedelta(seconds=90)),
    (np.timedelta64(5, "ns"), dt.timedelta(0)),
    (pd.Timestamp("2024-01-02 03:00"), dt.datetime(2024, 1, 2, 3)),
    (pd.Timedelta("90s"), dt.timedelta(seconds=90)),
    (pd.NaT, None),
    (pd.NA, None),
    (Decimal("1.5"), 1.5),
    (True, True),
    (2, 2),
    (2.75, 2.75),
    ("a", "a"),
    (b"y", b"y"),
    (dt.date(2024, 1, 2), dt.date(2024, 1, 2)),
    (dt.time(3), dt.time(3)),
    (None, None),
]
IDS = [f"{type(one).__module__}.{type(one).__name__}" for one, _ in SCALARS]
NUMBERS = bool, int, float


def cells_of(values, source):
    """Return what a table makes of a column of objects, or None for an error."""
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    table = pd.DataFrame(array) if source == "pandas" else array
    try:
        return as_table(table).to_series().to_list()
    except ValueError:
        return None


@pytest.mark.parametrize("source", ["pandas", "numpy"])
@pytest.mark.parametrize("first", SCALARS, ids=IDS)
def test_every_pair_of_scalars_is_read_as_the_same_python_scalars(first, source):
    for second in SCALARS:
        given, plain = ([pair[k] for pair in (first, second)] for k in (0, 1))
        cells, expected = cells_of(given, source), cells_of(plain, source)
        assert cells == expected
        if cells is None:  # numbers and dates, or bytes and strings
            assert not all(isinstance(cell, NUMBERS) for cell in plain)
        elif all(isinstance(cell, NUMBERS) for cell in plain):
            assert [float(cell) for cell in cells] == [float(cell) for cell in plain]
        else:
            filled = [cell for cell in plain if cell is not None]
            assert sum(cell is not None for cell in cells) == len(filled)


@pytest.mark.parametrize(
    "cells", [[3, dt.date(2024, 1, 2)], [dt.date(2024, 1, 2), dt.timedelta(1)]]
)
def test_numbers_dates_and_durations_in_one_column_are_an_error(cells):
    with pytest.raises(
        ValueError, match=r"column 'a' mixes types of cells .* in row 2"
    ):
        as_table(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))


def test_a_long_double_is_a_number():
    values = np.arange(6, dtype=np.longdouble).reshape(3, 2)
    assert as_table(values).dtypes == [pl.Float64] * 2
    assert as_table(pd.DataFrame(values)).dtypes == [pl.Float64] * 2
    assert len(TableEncoder().fit(values).columns_) == 2
