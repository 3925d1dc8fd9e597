"""Tables of any kind: frames and arrays become polars frames, sparse matrices CSR."""

import datetime as dt
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.row_matrix import check_sparse_structure
from aucmax._core.threads import require_polars_threads
from aucmax._core.validation import reject_unreadable
from aucmax.datasets.column_names import list_names, near_names
from aucmax.datasets.typed_files import usual_integers
from aucmax.exceptions import ColumnsWarning
from aucmax.tables.digest import digest_rows
from aucmax.tables.target import Target


def as_table(table: object) -> Any:
    """Return any table as a polars frame, a sparse one as CSR float64."""
    require_polars_threads()
    reject_unreadable(table, "the table")
    if isinstance(table, pl.DataFrame):
        return _checked(table)
    if sparse.issparse(table):
        check_sparse_structure(table, "the table")
        return as_rows(table)
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        names = [str(name) for name in table.columns]
        if len(set(names)) < len(names):
            name, count = Counter(names).most_common(1)[0]
            raise ValueError(
                f"the table has {count} columns called {name!r}; rename or remove all "
                "but one."
            )
        columns = [_from_pandas(name, table.iloc[:, i]) for i, name in enumerate(names)]
        return _checked(pl.DataFrame(columns))
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(
            f"Reshape your data: a table has rows and columns, not shape {array.shape}."
        )
    if np.iscomplexobj(array):
        raise ValueError(
            "Complex data not supported, as it has no order; give real columns."
        )
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")  # of any unit, which polars has not
    names = [f"x{i}" for i in range(array.shape[1])]
    if array.dtype == object:
        columns = [series_of_cells(n, [*array[:, i]]) for i, n in enumerate(names)]
        return _checked(pl.DataFrame(columns))
    return pl.DataFrame(_as_double(array), schema=names, orient="row")


def _as_double(array: NDArray[np.generic]) -> NDArray[Any]:
    """Return long floats, which polars has not, as float64."""
    is_long = array.dtype.kind == "f" and array.dtype.itemsize > 8
    return array.astype(np.float64) if is_long else array


# types of cells that fit into one column, and into a column of text
_FAMILIES: list[Any] = [(bool, int, float, complex), dt.date, dt.timedelta, dt.time]
_AS_TEXT = str | int | float | dt.date | dt.timedelta | dt.time
_PLAIN = {bool, int, float, str, dt.date, dt.datetime, type(None)}


def series_of_cells(name: str, cells: Sequence[object]) -> pl.Series:
    """Return Python objects as a column, scalars of NumPy as those of Python."""
    # polars gives all cells the type of the first, if that is a scalar of NumPy
    if set(map(type, cells)) - _PLAIN:
        cells = [_as_python(cell) for cell in cells]
    rows = {type(cell): row for row, cell in reversed([*enumerate(cells, 1)])}
    rows.pop(type(None), None)
    if str in rows and all(issubclass(kind, _AS_TEXT) for kind in rows):
        if len(rows) > 1:  # NaN is missing
            cells = [None if c is None or c != c else str(c) for c in cells]
    elif len(rows) > 1 and not any(
        all(issubclass(kind, family) for kind in rows) for family in _FAMILIES
    ):
        types = ", ".join(f"{kind.__name__} in row {row}" for kind, row in rows.items())
        raise ValueError(
            f"column {name!r} mixes types of cells ({types}); convert them to one type."
        )
    return pl.Series(name, cells, strict=False)


def _as_python(cell: object) -> Any:
    if isinstance(cell, np.datetime64 | np.timedelta64):
        cell = cell.astype(f"{cell.dtype.kind}8[us]")
    if isinstance(cell, np.longdouble | Decimal):
        return float(cell)
    if isinstance(cell, np.generic):
        return cell.item()
    if isinstance(cell, dt.timedelta):  # or its subclass of pandas
        return dt.timedelta(cell.days, cell.seconds, cell.microseconds)
    return None if type(cell).__name__ in ("NAType", "NaTType") else cell


