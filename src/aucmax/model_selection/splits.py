"""What models learn from and what they are tested on: folds of a table, or two."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.folds import Folds, split_rows
from aucmax._core.mapped import is_on_disk
from aucmax.tables import (
    TableNotice,
    Target,
    as_table,
    check_table,
    match_target,
)
from aucmax.tables._scaling import fit_width

__all__ = ["Splits", "choose_folds", "find_notices"]

# rows that are looked at where not all are in memory
_MOST_OF_A_CLASS = 20_000


@dataclass(frozen=True)
class Splits:
    """A table with its target, and the rows of training and test by their numbers.

    Attributes
    ----------
    table : polars.DataFrame or csr_array
        All rows.
    target : Target
        What is ranked.
    folds : list of (ndarray, ndarray)
        Training and test rows.
    scheme : {"folds", "groups", "times", "test"}
        How rows were divided.
    """

    table: Any
    target: Target
    folds: Folds
    scheme: str

    @classmethod
    def of_folds(
        cls, table: Any, target: Target, n_folds: int | None, random_state: int
    ) -> Self:
        """Divide the rows of one table."""
        folds = split_rows(target, n_folds, random_state)
        by = {"times": target.times, "groups": target.groups}
        scheme = next((n for n, v in by.items() if v is not None), "folds")
        return cls(table, target, folds, scheme)

    @classmethod
    def of_two_tables(cls, table: Any, target: Target, X: Any, y: Any) -> Self:
        """Learn from all rows of the first, and test on those of the second."""
        other = y
        if not isinstance(y, Target):
            other = match_target(y, target.grading, name="the target of the test rows")
        if (target.queries is None) != (other.queries is None):
            raise ValueError(
                "rows of training and test must both have queries, or neither of them."
            )
        if other.queries is None and min(other.n_positive, other.n_negative) < 2:
            raise ValueError(
                f"{other.n_positive} of {other.labels.size} test rows are positive; at "
                "least two rows of either class are needed to test models."
            )
        rows = np.arange(target.labels.size + other.labels.size, dtype=np.intp)
        fold = (rows[: target.labels.size], rows[target.labels.size :])
        both = _stacked(table, as_table(X))
        return cls(both, target.followed_by(other), [fold], "test")

    def check(self) -> list[TableNotice]:
        """Look for leaks, identifiers and the like."""
        return check_table(self.table, self.target.relevant, self.folds)


def choose_folds(
    target: Target, n_folds: int | None = None, random_state: int = 0
) -> int:
    """Return a number of folds that the target allows."""
    return len(split_rows(target, n_folds, random_state))


def find_notices(X: Any, target: Target) -> list[TableNotice]:
    """Look for leaks and the like on the usual folds of a table.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows. Of a table on disk some are looked at: up to 20,000 of each class.
    target : Target
        What is ranked.

    Returns
    -------
    list of TableNotice
        None if the rows cannot be divided into folds.
    """
    if is_on_disk(X):
        rows = _some_rows(target)
        X, target = X[rows].collect(), target.take(rows)
    try:
        return Splits.of_folds(as_table(X), target, None, 0).check()
    except ValueError:
        return []


def _some_rows(target: Target) -> NDArray[np.intp]:
    """Choose rows of both classes, evenly over the table, in ascending order."""
    chosen = []
    for members in (target.relevant > 0, target.relevant == 0):
        rows = np.flatnonzero(members)
        places = np.linspace(0, rows.size - 1, min(rows.size, _MOST_OF_A_CLASS))
        chosen.append(rows[places.astype(np.intp)])
    return np.sort(np.concatenate(chosen))


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, pl.DataFrame) != isinstance(second, pl.DataFrame):
        raise ValueError(
            "the rows of training and test must both be tables with named columns, or "
            "both sparse matrices."
        )
    if isinstance(first, pl.DataFrame):
        missing = [name for name in first.columns if name not in second.columns]
        if missing:
            shown = ", ".join(map(repr, missing[:5]))
            raise ValueError(
                f"the test rows have no column {shown}, which the training rows have."
            )
        return pl.concat([first, second.select(first.columns)], how="vertical_relaxed")
    width = max(first.shape[1], second.shape[1])
    return sparse.vstack([fit_width(first, width), fit_width(second, width)], "csr")
