"""Notices about a table: leaks, identifiers, copies of rows, constant columns."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from aucmax.datasets.column_names import list_names
from aucmax.metrics import roc_auc_score
from aucmax.tables._cells import (
    FEW_ROWS,
    Cells,
    TypedTable,
    Words,
    is_plain,
    type_columns,
)
from aucmax.tables.frames import as_table
from aucmax.tables.target import Target

Rows = NDArray[np.intp]
Folds = Sequence[tuple[Rows, Rows]]
Floats = NDArray[np.float64]

# a column that ranks the rows of every fold better than this is too good to be true
_LEAK_AUC = 0.99
# below this on all rows it cannot be above that in every fold, but for chance
_PROMISING_AUC = 0.98
# positive rows in a fold for a fair measurement
_FEW_POSITIVES = 10
# unique integers name rows if there are this many of them, or if they skip few
_MANY_ROWS = 100
_WIDEST_COUNTER = 3
# a smaller share of copied rows is ignored
_RARE_COPIES = 0.01

# the summary of several columns of one kind
_SUMMARIES = {
    "identifier": "{n} columns are different in every row: {names}; leave out those "
    "that identify rows",
    "leak": "{n} columns alone rank the target almost perfectly (AUC above 0.99 on "
    "held-out rows): {names}. Probably leaks: leave out those that are not known "
    "before the target. Of many columns on few rows, some do so by chance",
    "constant": "{n} columns have one value in all training rows of a fold: {names}, "
    "so a model cannot learn from them there",
}


@dataclass(frozen=True)
class TableNotice:
    """A problem of a table to look at before trusting a result.

    Attributes
    ----------
    kind : str
        "leak", "identifier", "copies", "few positives", "constant"; of a comparison
        also "positive class" or "model".
    text : str
        One line, with the number of columns or rows.
    columns : tuple of str
        The columns concerned.
    details : tuple of str
        One line per column, if there are several.
    """

    kind: str
    text: str
    columns: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the notice in simple values for JSON.

        Returns
        -------
        dict
        """
        return {**asdict(self), "columns": [*self.columns], "details": [*self.details]}


def check_table(X: Any, labels: Any, folds: Folds) -> list[TableNotice]:
    """Find problems that make a cross-validation too optimistic; one notice per kind.

    - Leaks: columns that alone rank the rows of every test fold with an AUC above 0.99,
      by their values, or by the share of positives per category in the training rows.
    - Identifiers: columns of strings or of whole numbers that differ in every row.
    - Copies: test rows that are equal to a training row, unless the table is so coarse
      that copies are to be expected.
    - Columns that are constant in all training rows of a fold, but not in all rows.
    - Test folds with fewer than ten positive rows.

    Costs about a sort per column. In a sparse matrix, only columns that are filled in
    nearly all rows of a class are checked: no other can rank well.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target.
    labels : array-like of shape (rows,), or Target
        True where a row is positive. Of censored times, early events count.
    folds : sequence of (ndarray, ndarray)
        Training and test rows of each fold, by their numbers.

    Returns
    -------
    list of TableNotice

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.tables import check_table
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(200) < 0.3
    >>> table = {"age": rng.normal(size=200), "bill": labels + 0.1 * rng.random(200)}
    >>> folds = [(np.arange(100), np.arange(100, 200))]
    >>> import polars as pl
    >>> [notice.columns for notice in check_table(pl.DataFrame(table), labels, folds)]
    [('bill',)]
    """
    table = X if isinstance(X, TypedTable) else as_table(X)
    is_target = isinstance(labels, Target)
    positive = np.asarray(labels.high if is_target else labels, dtype=bool)
    if isinstance(table, pl.DataFrame):
        table = type_columns(table)
    if isinstance(table, TypedTable):
        problems = list(_check_cells(table, positive, folds))
        table = table.frame
    else:
        # a single large index makes as many columns: only filled ones take memory
        numbers, places = np.unique(table.indices, return_inverse=True)
        shape = table.shape[0], numbers.size
        table = sparse.csr_array((table.data, places, table.indptr), shape=shape)
        problems = list(_check_sparse(table, numbers, positive, folds))
    few = [] if is_target and labels.is_survival else _few_positives(positive, folds)
    return [*few, *_by_kind(problems), *_copies(table, folds)]