def digest_table(X: object, target: Target) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of names, types, cells and target."""
    # the same for other files of the table, and for all versions of polars
    return digest_rows(as_table(X), [target.labels, target.queries, target.weights])


def allow_tables(tags: Any) -> Any:
    """Mark in scikit-learn's tags that an estimator takes raw tables."""
    for name in ("sparse", "string", "categorical", "allow_nan"):
        setattr(tags.input_tags, name, True)
    return tags


def _checked(frame: pl.DataFrame) -> pl.DataFrame:
    """Reject complex numbers; integers of 128 bits become usual ones, or text."""
    wide = []
    for series in frame.iter_columns():
        if series.dtype == pl.Object and any(map(np.iscomplexobj, series)):
            raise ValueError(
                f"column {series.name!r} holds complex numbers, which have no order; "
                "give real columns."
            )
        if (usual := usual_integers(series)) is not series:
            wide.append(usual)
    return frame.with_columns(wide) if wide else frame


def _from_pandas(name: str, column: Any) -> pl.Series:
    if column.dtype.kind in "biufmM" and isinstance(column.dtype, np.dtype):
        values = _as_double(column.to_numpy())
        if column.dtype in ("m8[s]", "M8[s]"):  # polars has no unit of seconds
            values = values.astype(f"{column.dtype.kind}8[ms]")
        return pl.Series(name, values)
    if hasattr(column, "cat") and column.cat.categories.dtype.kind == "O":
        words = [str(category) for category in column.cat.categories]
        cells = np.array([*words, None], dtype=object)[column.cat.codes]
        dtype: Any = pl.Enum(words) if column.cat.ordered else pl.String
        return pl.Series(name, cells.tolist(), dtype=dtype)
    # everything else (strings, nullable types, categories, mixed objects) cell by cell
    gaps = column.isna().to_numpy()
    values = column.to_numpy(dtype=object).tolist()
    pairs = zip(values, gaps, strict=True)
    return series_of_cells(name, [None if gap else cell for cell, gap in pairs])


def pick_columns(frame: Any, names: Sequence[str]) -> Any:
    """Return the columns `names`, in this order; all of them must be there."""
    present = set(frame.columns)
    missing = [name for name in names if name not in present]
    if missing:
        raise ValueError(
            f"missing column{'s' if len(missing) > 1 else ''} {list_names(missing)}; "
            f"the model was trained with {'them' if len(missing) > 1 else 'it'}."
            f"{near_names(missing[0], frame.columns)}"
        )
    return frame.select(names)


def warn_of_other_columns(
    table: Any, names: Sequence[str], ignored: Collection[str | None] = ()
) -> None:
    """Warn of columns that are new or in another order: only names count."""
    present, trained = [str(name) for name in table.columns], set(names)
    new = [name for name in present if name not in trained and name not in ignored]
    notes = []
    if new:
        many = len(new) > 1
        notes.append(
            f"{len(new)} column{'s' * many} that training did not have "
            f"{'are' if many else 'is'} ignored: {list_names(new)}"
        )
    present_names = set(present)
    if [n for n in present if n in trained] != [n for n in names if n in present_names]:
        notes.append("columns are in another order than in training, and found by name")
    if notes:
        warnings.warn("; ".join(notes) + ".", ColumnsWarning, stacklevel=3)


def as_rows(matrix: Any) -> sparse.csr_array:
    """Return CSR rows of float64; infinities and NaN raise an error."""
    rows = sparse.csr_array(matrix, dtype=np.float64)
    unusable = ~np.isfinite(rows.data)
    if unusable.any():
        position = int(np.argmax(unusable))
        row = int(np.searchsorted(rows.indptr, position, side="right"))
        raise ValueError(
            f"row {row}, feature {int(rows.indices[position]) + 1}: "
            f"{rows.data[position]} is not finite; leave the feature out of the row or "
            "use a finite number."
        )
    return rows
