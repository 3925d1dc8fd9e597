"""Encode raw tables as matrices for models."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from aucmax._core import saved_state as saved
from aucmax._core.docstrings import documented
from aucmax._core.fitting import unchanged_on_failure
from aucmax._core.parameters import check_integer
from aucmax.datasets.column_names import list_names, without_values
from aucmax.exceptions import ColumnsWarning
from aucmax.tables import _column_types as column_types
from aucmax.tables._cell_values import category_words
from aucmax.tables._column_choice import NOTE_SUMMARIES, has_many_words, learn_column
from aucmax.tables._column_types import Category, Date, TargetMean
from aucmax.tables._scaling import learn_scales
from aucmax.tables.folds import divide_rows
from aucmax.tables.frames import allow_tables, as_table
from aucmax.tables.learned_columns import LearnedColumns

# columns of dates that the days of a later column are counted from
_MAX_SINCE = 5
_LEFT_OUT = "left out"


@documented
@dataclass(eq=False, repr=False)
class TableEncoder(LearnedColumns, TransformerMixin, BaseEstimator):
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

    Attributes
    ----------
    columns_ : list of dict
        Description of each column in use.
    dropped_ : dict
        The columns left out, each with the reason.
    notices_ : list of str
        Notes about the columns, one line per kind.
    column_notes_ : list of str
        The same, one line per column and kind.
    categorical_features_ : list of int
        The columns of :meth:`transform_for_trees` that hold category codes.
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

    _saved_state = saved.optional(
        dropped_=saved.instance_of(dict),
        notices_=saved.instance_of(list),
        column_notes_=saved.instance_of(list),
    )

    max_categories: int = 50
    min_frequency: int = 2
    absolute_dates: bool | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the columns of a table; with labels, shares of positives per string.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows.
        y : array-like of shape (rows,), optional
            Two distinct labels; the second in sorted order is positive. Other targets
            are ignored.
        """
        self.learn(X, y)
        self.warn_of_dropped()
        return self

    def learn(self, X: Any, y: Any = None) -> Self:
        """Call :meth:`fit` without warnings of columns that are left out."""
        check_integer("max_categories", self.max_categories)
        check_integer("min_frequency", self.min_frequency)
        table = as_table(X)
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
        self.columns_ = []
        self.dropped_: dict[str, str] = {}
        self.notices_: list[str] = []
        self.column_notes_: list[str] = []
        self.scales_ = None
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.categorical_features_ = []
        self.n_features_in_ = table.shape[1]
        if isinstance(table, sparse.csr_array):
            self.scales_ = learn_scales(table)
        else:
            self._learn_columns(table, labels)

    def _learn_columns(self, frame: Any, labels: NDArray[np.int64] | None) -> None:
        self.feature_names_in_ = np.array(frame.columns)
        notes: dict[str, dict[str, str]] = {kind: {} for kind in NOTE_SUMMARIES}
        dates: dict[str, Any] = {}
        for series in frame.iter_columns():
            column, reason, found = learn_column(
                series, self.max_categories, self.min_frequency
            )
            if isinstance(column, Date):
                moments, since = column.read(series), [*dates][:_MAX_SINCE]
                column = column.learn(
                    {**dates, series.name: moments}, since, bool(self.absolute_dates)
                )
                if column.parts:
                    dates[series.name] = moments
                    kind = "absolute dates" if self.absolute_dates else "dates"
                    line = NOTE_SUMMARIES[kind].format(names=repr(series.name))
                    notes[kind][series.name] = line
                else:
                    column, reason = None, "its month, weekday and hour never change"
            if column is None:
                self.dropped_[series.name] = reason
            else:
                self.columns_.append(column_types.as_plain(column))
                if labels is not None and has_many_words(column, self.max_categories):
                    words = category_words(series)
                    mean = TargetMean.learn(series.name, words, labels)
                    self.columns_.append(column_types.as_plain(mean))
            for kind, note in found.items():
                notes[kind][series.name] = note
        for name, reason in self.dropped_.items():
            lines = notes.setdefault(without_values(reason), {})
            lines[name] = f"column {name!r} is {_LEFT_OUT}: {reason}"
        for kind, by_name in notes.items():
            is_few = len(by_name) < 2
            self.notices_ += by_name.values() if is_few else [_summary(kind, by_name)]
            self.column_notes_ += by_name.values()
        if not self.columns_:
            reasons = "; ".join(f"{n!r}: {r}" for n, r in self.dropped_.items())
            raise ValueError(f"no column can be used: {reasons[:500]}.")
        self.categorical_features_ = [
            i
            for i, part in enumerate(self._parts())
            if isinstance(part, Category) and not part.is_ordered
        ]

    def transform(self, X: Any) -> Any:
        """Turn raw rows into the matrix for linear models.

        Columns are found by name, in any order; further columns are ignored.

        Returns
        -------
        matrix : ndarray or csr_array of shape (rows, n_features_out)
            Finite numbers without missing values.
        """
        return super().transform(X)  # here, so that scikit-learn's set_output finds it

    def training_rows(
        self, X: Any, y: Any, view: str, *, groups: Any = None, times: Any = None
    ) -> Any:
        """Return the matrix of the training rows, where no row sees its own label.

        It differs from that of new rows in the shares of positives per string, which
        come from other rows, other groups, or earlier rows.

        Parameters
        ----------
        view : {"linear", "trees"}
            The matrix of :meth:`transform` or of :meth:`transform_for_trees`.
        groups : ndarray of int of shape (rows,), optional
            The group or query of each row.
        times : ndarray of float of shape (rows,), optional
            The time of each row.
        """
        labels = _two_labels(y)
        if labels is None or not any(
            c["kind"] == TargetMean.kind for c in self.columns_
        ):
            return self._matrix(X, view)
        folds = divide_rows(labels, 5, unit=groups, times=times)
        return self._matrix(X, view, (labels, folds))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn the columns, and return :meth:`training_rows` for linear models.

        Parameters
        ----------
        **fit_params
            None.
        """
        return self.fit(X, y, **fit_params).training_rows(X, y, "linear")

    def __sklearn_tags__(self) -> Any:
        return allow_tables(super().__sklearn_tags__())


def _summary(kind: str, notes: dict[str, str]) -> str:
    """Return one sentence on several columns; of those left out one has its reason."""
    n, names = len(notes), list_names(notes)
    if kind in NOTE_SUMMARIES:
        return NOTE_SUMMARIES[kind].format(n=n, names=names)
    name, note = next(iter(notes.items()))
    reason = note.partition(f"{_LEFT_OUT}: ")[2]
    return f"{n} columns are {_LEFT_OUT}: {names} (reason for {name!r}: {reason})"


def _two_labels(y: Any) -> NDArray[np.int64] | None:
    """Return 1 for the second of two labels and 0 for the first; None for others."""
    if y is None:
        return None
    values, codes = np.unique(np.asarray(y), return_inverse=True)
    return codes.astype(np.int64) if values.size == 2 else None