def _by_kind(problems: Sequence[tuple[str, str, str]]) -> Iterator[TableNotice]:
    """Join kinds, columns and messages into one notice per kind."""
    for kind, summary in _SUMMARIES.items():
        columns = tuple(name for one, name, _ in problems if one == kind)
        messages = tuple(text for one, _, text in problems if one == kind)
        if len(messages) == 1:
            yield TableNotice(kind, messages[0], columns)
        elif messages:
            text = summary.format(n=len(columns), names=list_names(columns))
            yield TableNotice(kind, text, columns, messages)


def without_columns(
    notices: Iterable[TableNotice], names: Container[str]
) -> Iterator[TableNotice]:
    """Remove columns from notices; skip notices on no other columns."""
    for notice in notices:
        messages = notice.details or (notice.text,)
        # notices on rows or models have no columns
        problems = [
            (notice.kind, name, text)
            for name, text in zip(notice.columns, messages, strict=False)
            if name not in names
        ]
        yield from _by_kind(problems) if notice.columns else (notice,)


def _few_positives(positive: NDArray[np.bool_], folds: Folds) -> Iterator[TableNotice]:
    counts = [int(positive[test].sum()) for _, test in folds]
    if min(counts) < _FEW_POSITIVES:
        yield TableNotice(
            "few positives",
            (
                f"{sum(counts)} positive rows are few for {len(folds)} folds: one of "
                f"them has {min(counts)}"
                if len(folds) > 1
                else f"{sum(counts)} positive test rows are few"
            )
            + ", so intervals are wide and similar models cannot be distinguished",
        )


def _check_cells(
    table: TypedTable, positive: NDArray[np.bool_], folds: Folds
) -> Iterator[tuple[str, str, str]]:
    """Yield the kind of each problem, its column and a message."""
    for name, cells in table.cells.items():
        values, kind = _as_numbers(cells)
        if name in table.durations:
            kind = "moment"
        if _is_constant(values):
            continue
        if _names_rows(values, kind):
            text = (
                f"column {name!r} is different in every row, so it may be an "
                "identifier; leave it out if it identifies rows"
            )
            yield "identifier", name, text
        if (auc := _lone_auc(values, kind, positive, folds)) > _LEAK_AUC:
            yield "leak", name, _leak_text(repr(name), auc)
        if any(_is_constant(values[train]) for train, _ in folds):
            text = (
                f"column {name!r} has one value in all training rows of a fold, so a "
                "model cannot learn from it there"
            )
            yield "constant", name, text


def _check_sparse(
    matrix: sparse.csr_array, numbers: Rows, positive: NDArray[np.bool_], folds: Folds
) -> Iterator[tuple[str, str, str]]:
    """Yield leaks as `_check_cells` does."""
    columns = matrix.tocsc()
    columns.eliminate_zeros()
    # zeros of both classes are ties, which keep the AUC below 1 - half their product
    shares = [
        columns[rows].count_nonzero(axis=0) / max(int(rows.sum()), 1)
        for rows in (positive, ~positive)
    ]
    can_rank = 0.5 * (1 - shares[0]) * (1 - shares[1]) < 1 - _PROMISING_AUC
    for j in np.flatnonzero(can_rank):
        values = columns[:, [j]].toarray().ravel()
        if (auc := _lone_auc(values, "number", positive, folds)) > _LEAK_AUC:
            yield "leak", f"x{numbers[j]}", _leak_text(f"number {numbers[j] + 1}", auc)


def _leak_text(shown: str, auc: float) -> str:
    return (
        f"column {shown} alone ranks the target almost perfectly (AUC {auc:.4f} or "
        "more on held-out rows): probably a leak. Leave it out unless it is known "
        "before the target"
    )


def _as_numbers(cells: Cells) -> tuple[Floats, str]:
    """Return cells as numbers, missing as NaN, and their kind."""
    if isinstance(cells, Words):
        return np.where(cells.codes < 0, np.nan, cells.codes), "category"
    if isinstance(cells, pl.Series):
        return cells.to_physical().cast(pl.Float64).to_numpy(), "moment"
    return cells, "number"


def _is_constant(values: Floats) -> bool:
    is_missing = np.isnan(values)
    return bool(is_missing.all() or (values == values[0]).all())


