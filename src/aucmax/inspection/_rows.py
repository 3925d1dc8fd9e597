"""Tables in which columns take their values from other rows; the type is kept."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from aucmax._core.parameters import check_names
from aucmax._core.validation import FloatArray, IntArray, reject_unreadable
from aucmax.exceptions import IncompatibleError
from aucmax.tables.cross_fit import score_rows
from aucmax.tables.encoder import encoder_and_estimator
from aucmax.tables.frames import as_rows, as_table

# Cells of the changed tables that are scored together.
CELLS_AT_A_TIME = 2_000_000
# Largest number of columns of a sparse matrix that is made dense row by row.
_MAX_DENSE_COLUMNS = 5000


def read_table(model: object, X: object) -> tuple[Any, list[str]]:
    """Return a frame, an array or a sparse matrix, and the names of its columns.

    A text column that the model reads as numbers becomes one of numbers. Its other
    cells are reported here: once cells are moved, rows and counts would mislead.
    """
    reject_unreadable(X, "X")
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            "X must be a table with rows and columns, got "
            f"{f'shape {shape}' if shape else type(X).__name__}."
        )
    if hasattr(X, "columns"):
        encoder, _ = encoder_and_estimator(model)
        if encoder is not None:
            X = as_table(X).with_columns(encoder.select(X).get_columns())
        return X, [str(name) for name in X.columns]
    names = [f"x{place}" for place in range(shape[1])]
    return as_rows(X) if sparse.issparse(X) else np.asarray(X), names


def mix_cells(table: Any, rows: IntArray) -> Any:
    """Return a table of the same type with cell (i, j) from row ``rows[i, j]``."""
    n_columns = table.shape[1]
    if hasattr(table, "iloc"):
        from pandas import concat  # type: ignore[import-untyped]

        columns = (table.iloc[rows[:, j], [j]] for j in range(n_columns))
        return concat([cells.reset_index(drop=True) for cells in columns], axis=1)
    if hasattr(table, "columns"):
        drawn = [table.to_series(j).gather(rows[:, j]) for j in range(n_columns)]
        return type(table)(drawn)
    if not hasattr(table, "toarray"):
        return table[rows, np.arange(n_columns)]
    if n_columns > _MAX_DENSE_COLUMNS:
        raise IncompatibleError(
            "contributions to this model's scores are found by switching columns one "
            f"by one, which is limited to {_MAX_DENSE_COLUMNS} columns of a sparse "
            f"matrix, got {n_columns}. Linear models and trees have no limit."
        )
    used, places = np.unique(rows, return_inverse=True)
    dense = table[used].toarray()
    return sparse.csr_array(dense[places.reshape(rows.shape), np.arange(n_columns)])


def stack_tables(upper: Any, lower: Any) -> Any:
    """Return the rows of two tables of one type, the second below the first."""
    if hasattr(upper, "toarray"):
        return sparse.csr_array(sparse.vstack([upper, lower]))
    if hasattr(upper, "iloc"):
        from pandas import concat

        return concat([upper, lower], ignore_index=True)
    if hasattr(upper, "columns"):
        import polars as pl

        return pl.concat([upper, lower], how="vertical_relaxed")
    return np.concatenate([upper, lower])


def _with_column(table: Any, place: int, own: IntArray, drawn: IntArray) -> Any:
    """Return rows of a table with one column from other rows."""
    if hasattr(table, "toarray"):  # perhaps too wide to be dense
        columns = sparse.csc_array(table[own])
        cells = sparse.csc_array(table[:, [place]].toarray()[drawn])
        parts = [columns[:, :place], cells, columns[:, place + 1 :]]
        return sparse.csr_array(sparse.hstack(parts))
    rows = np.repeat(own[:, None], table.shape[1], axis=1)
    rows[:, place] = drawn
    return mix_cells(table, rows)


def used_columns(
    model: object, names: Sequence[str], wanted: Sequence[str] | None = None
) -> list[int]:
    """Return the places of the columns that a model uses, or of those wanted."""
    if wanted is not None:
        check_names("columns", wanted)
        for name in wanted:
            if name not in names:
                raise ValueError(
                    f"there is no column {name!r}; there are {', '.join(names[:20])}"
                    f"{', ...' if len(names) > 20 else ''}."
                )
        return [names.index(name) for name in dict.fromkeys(wanted)]
    encoder, _ = encoder_and_estimator(model)
    if encoder is None or not encoder.columns_:
        return list(range(len(names)))
    used = {column["name"] for column in encoder.columns_}
    return [place for place, name in enumerate(names) if name in used]


def scores_with_column(
    model: Any, table: Any, place: int, draws: Sequence[IntArray]
) -> Iterator[FloatArray]:
    """Yield the scores of all rows with one column from other rows, for each draw."""
    n_rows, n_columns = table.shape
    at_a_time = max(CELLS_AT_A_TIME // (n_rows * n_columns), 1)
    for start in range(0, len(draws), at_a_time):
        some = draws[start : start + at_a_time]
        unchanged_rows = np.tile(np.arange(n_rows), len(some))
        changed = _with_column(table, place, unchanged_rows, np.concatenate(some))
        yield from changed_scores(model, changed).reshape(len(some), -1)


def changed_scores(model: object, table: object) -> FloatArray:
    """Score a table made of other rows, whose own scoring has issued the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_scores(model, table)


def read_scores(model: object, table: object) -> FloatArray:
    """Score rows by a model, which must have been fitted to tables."""
    if not hasattr(model, "decision_function") and not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has neither decision_function nor predict_proba, "
            "so it cannot rank rows."
        )
    scores = score_rows(model, table)
    if scores.ndim != 1:
        raise IncompatibleError(
            f"{type(model).__name__} gives {scores.shape[1]} scores per row; only a "
            "model that ranks by one score can be explained."
        )
    return scores
