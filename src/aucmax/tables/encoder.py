"""Encode raw tables as matrices for models."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from aucmax._core import saved_state as saved
from aucmax._core.fitting import require_fitted, unchanged_on_failure
from aucmax._core.parameters import check_choice, check_integer
from aucmax._core.row_splits import Folds
from aucmax.datasets.column_names import list_names, without_values
from aucmax.exceptions import ColumnsWarning, ModelFileError
from aucmax.tables._cells import Cells, TypedTable, Words, type_columns
from aucmax.tables._columns import (
    Category,
    Column,
    Date,
    Number,
    TargetMean,
    as_plain,
    check_plain,
    parts_of,
    restore,
)
from aucmax.tables._scaling import (
    fit_width,
    learn_scales,
    scale_sparse,
    sparse_to_unit_scale,
    unsquash,
)
from aucmax.tables.folds import divide_rows
from aucmax.tables.frames import allow_tables, as_table, pick_columns
from aucmax.tables.target import as_text

# columns of dates that the days of a later column are counted from
_MAX_SINCE = 5
_LEFT_OUT = "left out"
# one-hot columns are stored sparse when at least this many columns are this empty
_WIDE = 100
_SPARSE_BELOW = 0.25

# the summary of notes of one kind about several columns
_NOTE_SUMMARIES = {
    "strays": "{n} columns of numbers or dates have other cells, which count as "
    "missing: {names}",
    "unread": "{n} columns look like numbers or dates of other forms, and each is "
    "text: {names}; write them like 1200.5 and 2024-01-31",
    "rare": "{n} columns have rare categories, which share one indicator: {names}",
    "dates": "dates are used by their month, weekday, hour, and days since other "
    "dates, not as numbers, which scores of later rows extrapolate: {names}; pass "
    "times (--times), or TableEncoder(absolute_dates=True) in a pipeline, to use these "
    "as well",
    "absolute dates": "dates are also used as numbers, which scores of later rows "
    "extrapolate: {names}; TableEncoder(absolute_dates=False) leaves the numbers out",
}

LabelsAndFolds: TypeAlias = tuple[NDArray[np.int64], Folds]
Notes: TypeAlias = dict[str, dict[str, str]]  # by kind and column


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):
    r"""Learn the type of each column of a table and turn rows into numbers.

    A column is treated as

    - **numbers**, if at most a tenth of its filled cells are something else: they are
      centred at the median, divided by the typical deviation, logarithmic beyond
      three standard deviations, and standardised; missing values take the median,
      and an indicator column marks them;
    - **dates**, if that holds for dates and times (year first): month and weekday as
      categories, the hour as a number, and the days since each of the first five
      columns of dates before it; the date itself, which scores of later rows would
      extrapolate, only with `absolute_dates`;
    - **categories** otherwise: one indicator column for each of the `max_categories`
      most frequent strings that occur in at least `min_frequency` rows, one for all
      others, one for missing values. A new string counts as "other", or has no
      indicator if training had no others. If more than one string has no indicator of
      its own, and :meth:`fit` gets labels, one more column has the share of positives
      among the rows of each string. For trees, categories with an order (intervals of
      ``pandas.cut``, ordered categories of pandas, an Enum of polars) are numbers.

    Empty and constant columns, strings that nearly all differ (names, keys), counters
    of the rows, and cells of other types (lists, periods) are left out with a warning;
    ``dropped_`` has the reasons. Numbers with currency or percent signs or decimal
    commas, and dates that do not begin with the year, are text, with a warning. Stray
    words in a column of numbers or dates count as missing, with a note; more than a
    tenth of them, and infinite numbers, are errors that name column and row.

    A sparse matrix is a table of numbers without names: features keep their position
    and their zeros, the other values are scaled. Fewer or more features in new rows
    than in training are zeros or ignored.

    Parameters
    ----------
    max_categories : int, default=50
        Maximum number of indicators per text column, without "other" and "missing".
    min_frequency : int, default=2
        Number of rows in which a string must occur to be a category of its own.
    absolute_dates : bool, optional
        Whether a date is also a number, the days since 1970. By default it is in a
        model that is fitted to rows with times, and so tested on later rows.
    view : {"linear", "trees"}, default="linear"
        The matrix of `transform`: for linear models, or for trees, where missing is NaN
        and ``categorical_features_`` are the columns with category codes.

    Attributes
    ----------
    columns_ : list of dict
        Description of each column in use.
    dropped_ : dict
        The columns left out, each with the reason.
    notices_ : list of str
        Notes about the columns, one line per kind.
    categorical_features_ : list of int
        The columns of the matrix for trees that hold category codes.
    n_features_in_ : int
        Number of columns at training.
    feature_names_in_ : ndarray of str
        Their names; only for tables with names.

    Notes
    -----
    Both transforms cost O(rows x columns). The linear matrix is dense unless it has
    100 columns or more of which less than a quarter of the cells are filled.

    Examples
    --------
    >>> import polars as pl
    >>> from aucmax.tables import TableEncoder
    >>> table = pl.DataFrame({"age": [31, 45, None], "sex": ["F", "M", "F"]})
    >>> encoder = TableEncoder(min_frequency=1).fit(table)
    >>> list(encoder.get_feature_names_out())
    ['age', 'age=(missing)', 'sex=F', 'sex=M']
    """

    _saved_state = saved.fields(
        **saved.COLUMNS,
        columns_=saved.instance_of(list),
        scales_=saved.instance_of(dict, type(None)),
        categorical_features_=saved.column_numbers,
        **saved.optional(
            dropped_=saved.instance_of(dict),
            notices_=saved.instance_of(list),
        ),
    )

    max_categories: int = 50
    min_frequency: int = 2
    absolute_dates: bool | None = None
    view: str = "linear"

    def fit(self, X: object, y: object = None) -> Self:
        """Learn the columns of a table; with labels, shares of positives per string.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.
        y : array-like of shape (rows,), optional
            Two distinct labels; the second in sorted order is positive. Other targets
            are ignored.

        Returns
        -------
        self : object
            The fitted model.
        """
        self.learn(X, y)
        self.warn_of_dropped()
        return self

    def learn(self, X: object, y: object = None) -> Self:
        """Call :meth:`fit` without warnings of columns that are left out.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.
        y : array-like of shape (rows,), optional
            Two distinct labels; the second in sorted order is positive. Other targets
            are ignored.

        Returns
        -------
        Self
        """
        check_integer("max_categories", self.max_categories)
        check_integer("min_frequency", self.min_frequency)
        check_choice("view", self.view, ("linear", "trees"))
        table = X if isinstance(X, TypedTable) else as_table(X)
        if 0 in table.shape:
            raise ValueError(
                f"the table has {table.shape[0]} rows and {table.shape[1]} columns; it "
                "needs at least one of each."
            )
        with unchanged_on_failure(self):
            self._learn(table, _two_labels(y))
        return self

    def warn_of_dropped(self) -> None:
        """Warn of columns that are left out, or that are text but look like numbers."""
        lines = [x for x in self.notices_ if _LEFT_OUT in x or " is text" in x]
        if lines:
            warnings.warn(f"{'; '.join(lines)}.", ColumnsWarning, stacklevel=3)

    def _learn(self, table: Any, labels: NDArray[np.int64] | None) -> None:
        self.columns_: list[dict[str, Any]] = []
        self.dropped_: dict[str, str] = {}
        self.notices_: list[str] = []
        self.scales_ = None
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.categorical_features_: list[int] = []
        self.n_features_in_ = table.shape[1]
        if isinstance(table, sparse.csr_array):
            self.scales_ = learn_scales(table)
        elif isinstance(table, TypedTable):
            self._learn_columns(table, labels)
        else:
            self._learn_columns(type_columns(table), labels)

    def _learn_columns(
        self, table: TypedTable, labels: NDArray[np.int64] | None
    ) -> None:
        names = table.frame.columns
        self.feature_names_in_ = np.array(names)
        notes = {kind: {**table.notes.get(kind, {})} for kind in _NOTE_SUMMARIES}
        dates: dict[str, pl.Series] = {}
        for name in names:
            column: Column | str = table.dropped.get(name, "")
            if not column:
                column = self._learn_column(name, table, dates, notes)
            if isinstance(column, str):
                self.dropped_[name] = column
                continue
            self.columns_.append(as_plain(column))
            cells = table.cells[name]
            if (
                labels is not None
                and isinstance(cells, Words)
                and isinstance(column, Category)
                and column.has_other
                and len(column.categories) == self.max_categories
            ):
                self.columns_.append(as_plain(TargetMean.learn(name, cells, labels)))
        for name, reason in self.dropped_.items():
            lines = notes.setdefault(without_values(reason), {})
            lines[name] = f"column {name!r} is {_LEFT_OUT}: {reason}"
        for kind, by_name in notes.items():
            is_few = len(by_name) < 2
            self.notices_ += by_name.values() if is_few else [_summary(kind, by_name)]
        if not self.columns_:
            reasons = "; ".join(f"{n!r}: {r}" for n, r in self.dropped_.items())
            raise ValueError(f"no column can be used: {reasons[:500]}.")
        self.categorical_features_ = [
            i
            for i, part in enumerate(self._parts())
            if isinstance(part, Category) and not part.is_ordered
        ]

    def _learn_column(
        self, name: str, table: TypedTable, dates: dict[str, pl.Series], notes: Notes
    ) -> Column | str:
        """Return a learned column, or why it is left out; add to dates and notes."""
        cells = table.cells[name]
        if isinstance(cells, pl.Series):
            known, is_absolute = {**dates, name: cells}, bool(self.absolute_dates)
            date = Date.learn(name, known, [*dates][:_MAX_SINCE], is_absolute)
            if not date.parts:
                return "its month, weekday and hour never change"
            dates[name] = cells
            kind = "absolute dates" if is_absolute else "dates"
            notes[kind][name] = _NOTE_SUMMARIES[kind].format(names=repr(name))
            return date
        if isinstance(cells, np.ndarray):
            if np.isnan(cells).all():
                return "it is empty"
            if (cells == cells[0]).all():
                return f"it is {as_text(float(cells[0]))} in every row"
            return Number.learn(name, cells, name in table.durations)
        present = np.unique(cells.codes)
        n_words = int((present >= 0).sum())
        if n_words == 0:
            return "it is empty"
        if present.size == 1:
            return f"it is {cells.words[present[0]]!r} in every row"
        category = Category.learn(name, cells, self.max_categories, self.min_frequency)
        n_kept = len(category.categories)
        if not n_kept:
            # a handful of rows, all different: nothing repeats
            return f"none of its strings occurs in {self.min_frequency} rows"
        if n_words - n_kept > 1:
            notes["rare"][name] = (
                f"column {name!r} has {n_words} categories: the {n_kept} most frequent "
                "have an indicator each, the others share one"
            )
        return category

    def transform(self, X: object) -> Any:
        """Turn raw rows into the matrix of `view`.

        Columns are found by name, in any order; further columns are ignored.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.

        Returns
        -------
        matrix : ndarray or csr_array of shape (rows, n_features_out)
            For linear models finite numbers without missing values. For trees numbers
            are only multiplied by a power of two per column, because tree learners
            treat anything below a fixed threshold as zero.
        """
        return self.matrix(X, self.view)

    def select(self, X: object) -> Any:
        """Return the columns in use, in the order of training, text numbers parsed.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.

        Returns
        -------
        frame or sparse matrix
        """
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return self._sparse_rows(X)
        table = self._frame(X)
        return table.with_columns(
            pl.Series(column.name, column.read(table[column.name])).fill_nan(None)
            for column in self._learned()
            if isinstance(column, Number) and table.schema[column.name] == pl.String
        )

    def frame(self, X: object) -> Any:
        """Return all columns of training unchanged, in the order of training.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.

        Returns
        -------
        frame or sparse matrix
        """
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return self._sparse_rows(X)
        table = X.frame if isinstance(X, TypedTable) else X
        return self._columns(table, self.feature_names_in_.tolist())

    def matrix(self, X: object, view: str, known: LabelsAndFolds | None = None) -> Any:
        """Return the matrix of a table; no row of `known` sees its own label.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.
        view : {"linear", "trees"}
            The matrix.
        known : pair (labels, folds), optional
            Of training rows, for the shares of positives per string.

        Returns
        -------
        ndarray or csr_array
        """
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            rows = self._sparse_rows(X)
            scale = scale_sparse if view == "linear" else sparse_to_unit_scale
            return scale(rows, self.scales_)
        cells = self._cells(X)
        blocks: list[Any] = []
        for column in self._learned():
            values: Any = cells if isinstance(column, Date) else cells[column.name]
            if isinstance(column, TargetMean) and known is not None:
                blocks.append(column.out_of_fold(values, *known))
            else:
                blocks += column.transform(values, view)
        if view == "trees" or not self._is_sparse(len(self.get_feature_names_out())):
            dense = [b if isinstance(b, np.ndarray) else b.toarray() for b in blocks]
            return np.column_stack(dense)
        # with 32-bit indices, which every scikit-learn solver takes
        columns: Any = [
            sparse.csr_array(b[:, None] if isinstance(b, np.ndarray) else b)
            for b in blocks
        ]
        return sparse.hstack(columns, format="csr")

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the names of the columns of the matrix for linear models.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray
        """
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)
        names = [name for part in self._parts() for name in part.linear_names()]
        return np.array(names, dtype=object)

    def source_columns(self, view: str) -> list[str]:
        """Return the column of the table behind each column of a matrix.

        Parameters
        ----------
        view : {"linear", "trees"}
            The matrix.

        Returns
        -------
        list of str
        """
        require_fitted(self, "columns_")
        if self.scales_ is not None:
            return list(self.get_feature_names_out())
        return [
            column.name
            for column in self._learned()
            for part in parts_of(column)
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

        Returns
        -------
        float
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

    def __str__(self) -> str:
        """Return the parameters, and the number of columns by kind once fitted."""
        if not hasattr(self, "columns_"):
            return repr(self)
        kinds = Counter(column["kind"] for column in self.columns_)
        used = ", ".join(f"{n} of kind {kind}" for kind, n in kinds.items())
        left_out = f"; {_LEFT_OUT}: {list_names(self.dropped_)}" * bool(self.dropped_)
        return f"{self!r}, fitted to {self.n_features_in_} columns: {used}{left_out}"

    def _learned(self) -> Iterator[Column]:
        return map(restore, self.columns_)

    def _parts(self) -> Iterator[Number | Category | TargetMean]:
        return (part for column in self._learned() for part in parts_of(column))

    def _is_sparse(self, width: int) -> bool:
        # each column fills one cell of its indicators, at most
        n_filled = sum(len(c.get("parts", "1")) for c in self.columns_)
        return width >= _WIDE and n_filled < _SPARSE_BELOW * width

    def _frame(self, X: object) -> Any:
        # a column of strings may be in use twice
        return self._columns(
            X, list(dict.fromkeys(column["name"] for column in self.columns_))
        )

    def _cells(self, X: object) -> Mapping[str, Cells]:
        """Return the cells of the columns in use, read by the types of training."""
        if isinstance(X, TypedTable):
            return X.cells
        table = self._frame(X)
        columns = {column.name: column for column in self._learned()}
        return {name: one.read(table[name]) for name, one in columns.items()}

    def _columns(self, X: object, names: list[str]) -> Any:
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
        return pick_columns(table, names)

    def _sparse_rows(self, X: object) -> sparse.csr_array:
        table = as_table(X)
        if not isinstance(table, sparse.csr_array):
            raise ValueError(
                "the encoder was fitted on a sparse matrix, got a table; give it the "
                "same kind of matrix."
            )
        return fit_width(table, self.n_features_in_)

    def sample_row(self) -> Any:
        """Return one raw row of missing values, to check a loaded encoder.

        Returns
        -------
        frame or sparse matrix
        """
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
                check_plain(column)
            names = {column["name"] for column in self.columns_}
            if not names <= {*getattr(self, "feature_names_in_", names)}:
                raise ValueError("a column is not among the names of columns")
            row = self.sample_row()
            is_sound = bool(np.isfinite(self.matrix(row, "linear").sum()))
            is_sound &= self.matrix(row, "trees").shape[1] > max(
                self.categorical_features_, default=0
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the table encoder is damaged: {error}") from error
        if not is_sound:
            raise ModelFileError("the table encoder is damaged: its numbers are wrong")

    def training_rows(
        self, X: Any, y: Any, view: str, *, groups: Any = None, times: Any = None
    ) -> Any:
        """Return the matrix of the training rows, where no row sees its own label.

        It differs from that of new rows in the shares of positives per string, which
        come from other rows, other groups, or earlier rows.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.
        y : array-like of shape (rows,), optional
            Two distinct labels; the second in sorted order is positive. Other targets
            are ignored.
        view : {"linear", "trees"}
            The matrix.
        groups : ndarray of int of shape (rows,), optional
            The group or query of each row.
        times : ndarray of float of shape (rows,), optional
            The time of each row.

        Returns
        -------
        ndarray or csr_array
        """
        labels = _two_labels(y)
        if labels is None or not any(
            c["kind"] == TargetMean.kind for c in self.columns_
        ):
            return self.matrix(X, view)
        folds = divide_rows(labels, 5, unit=groups, times=times)
        return self.matrix(X, view, (labels, folds))

    def fit_transform(self, X: object, y: object = None, **fit_params: Any) -> Any:
        """Learn the columns, and return :meth:`training_rows`.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.
        y : array-like of shape (rows,), optional
            Two distinct labels; the second in sorted order is positive. Other targets
            are ignored.
        **fit_params
            None.

        Returns
        -------
        X_new : ndarray array of shape (n_samples, n_features_new)
            Transformed array.
        """
        return self.fit(X, y, **fit_params).training_rows(X, y, self.view)

    def __sklearn_tags__(self) -> Any:
        return allow_tables(super().__sklearn_tags__())


def encoder_and_estimator(model: Any) -> tuple[TableEncoder | None, Any]:
    """Return the encoder of a model of raw tables, if any, and its only estimator.

    Of an AutoRanker that combines several, that is the AutoRanker itself.
    """
    if hasattr(model, "encoders_"):
        models = [one for member in model.members_ for one in member["models"]]
        return model.encoders_[0], models[0] if len(models) == 1 else model
    steps = [step for _, step in getattr(model, "steps", [])]
    if len(steps) == 2 and isinstance(steps[0], TableEncoder):
        return steps[0], steps[1]
    return None, model


def _summary(kind: str, notes: dict[str, str]) -> str:
    """Return one sentence on several columns; of those left out one has its reason."""
    n, names = len(notes), list_names(notes)
    if kind in _NOTE_SUMMARIES:
        return _NOTE_SUMMARIES[kind].format(n=n, names=names)
    name, note = next(iter(notes.items()))
    reason = note.partition(f"{_LEFT_OUT}: ")[2]
    return f"{n} columns are {_LEFT_OUT}: {names} (reason for {name!r}: {reason})"


def _two_labels(y: object) -> NDArray[np.int64] | None:
    """Return 1 for the second of two labels and 0 for the first; None for others."""
    if y is None:
        return None
    values, codes = np.unique(np.asarray(y), return_inverse=True)
    return codes.astype(np.int64) if values.size == 2 else None
