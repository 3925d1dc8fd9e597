"""The target: the level of each row, its query and its weight."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.censored_times import join_target
from aucmax.tables.folds import unit_of_rows

# further values per row
_OF_ROWS = ("queries", "weights", "groups", "times", "durations")


@dataclass(frozen=True)
class Grading:
    """The level of each value of a target: 0 and 1, or the values as integers."""

    values: tuple[Any, ...]
    levels: tuple[int, ...]

    @classmethod
    def two_classes(cls, negatives: Sequence[object], positive: object) -> "Grading":
        """Rank one value above all others."""
        return cls((*negatives, positive), (*(0 for _ in negatives), 1))

    @property
    def is_graded(self) -> bool:
        """Whether there are more than two levels."""
        return len(set(self.levels)) > 2

    @property
    def negatives(self) -> list[Any]:
        """The values that count as negative."""
        return [v for v, k in zip(self.values, self.levels, strict=True) if not k]

    @property
    def positive(self) -> Any:
        """The value of the highest level: of two classes the positive one."""
        return self.values[self.levels.index(max(self.levels))]

    @property
    def classes(self) -> tuple[Any, ...]:
        """The possible predictions: the two classes, or the levels."""
        if self.is_graded or len(self.negatives) == 1:
            return self.values
        return (f"not {as_text(self.positive)}", as_text(self.positive))

    @property
    def by_text(self) -> dict[str, int]:
        """The level of each value, by its spelling; 1 and 0 are true and false."""
        level_of_text = dict(zip(map(as_text, self.values), self.levels, strict=True))
        for spellings in (("true", "false"), ("1", "0")):
            if level_of_text.keys() == {*spellings}:
                true, false = (level_of_text[word] for word in spellings)
                level_of_text |= {"true": true, "1": true, "false": false, "0": false}
        return level_of_text


@dataclass(frozen=True)
class Target:
    """The level of each row with the values it stands for, and the queries.

    Attributes
    ----------
    labels : ndarray of int64 of shape (rows,)
        1 where a row is positive and 0 elsewhere, or the level of relevance.
    grading : Grading
        Meaning of the values of the column.
    queries : ndarray of int64 of shape (rows,), or None
        Number of the query of each row; None if all rows are ranked together.
    weights : ndarray of float64 of shape (rows,), or None
        Weight of each row, above 0; None if all are equal.
    groups : ndarray of int64 of shape (rows,), or None
        Number of the group of each row: rows of one group are never divided between
        training and test.
    times : ndarray of float64 of shape (rows,), or None
        When each row was: models are tested on later rows than they learn from.
    durations : ndarray of float64 of shape (rows,), or None
        Of censored times: how long each row was observed, until its event where the
        label is 1, until it was censored where it is 0. The queries are then strata.
    """

    labels: NDArray[np.int64]
    grading: Grading
    queries: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None
    durations: NDArray[np.float64] | None = None

    @property
    def is_survival(self) -> bool:
        """Whether the rows have censored times."""
        return self.durations is not None

    @cached_property
    def survival(self) -> NDArray[np.void]:
        """Events and times as one array, the `y` of survival models."""
        assert self.durations is not None
        return join_target(self.labels, self.durations)

    @cached_property
    def strata(self) -> NDArray[np.int64]:
        """The numbers that folds balance: above 0 for rows that others rank below.

        Of two classes the positive rows. Of censored times 1 for the earlier half of
        the events, 0 for the later half, and -1 for censored rows.
        """
        if self.durations is None:
            return self.relevant
        strata = self.labels - 1
        events = np.flatnonzero(self.labels)
        order = np.argsort(self.durations[events], kind="stable")
        strata[events[order[: (events.size + 1) // 2]]] = 1
        return strata

    @property
    def high(self) -> NDArray[np.int64]:
        """1 where a row should rank high: where it is positive, or an early event."""
        return np.asarray(self.strata > 0, dtype=np.int64)

    @property
    def unit(self) -> NDArray[np.int64] | None:
        """The units that no fold divides: groups, else queries, but not strata."""
        queries = None if self.is_survival else self.queries
        unit: NDArray[np.int64] | None = unit_of_rows(queries, self.groups, self.times)
        return unit

    @property
    def relevant(self) -> NDArray[np.int64]:
        """1 where a row is above the lowest level: where it is positive."""
        return np.asarray(self.labels > min(self.grading.levels), dtype=np.int64)

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
        labels = self.labels
        return [
            rows
            for rows in np.split(order, starts)
            if self.is_survival or labels[rows].min() < labels[rows].max()
        ]

    def take(self, rows: NDArray[np.intp]) -> "Target":
        """Return the target of some of the rows.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of rows.

        Returns
        -------
        Target
        """
        values = {name: getattr(self, name) for name in ("labels", *_OF_ROWS)}
        subset: Any = {k: v if v is None else v[rows] for k, v in values.items()}
        return replace(self, **subset)

    def followed_by(self, other: "Target") -> "Target":
        """Return the target of these rows and others, whose queries are different.

        Parameters
        ----------
        other : Target
            The others, with queries and weights if these have them.

        Returns
        -------
        Target
        """
        joined: dict[str, Any] = {}
        for name in _OF_ROWS:
            first, second = getattr(self, name), getattr(other, name)
            if name in ("queries", "weights") and (first is None) != (second is None):
                raise ValueError(f"both targets need {name}, or neither.")
            is_joined = first is not None and second is not None
            if is_joined and name in ("queries", "groups"):
                second = second + first.max() + 1
            joined[name] = np.concatenate([first, second]) if is_joined else None
        labels = np.concatenate([self.labels, other.labels])
        return replace(self, labels=labels, **joined)

    def positions(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the negatives of its query that each row outranks.

        Unlike scores, shares are comparable between queries. Ties count half; a query
        without negatives gives 1/2. Of censored times, the share of all rows.

        Parameters
        ----------
        scores : ndarray of shape (rows,)
            Higher scores rank higher.

        Returns
        -------
        ndarray
        """
        shares = np.full(scores.size, 0.5)
        relevant = self.relevant
        weights = np.ones(scores.size) if self.weights is None else self.weights
        for rows in self.blocks:
            negatives = rows if self.is_survival else rows[relevant[rows] == 0]
            if negatives.size:
                negatives = negatives[np.argsort(scores[negatives], kind="stable")]
                totals = np.concatenate([[0.0], np.cumsum(weights[negatives])])
                ranked = scores[negatives]
                below = totals[np.searchsorted(ranked, scores[rows], side="left")]
                up_to = totals[np.searchsorted(ranked, scores[rows], side="right")]
                shares[rows] = (below + up_to) / (2 * totals[-1])
        return shares

    def to_dict(self) -> dict[str, Any]:
        """Return a summary in simple values for JSON, without the rows.

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
        if self.durations is not None:
            record["longest_duration"] = float(self.durations.max())
        if self.is_graded:
            return {**record, "levels": self.level_counts}
        negatives = self.grading.negatives
        return {
            **record,
            "positive": self.grading.positive,
            "negative": negatives[0] if len(negatives) == 1 else negatives,
        }


def as_text(value: object) -> str:
    """Return one spelling of a value for all types: 1, 1.0 and "1" are "1"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    return re.sub(r"^([+-]?[0-9]+)\.0+$", r"\1", text)


def has_constant_scores(target: Target, scores: NDArray[np.float64]) -> bool:
    """Return whether all rows of every query have the same score."""
    return all(np.ptp(scores[rows]) == 0 for rows in target.blocks)
