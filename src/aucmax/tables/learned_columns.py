"""Learned columns of a table: raw rows in, matrices out; without scikit-learn."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core import saved_state as saved
from aucmax._core.docstrings import documented
from aucmax._core.fitting import require_fitted
from aucmax._core.row_splits import Folds
from aucmax.exceptions import ModelFileError
from aucmax.tables import _column_types as column_types
from aucmax.tables._column_types import (
    Category,
    Column,
    Date,
    Number,
    OneHot,
    TargetMean,
)
from aucmax.tables._scaling import (
    fit_width,
    scale_sparse,
    sparse_to_unit_scale,
    unsquash,
)
from aucmax.tables.frames import as_table, pick_columns

LabelsAndFolds: TypeAlias = tuple[NDArray[np.int64], Folds]

# one-hot columns are stored sparse when at least this many columns are this empty
_WIDE = 100
_SPARSE_BELOW = 0.25

#: How each kind of estimator sees a table: a method of the encoder.
VIEWS = {
    "linear": "transform",
    "trees": "transform_for_trees",
    "raw": "select",
    "frame": "frame",
}


@documented
class LearnedColumns:
    """The half of `TableEncoder` that new rows need."""

    # scoring a linear model stops here: scikit-learn takes a second to import
    _saved_state = saved.fields(
        **saved.COLUMNS,
        columns_=saved.instance_of(list),
        scales_=saved.instance_of(dict, type(None)),
        categorical_features_=saved.column_numbers,
    )

    columns_: list[dict[str, Any]]
    scales_: dict[str, NDArray[np.float64]] | None
    categorical_features_: list[int]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def select(self, X: Any) -> Any:
        """Return the columns in use, in the order of training, text numbers parsed."""
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return self._sparse_rows(X)
        table = self._frame(X)
        return table.with_columns(
            pl.Series(column.name, column.read(table[column.name])).fill_nan(None)
            for column in self._learned()
            if isinstance(column, Number) and table.schema[column.name] == pl.String
        )

    def frame(self, X: Any) -> Any:
        """Return all columns of training unchanged, in the order of training."""
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return self._sparse_rows(X)
        return pick_columns(as_table(X), self.feature_names_in_.tolist())

    def transform(self, X: Any) -> Any:
        """Turn raw rows into the matrix for linear models."""
        return self._matrix(X, "linear")

    def transform_for_trees(self, X: Any) -> Any:
        """Turn raw rows into the matrix for trees: missing is NaN, categories codes.

        Numbers are only multiplied by a power of two per column, because tree learners
        treat anything below a fixed threshold as zero.

        Returns
        -------
        matrix : ndarray or csr_array of shape (rows, n_columns)
            ``categorical_features_`` are the columns with category codes.
        """
        return self._matrix(X, "trees")

    def _matrix(self, X: Any, view: str, known: LabelsAndFolds | None = None) -> Any:
        """Return the matrix of a table; no row of `known` sees its own label."""
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            rows = self._sparse_rows(X)
            scale = scale_sparse if view == "linear" else sparse_to_unit_scale
            return scale(rows, self.scales_)
        table = self._frame(X)
        crossed = {
            column.name: column.crossed(table[column.name], *known)
            for column in self._learned()
            if known is not None and isinstance(column, TargetMean)
        }
        return self._frame_matrix(table, view, crossed)

    def _frame_matrix(
        self, frame: pl.DataFrame, view: str, crossed: dict[str, NDArray[np.float64]]
    ) -> NDArray[np.float64] | sparse.csr_array:
        """Put the parts of all columns side by side; `crossed` has target means."""
        frame = frame.with_columns(
            column.read(frame[column.name])
            for column in self._learned()
            if isinstance(column, Date)
        )
        parts = (
            part
            for column in self._learned()
            for part in (
                [crossed[column.name]]
                if isinstance(column, TargetMean) and crossed
                else getattr(column, view)(
                    frame if isinstance(column, Date) else frame[column.name]
                )
            )
        )
        if view == "trees":
            return np.column_stack(list(parts))
        shape = frame.height, len(self.get_feature_names_out())
        assemble = _assemble_sparse if self._is_sparse(shape[1]) else _assemble_dense
        return assemble(parts, shape)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : None
            Ignored.
        """
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)
        names = [name for part in self._parts() for name in part.linear_names()]
        return np.array(names, dtype=object)

    def source_columns(self, view: str) -> list[str]:
        """Return the column of the table behind each column of a matrix."""
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return list(self.get_feature_names_out())
        return [
            column.name
            for column in self._learned()
            for part in column_types.parts_of(column)
            for _ in (part.linear_names() if view == "linear" else (part,))
        ]

    def raw_value(self, feature: int, value: float) -> float:
        """Return a number of :meth:`transform` in the units of the table.

        Indicators and shares of positives are returned unchanged.

        Parameters
        ----------
        feature : int
            Place of the column in the matrix.
        value : float
            A number in that column.
        """
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            size, half_spread = self.scales_["size"], self.scales_["half_spread"]
            squashed = np.asarray(value * size[feature])
            return float(unsquash(squashed, 0.0, half_spread[feature]))
        parts = [part for part in self._parts() for _ in part.linear_names()]
        part = parts[feature]
        is_number = self.get_feature_names_out()[feature] == part.name
        return part.raw(value) if isinstance(part, Number) and is_number else value

    def _learned(self) -> Iterator[Column]:
        return map(column_types.restore, self.columns_)

    def _parts(self) -> Iterator[Number | Category | TargetMean]:
        return (
            part for column in self._learned() for part in column_types.parts_of(column)
        )

    def _is_sparse(self, width: int) -> bool:
        # each column fills one cell of its indicators, at most
        n_filled = sum(len(c.get("parts", "1")) for c in self.columns_)
        return width >= _WIDE and n_filled < _SPARSE_BELOW * width

    def _frame(self, X: Any) -> Any:
        table = as_table(X)
        if sparse.issparse(table):
            raise ValueError(
                "the encoder was fitted on a table with named columns, got a sparse "
                "matrix; give it the same kind of table."
            )
        if not hasattr(X, "columns") and table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {table.shape[1]} features, but {type(self).__name__} is "
                f"expecting {self.n_features_in_} features as input."
            )
        # a text column may be in use twice
        names = dict.fromkeys(column["name"] for column in self.columns_)
        return pick_columns(table, list(names))

    def _sparse_rows(self, X: Any) -> sparse.csr_array:
        table = as_table(X)
        if not isinstance(table, sparse.csr_array):
            raise ValueError(
                "the encoder was fitted on a sparse matrix, got a table; give it the "
                "same kind of matrix."
            )
        return fit_width(table, self.n_features_in_)

    def sample_row(self) -> Any:
        """Return one raw row of missing values, to check a loaded encoder."""
        if self.scales_ is None:
            names = [column["name"] for column in self.columns_]
            return pl.DataFrame({name: [None] for name in names})
        for part in ("half_spread", "size"):
            scale = self.scales_[part]
            if scale.shape != (self.n_features_in_,) or not (scale > 0.0).all():
                raise ValueError(f"the {part} of features must be positive")
        return sparse.csr_array((1, self.n_features_in_))

    def _check_state(self) -> None:
        """Reject a loaded state that no ``fit`` can have produced."""
        if not hasattr(self, "columns_"):
            return
        try:
            for column in self.columns_:
                column_types.check_plain(column)
            names = {column["name"] for column in self.columns_}
            if not names <= {*getattr(self, "feature_names_in_", names)}:
                raise ValueError("a column is not among the names of columns")
            row = self.sample_row()
            is_sound = bool(np.isfinite(self.transform(row).sum()))
            is_sound &= self.transform_for_trees(row).shape[1] > max(
                self.categorical_features_, default=0
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the table encoder is damaged: {error}") from error
        if not is_sound:
            raise ModelFileError("the table encoder is damaged: its numbers are wrong")


def _assemble_dense(
    parts: Iterator[NDArray[np.float64] | OneHot], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Fill an array."""
    matrix = np.zeros(shape)
    position = 0
    for part in parts:
        if isinstance(part, OneHot):
            (rows,) = np.nonzero(part.codes >= 0)
            matrix[rows, position + part.codes[rows]] = 1.0
            position += part.width
        else:
            matrix[:, position] = part
            position += 1
    return matrix


def _assemble_sparse(
    parts: Iterator[NDArray[np.float64] | OneHot], shape: tuple[int, int]
) -> sparse.csr_array:
    """Build CSR rows, with 32-bit indices, which every scikit-learn solver takes."""
    rows, columns, values = [], [], []
    position = 0
    for part in parts:
        if isinstance(part, OneHot):
            (filled,) = np.nonzero(part.codes >= 0)
            columns.append(position + part.codes[filled])
            values.append(np.ones(filled.size))
            position += part.width
        else:
            (filled,) = np.nonzero(part)
            columns.append(np.full(filled.size, position))
            values.append(part[filled])
            position += 1
        rows.append(filled)
    places = tuple(np.concatenate(p).astype(np.int32) for p in (rows, columns))
    return sparse.csr_array((np.concatenate(values), places), shape=shape)
