"""Notices about a table: leaks, identifiers, copies of rows, constant columns."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.docstrings import documented
from aucmax.metrics import roc_auc_score
from aucmax.tables._cell_values import (
    REGIONAL_DATE_FORMATS,
    is_plain,
    read_dates,
    read_numbers,
)
from aucmax.tables.frames import as_table

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
# below this many rows "all values differ" says nothing
_FEW_ROWS = 20
# cells that decide the type of a text column
_SAMPLE = 1000
# copies that are rarer than this are no matter
_RARE_COPIES = 0.01
_SHOWN_COLUMNS = 5  # and leaks, each with a notice of its own


@documented
@dataclass(frozen=True)
class TableNotice:
    """Something to look at before a result is believed.

    Attributes
    ----------
    kind : str
        "leak", "identifier", "copies", "few positives" or "constant".
    text : str
        One sentence.
    columns : tuple of str
        The columns that it is about.
    """

    kind: str
    text: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return it in simple values for JSON."""
        return {**asdict(self), "columns": list(self.columns)}


@documented
def check_table(X: Any, labels: Any, folds: Folds) -> list[TableNotice]:
    """Look for what makes a cross-validation say too much.

    - A column that alone ranks the rows of every test fold with an AUC above 0.99, by
      its values, or by what training rows say of its categories.
    - A column that names the rows: strings that all differ, or whole numbers that do.
    - Test rows that have an exact copy among the training rows, unless the table is so
      coarse that copies are to be expected.
    - A column that is the same in all training rows of a fold, and not in all rows.
    - Test folds with fewer than ten positive rows.

    Costs about a sort per column. Of a sparse matrix only columns that can rank at all
    are looked at, those that are filled in nearly all rows of a class.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target.
    labels : array-like of shape (rows,)
        True where a row is positive.
    folds : sequence of (ndarray, ndarray)
        Training and test rows of each fold, by their numbers.

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
    table = as_table(X)
    positive = np.asarray(labels, dtype=bool)
    if isinstance(table, pl.DataFrame):
        of_columns = list(_frame_notices(table, positive, folds))
    else:
        # a single large index makes as many columns: only filled ones take memory
        numbers, places = np.unique(table.indices, return_inverse=True)
        shape = table.shape[0], numbers.size
        table = sparse.csr_array((table.data, places, table.indptr), shape=shape)
        of_columns = list(_sparse_notices(table, numbers, positive, folds))
    leaks = [notice for notice in of_columns if notice.kind == "leak"][_SHOWN_COLUMNS:]
    more = TableNotice(
        "leak",
        f"{len(leaks)} more columns alone rank the target almost perfectly; of many "
        "columns on few rows some do so by chance",
        tuple(name for notice in leaks for name in notice.columns),
    )
    return [
        *_few_positives(positive, folds),
        *(notice for notice in of_columns if notice not in leaks),
        *[more] * bool(leaks),
        *_copies(table, folds),
    ]


def _few_positives(positive: NDArray[np.bool_], folds: Folds) -> Iterator[TableNotice]:
    counts = [int(positive[test].sum()) for _, test in folds]
    if min(counts) < _FEW_POSITIVES:
        yield TableNotice(
            "few positives",
            f"{sum(counts)} positive rows are few for {len(folds)} "
            f"fold{'s' if len(folds) > 1 else ''}: one of them has {min(counts)}, so "
            "intervals are wide and close models cannot be told apart",
        )


def _frame_notices(
    frame: pl.DataFrame, positive: NDArray[np.bool_], folds: Folds
) -> Iterator[TableNotice]:
    constant = []
    for series in filter(is_plain, frame.iter_columns()):
        values, kind = _numbers(series)
        if _is_constant(values):
            continue
        if _names_rows(values, kind):
            yield TableNotice(
                "identifier",
                f"column {series.name!r} is different in every row, so it may be an "
                "identifier; leave it out if it names rows",
                (series.name,),
            )
        if (auc := _lone_auc(values, kind, positive, folds)) > _LEAK_AUC:
            yield _leak(repr(series.name), auc, series.name)
        if any(_is_constant(values[train]) for train, _ in folds):
            constant.append(series.name)
    if constant:
        shown = ", ".join(map(repr, constant[:_SHOWN_COLUMNS]))
        more = len(constant) - _SHOWN_COLUMNS
        yield TableNotice(
            "constant",
            f"column{'s' if len(constant) > 1 else ''} {shown}"
            f"{f' and {more} more' if more > 0 else ''}: one value in all training "
            "rows of a fold, so a model cannot learn from it there",
            tuple(constant),
        )


def _sparse_notices(
    matrix: sparse.csr_array, numbers: Rows, positive: NDArray[np.bool_], folds: Folds
) -> Iterator[TableNotice]:
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
            yield _leak(f"number {numbers[j] + 1}", auc, f"x{numbers[j]}")


def _leak(shown: str, auc: float, name: str) -> TableNotice:
    return TableNotice(
        "leak",
        f"column {shown} alone ranks the target almost perfectly (AUC {auc:.4f} or "
        "more in every fold): probably a leak. Leave it out unless it is known before "
        "the target is",
        (name,),
    )


def _numbers(series: pl.Series) -> tuple[Floats, str]:
    """Return the cells as numbers, missing as NaN: numbers, moments, or mere codes."""
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return _as_floats(series), "number"
    if series.dtype.is_temporal():
        return _as_floats(series.to_physical()), "moment"
    texts = series.cast(pl.String)
    sample = texts.drop_nulls().gather_every(max(1, len(texts) // _SAMPLE))
    if read_numbers(sample).is_mostly_read:
        return read_numbers(texts).values, "number"
    for date_format in (None, *REGIONAL_DATE_FORMATS):
        if read_dates(sample, date_format).is_mostly_read:
            moments = pl.Series(read_dates(texts, date_format).values)
            return _as_floats(moments.to_physical()), "moment"
    return _as_floats(texts.rank("dense")), "category"


def _as_floats(series: pl.Series) -> Floats:
    return np.asarray(series.cast(pl.Float64).to_numpy(), dtype=np.float64)


def _is_constant(values: Floats) -> bool:
    is_missing = np.isnan(values)
    return bool(is_missing.all() or (values == values[0]).all())


def _names_rows(values: Floats, kind: str) -> bool:
    if kind == "moment" or values.size < _FEW_ROWS or np.isnan(values).any():
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
    """Smallest AUC of a column over the test folds; 0 if it is not worth a look."""
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
    values: Floats,
    kind: str,
    positive: NDArray[np.bool_],
    train: Rows,
    test: Rows,
) -> tuple[Floats, float]:
    """Scores of test rows by one column as training rows have it, and the AUC there.

    For categories the AUC is 1: each would know its own rows.
    """
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
        int(np.isin(marks[test], marks[train]).sum()) for train, test in folds
    )
    if n_copies < 2 or n_copies < _RARE_COPIES * n_tested:
        return
    n_rows = table.shape[0]
    expected = n_tested * min(1.0, n_rows * _chance_of_equal_rows(table))
    if n_copies > 10 * expected:
        yield TableNotice(
            "copies",
            f"{n_copies} of {n_tested} test rows have an exact copy among the training "
            "rows of their fold, so models are partly tested on rows that they know; "
            "remove copies, or keep them together as a group",
        )


def _row_marks(table: pl.DataFrame | sparse.csr_array) -> NDArray[Any]:
    """One number per row, equal for equal rows."""
    if isinstance(table, pl.DataFrame):
        plain = [series.name for series in table.iter_columns() if is_plain(series)]
        if not plain:
            return np.arange(table.height)
        return table.select(plain).hash_rows().to_numpy()
    weights = np.random.default_rng(0).random(table.shape[1])
    return np.asarray(table @ weights)


def _chance_of_equal_rows(table: pl.DataFrame | sparse.csr_array) -> float:
    """Chance that two rows are equal if their columns have nothing to do with another.

    More copies than that are not a coincidence.
    """
    if isinstance(table, pl.DataFrame):
        chance = 1.0
        for series in filter(is_plain, table.iter_columns()):
            counts = series.alias("v").value_counts()["count"].to_numpy()
            chance *= float(np.square(counts / counts.sum()).sum())
        return chance
    filled = table.count_nonzero(axis=0) / table.shape[0]
    return float(np.prod(filled**2 + (1 - filled) ** 2))
