"""Tables in which columns take their values from other rows; the type is kept."""

import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
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


class MixedRows:
    """Rows of an array, with columns drawn from other rows; subclasses for tables."""

    def __init__(self, table: Any, names: Sequence[str]) -> None:
        self.table = table
        self.names = list(names)
        self.n_rows = int(table.shape[0])

    def with_column(self, place: int, rows: IntArray) -> Any:
        """Return the table with one column from these rows."""
        changed = self.table.copy()
        changed[:, place] = self.table[rows, place]
        return changed

    def composed(self, rows: IntArray) -> Any:
        """Return a table whose cell (i, j) is that of row ``rows[i, j]``."""
        return self.table[rows, np.arange(len(self.names))]

    def column(self, place: int) -> Any:
        """Return the values of a column, as a polars series."""
        return as_table(self.table[:, [place]]).to_series(0)

    def take(self, rows: IntArray) -> "MixedRows":
        """Return some rows."""
        return type(self)(self.table[rows], self.names)

    def above(self, others: "MixedRows") -> "MixedRows":
        """Return these rows, and others below them."""
        return type(self)(np.concatenate([self.table, others.table]), self.names)


class _PolarsRows(MixedRows):
    def with_column(self, place: int, rows: IntArray) -> Any:
        return self.table.with_columns(self.column(place).gather(rows))

    def composed(self, rows: IntArray) -> Any:
        columns = enumerate(self.table.get_columns())
        return type(self.table)([cells.gather(rows[:, j]) for j, cells in columns])

    def column(self, place: int) -> Any:
        return self.table.to_series(place)

    def above(self, others: MixedRows) -> MixedRows:
        import polars as pl

        both = pl.concat([self.table, others.table], how="vertical_relaxed")
        return _PolarsRows(both, self.names)


class _PandasRows(MixedRows):
    def with_column(self, place: int, rows: IntArray) -> Any:
        changed = self.table.copy(deep=False)
        values = self.table.iloc[:, place].take(rows)
        changed.isetitem(place, values.set_axis(self.table.index))
        return changed

    def composed(self, rows: IntArray) -> Any:
        changed = self.table.iloc[rows[:, 0]].reset_index(drop=True)
        for place in range(1, len(self.names)):
            values = self.table.iloc[:, place].take(rows[:, place])
            changed.isetitem(place, values.reset_index(drop=True))
        return changed

    def column(self, place: int) -> Any:
        return as_table(self.table.iloc[:, [place]]).to_series(0)

    def take(self, rows: IntArray) -> MixedRows:
        return _PandasRows(self.table.iloc[rows], self.names)

    def above(self, others: MixedRows) -> MixedRows:
        from pandas import concat  # type: ignore[import-untyped]

        both = concat([self.table, others.table], ignore_index=True)
        return _PandasRows(both, self.names)


class _SparseRows(MixedRows):
    def with_column(self, place: int, rows: IntArray) -> Any:
        columns = self._by_column
        before, after = columns[:, :place], columns[:, place + 1 :]
        drawn = sparse.csc_array(columns[:, [place]].toarray()[rows])
        return sparse.csr_array(sparse.hstack([before, drawn, after]))

    @cached_property
    def _by_column(self) -> Any:
        return sparse.csc_array(self.table)

    def composed(self, rows: IntArray) -> Any:
        if len(self.names) > _MAX_DENSE_COLUMNS:
            raise IncompatibleError(
                "contributions to this model's scores are found by switching columns "
                f"one by one, which is limited to {_MAX_DENSE_COLUMNS} columns of a "
                f"sparse matrix, got {len(self.names)}. Linear models and trees have "
                "no limit."
            )
        used, places = np.unique(rows, return_inverse=True)
        dense = self.table[used].toarray()
        return sparse.csr_array(
            dense[places.reshape(rows.shape), np.arange(len(self.names))]
        )

    def column(self, place: int) -> Any:
        return as_table(self.table[:, [place]].toarray()).to_series(0)

    def above(self, others: MixedRows) -> MixedRows:
        both = sparse.vstack([self.table, others.table])
        return _SparseRows(sparse.csr_array(both), self.names)


def mixed_rows(model: Any, X: Any) -> MixedRows:
    """Wrap a table of any kind: a frame, an array or a sparse matrix.

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
        names = [str(name) for name in X.columns]
        return (_PandasRows if hasattr(X, "iloc") else _PolarsRows)(X, names)
    names = [f"x{place}" for place in range(shape[1])]
    if sparse.issparse(X):
        return _SparseRows(as_rows(X), names)
    return MixedRows(np.asarray(X), names)


def used_columns(
    model: Any, names: Sequence[str], wanted: Sequence[str] | None = None
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
    known = {column["name"] for column in encoder.columns_}
    return [place for place, name in enumerate(names) if name in known]


def scores_with_column(
    model: Any, rows: MixedRows, place: int, draws: Sequence[IntArray]
) -> Iterator[FloatArray]:
    """Yield the scores of all rows with one column from other rows, for each draw."""
    at_a_time = max(CELLS_AT_A_TIME // (rows.n_rows * len(rows.names)), 1)
    for start in range(0, len(draws), at_a_time):
        some = draws[start : start + at_a_time]
        copies = rows
        if len(some) > 1:
            copies = rows.take(np.tile(np.arange(rows.n_rows), len(some)))
        changed = copies.with_column(place, np.concatenate(some))
        yield from changed_scores(model, changed).reshape(len(some), -1)


def changed_scores(model: Any, table: Any) -> FloatArray:
    """Score a table made of other rows, whose own scoring has issued the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_scores(model, table)


def read_scores(model: Any, table: Any) -> FloatArray:
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
