"""When a row was: numbers or dates of any usual kind, as numbers that can be sorted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax.tables import _cells
from aucmax.tables._kinds import regional_format
from aucmax.tables._labels import as_series

__all__ = ["read_moments"]


def read_moments(values: Any, name: str = "times") -> NDArray[np.float64]:
    """Return the moments of rows as numbers: as they are, or microseconds since 1970.

    Parameters
    ----------
    values : polars.Series or array-like of shape (rows,)
        Numbers, dates, or dates written as text.
    name : str, default="times"
        Name of the column, for messages.

    Returns
    -------
    ndarray of shape (rows,)

    Raises
    ------
    ValueError
        A cell is empty, or is neither a number nor a date.

    Examples
    --------
    >>> from aucmax.tables import read_moments
    >>> read_moments(["1970-01-02", "1970-01-01"]).tolist()
    [86400000000.0, 0.0]
    """
    series = as_series(values, name)
    if series.dtype.is_numeric():
        cells = _cells.numbers(series)
        moments = cells.values
    else:
        if series.dtype.is_temporal():
            cells = _cells.dates(series, None)
        else:
            cells = _cells.dates(series, regional_format(series))
            if not cells.n_read:
                cells = _cells.numbers(series)
        moments = cells.values
        if moments.dtype.kind == "M":
            missing = np.isnat(moments)
            moments = moments.astype(np.int64).astype(np.float64)
            moments[missing] = np.nan
    unknown = ~np.isfinite(moments)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{name} must be a number or a date in every row, but row {row} has "
            f"{series[row]!r} ({int(unknown.sum())} such rows). Correct them, or leave "
            "these rows out."
        )
    return moments
