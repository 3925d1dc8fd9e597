"""What is to be ranked: the level of each row, and the query it belongs to."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax.tables.grading import Grading

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """The level of each row with the values it stands for, and the queries.

    Attributes
    ----------
    labels : ndarray of int64 of shape (rows,)
        1 where a row is positive and 0 elsewhere, or the level of relevance.
    grading : Grading
        What the values of the column mean.
    queries : ndarray of int64 of shape (rows,), or None
        Number of the query of each row; None if all rows are ranked together.
    """

    labels: NDArray[np.int64]
    grading: Grading
    queries: NDArray[np.int64] | None = None

    @property
    def relevant(self) -> NDArray[np.int64]:
        """1 where a row is above the lowest level: where it is positive."""
        return np.asarray(self.labels > self.grading.lowest, dtype=np.int64)

    @property
    def is_graded(self) -> bool:
        """Whether there are more than two levels."""
        return self.grading.is_graded

    @property
    def n_positive(self) -> int:
        """Number of rows above the lowest level."""
        return int(self.relevant.sum())

    @property
    def n_negative(self) -> int:
        """Number of the other rows."""
        return self.labels.size - self.n_positive

    @property
    def level_counts(self) -> dict[int, int]:
        """Number of rows of each level."""
        levels, sizes = np.unique(self.labels, return_counts=True)
        return dict(zip(levels.tolist(), sizes.tolist(), strict=True))

    @property
    def n_queries(self) -> int | None:
        """Number of queries; None if all rows are ranked together."""
        return None if self.queries is None else int(np.unique(self.queries).size)

    @property
    def n_usable_queries(self) -> int | None:
        """Number of queries with rows of two levels, the only ones that can count."""
        return None if self.queries is None else len(self.blocks)

    @cached_property
    def blocks(self) -> list[NDArray[np.intp]]:
        """Rows that are ranked against each other: of each query with two levels."""
        if self.queries is None:
            return [np.arange(self.labels.size)]
        order = np.argsort(self.queries, kind="stable")
        starts = np.flatnonzero(np.diff(self.queries[order])) + 1
        return [
            rows
            for rows in np.split(order, starts)
            if self.labels[rows].min() < self.labels[rows].max()
        ]

    def take(self, rows: NDArray[np.intp]) -> "Target":
        """Return the target of some of the rows.

        Parameters
        ----------
        rows : ndarray of int
            Their numbers.

        Returns
        -------
        Target
        """
        queries = None if self.queries is None else self.queries[rows]
        return replace(self, labels=self.labels[rows], queries=queries)

    def positions(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of the negatives of its query that each row outranks.

        Unlike scores, these compare rows of different queries.

        Parameters
        ----------
        scores : ndarray of shape (rows,)
            Higher scores rank higher.

        Returns
        -------
        ndarray of shape (rows,)
            Ties count half; 1/2 in a query without negatives.
        """
        shares = np.full(scores.size, 0.5)
        relevant = self.relevant
        for rows in self.blocks:
            negatives = np.sort(scores[rows][relevant[rows] == 0])
            if negatives.size:
                below = np.searchsorted(negatives, scores[rows], side="left")
                up_to = np.searchsorted(negatives, scores[rows], side="right")
                shares[rows] = (below + up_to) / (2 * negatives.size)
        return shares

    @property
    def query_weights(self) -> NDArray[np.float64] | None:
        """Weights of rows by which each query with both classes counts alike.

        A ROC curve over positions with these weights is about the mean of the curves
        of the queries. None without queries.
        """
        if self.queries is None:
            return None
        relevant = self.relevant
        weights = np.zeros(relevant.size)
        for rows in self.blocks:
            n_positive = int(relevant[rows].sum())
            n_negative = rows.size - n_positive
            if n_positive and n_negative:
                shares = np.array([1 / n_negative, 1 / n_positive])
                weights[rows] = shares[relevant[rows]]
        return weights

    def to_dict(self) -> dict[str, Any]:
        """Return what is ranked in simple values for JSON, without the rows.

        Returns
        -------
        dict
        """
        record: dict[str, Any] = {
            "rows": int(self.labels.size),
            "positive_rows": self.n_positive,
            "queries": self.n_queries,
            "usable_queries": self.n_usable_queries,
        }
        if self.is_graded:
            return {**record, "levels": self.level_counts}
        negatives = self.grading.negatives
        return {
            **record,
            "positive": self.grading.positive,
            "negative": negatives[0] if len(negatives) == 1 else negatives,
        }