def _names_rows(values: Floats, kind: str) -> bool:
    if kind == "moment" or values.size < FEW_ROWS or np.isnan(values).any():
        return False
    if np.unique(values).size < values.size:
        return False
    if kind == "category":
        return True
    is_counter = np.ptp(values) < _WIDEST_COUNTER * values.size
    is_whole = (values % 1 == 0).all()
    return bool(is_whole and (is_counter or values.size >= _MANY_ROWS))


def _lone_auc(
    values: Floats, kind: str, positive: NDArray[np.bool_], folds: Folds
) -> float:
    """Return the smallest AUC of a column over the test folds; 0 if below the limit."""
    everyone = np.arange(values.size)
    if not _has_both(positive):
        return 0.0
    if _ranking(values, kind, positive, everyone, everyone)[1] < _PROMISING_AUC:
        return 0.0
    lowest = 1.0
    for train, test in folds:
        if not (_has_both(positive[train]) and _has_both(positive[test])):
            return 0.0
        scores, _ = _ranking(values, kind, positive, train, test)
        lowest = min(lowest, roc_auc_score(positive[test], scores))
        if lowest <= _LEAK_AUC:
            return 0.0
    return lowest


def _ranking(
    values: Floats, kind: str, positive: NDArray[np.bool_], train: Rows, test: Rows
) -> tuple[Floats, float]:
    """Return scores of test rows by one column, and the AUC in training (or 1)."""
    if kind == "category":
        codes = np.nan_to_num(values, nan=0.0).astype(np.intp)
        counts = np.bincount(codes[train], minlength=codes.max() + 1)
        hits = np.bincount(codes[train[positive[train]]], minlength=counts.size)
        means = (hits + positive[train].mean()) / (counts + 1)
        return means[codes[test]], 1.0
    best: tuple[Floats, float] = (np.zeros(test.size), 0.0)
    # missing values may come first or last
    for end in (-np.inf, np.inf) if np.isnan(values).any() else (0.0,):
        filled = np.where(np.isnan(values), end, values)
        ranks = np.unique(filled, return_inverse=True)[1].astype(np.float64)
        auc = roc_auc_score(positive[train], ranks[train])
        sign = 1.0 if auc >= 0.5 else -1.0
        if max(auc, 1 - auc) > best[1]:
            best = (sign * ranks[test], max(auc, 1 - auc))
    return best


def _has_both(positive: NDArray[np.bool_]) -> bool:
    return bool(positive.any() and not positive.all())


def _copies(
    table: pl.DataFrame | sparse.csr_array, folds: Folds
) -> Iterator[TableNotice]:
    marks = _row_marks(table)
    n_tested = sum(test.size for _, test in folds)
    n_copies = sum(
        # by sorting: NumPy 2.0 fails to tabulate numbers above 2^63
        int(np.isin(marks[test], marks[train], kind="sort").sum())
        for train, test in folds
    )
    if n_copies < 2 or n_copies < _RARE_COPIES * n_tested:
        return
    n_rows = table.shape[0]
    expected = n_tested * min(1.0, n_rows * _chance_of_equal_rows(table))
    if n_copies > 10 * expected:
        yield TableNotice(
            "copies",
            f"{n_copies} of {n_tested} test rows have an exact copy among the training "
            f"rows{' of their fold' * (len(folds) > 1)}, so the results are too "
            "optimistic; remove the copies, or keep them together as a group",
        )


def _row_marks(table: pl.DataFrame | sparse.csr_array) -> NDArray[Any]:
    """Return one number per row, equal for equal rows."""
    if isinstance(table, pl.DataFrame):
        plain = [series.name for series in table.iter_columns() if is_plain(series)]
        if not plain:
            return np.arange(table.height)
        return table.select(plain).hash_rows().to_numpy()
    weights = np.random.default_rng(0).random(table.shape[1])
    return np.asarray(table @ weights)


def _chance_of_equal_rows(table: pl.DataFrame | sparse.csr_array) -> float:
    """Return the probability that two rows are equal if columns are independent."""
    if isinstance(table, pl.DataFrame):
        chance = 1.0
        for series in filter(is_plain, table.iter_columns()):
            counts = series.alias("v").value_counts()["count"].to_numpy()
            chance *= float(np.square(counts / counts.sum()).sum())
        return chance
    filled = table.count_nonzero(axis=0) / table.shape[0]
    return float(np.prod(filled**2 + (1 - filled) ** 2))
