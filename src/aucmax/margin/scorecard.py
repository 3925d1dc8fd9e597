r"""A fitted convex combination as a scorecard: what gives points, and how many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._validation import FloatArray
from aucmax.margin import _scorecard_text
from aucmax.margin._scorecard_rows import (
    Band,
    FeatureBands,
    ScorecardRow,
    merge_bands,
    share_given,
    shares,
    values_of,
)

__all__ = ["Band", "FeatureBands", "Scorecard", "ScorecardRow"]

View = Literal["rows", "bands"]


@dataclass(frozen=True, repr=False)
class Scorecard:
    r"""Points that add up to a score.

    A stump gives its points if the value lies on its side of the threshold, and 0 else.
    A feature that counts evenly gives 0 points at one end of its range in training and
    all its points at the other; values beyond the range give less than 0 or more than
    all. Points are never negative otherwise: a feature that speaks against gives its
    points for small values. With P the sum of a case's points,

    .. math:: \text{decision\_function} =
              \text{scale} \cdot \Big(\frac{2 P}{\text{total}} - 1\Big)

    exactly, before points are rounded; and a case that meets every rule has `total`
    points. Rounding a card of k rows moves P by less than k units of the last decimal.

    Use :meth:`from_stumps` or :meth:`from_features` to make one. Hypotheses on the same
    feature and threshold become one row, those without weight or effect none.

    Attributes
    ----------
    rows : list of ScorecardRow
        The lines, most points first.
    total : float
        The sum of all points.
    decimals : int or None
        To how many decimals points are rounded, so that they still sum to `total`.
    scale : float
        The sum of the weights: 1 for a convex combination.

    Examples
    --------
    >>> from aucmax.margin.scorecard import Scorecard
    >>> card = Scorecard.from_stumps(
    ...     ["age", "pressure"], [0, 0, 1], [45.5, 60.5, 120.0], [1, 1, -1],
    ...     [0.5, 0.2, 0.3],
    ... )
    >>> print(card)
    Scorecard: 3 rules on 2 features, 100 points in all
    <BLANKLINE>
     points  rule
       50.0  age > 45.5
       30.0  pressure <= 120
       20.0  age > 60.5
    <BLANKLINE>
    score = 2 * points / 100 - 1
    >>> card.bands()[0].bands[1]
    Band(low=45.5, high=60.5, points=50.0)
    """

    rows: list[ScorecardRow]
    total: float
    decimals: int | None
    scale: float

    @classmethod
    def from_stumps(
        cls,
        names: Sequence[str],
        columns: ArrayLike,
        thresholds: ArrayLike,
        directions: ArrayLike,
        weights: ArrayLike,
        *,
        total: float = 100.0,
        decimals: int | None = 1,
    ) -> Self:
        """Make a card of ``direction * (+1 if value > threshold else -1)``.

        Parameters
        ----------
        names : sequence of str
            Names of the columns of the data.
        columns : array-like of int of shape (n_stumps,)
            The column that each stump looks at.
        thresholds, directions, weights : array-like of shape (n_stumps,)
            Its threshold, its direction (+1 or -1) and its weight. A negative weight
            turns the direction round.
        total : float
            The sum of all points.
        decimals : int or None
            Decimals of the points; None leaves them exact.

        Returns
        -------
        Scorecard
            The card.
        """
        place = np.asarray(columns, dtype=np.intp)
        where = _numbers(thresholds, place.size, "thresholds")
        signs = _numbers(directions, place.size, "directions")
        signed = _numbers(weights, place.size, "weights") * signs
        if not (np.abs(signs) == 1.0).all():
            raise ValueError(f"directions must be +1 or -1, got {signs.tolist()}.")
        _check_columns(place, len(names))
        stumps, owner = np.unique(
            np.stack([place, where], axis=1), axis=0, return_inverse=True
        )
        netted = np.bincount(owner.ravel(), weights=signed, minlength=len(stumps))
        parts = [
            ScorecardRow(str(names[int(k)]), float(t), _sign(w), 0.0, abs(w), int(k))
            for (k, t), w in zip(stumps, netted.tolist(), strict=True)
        ]
        return cls._of(parts, total, decimals)

    @classmethod
    def from_features(
        cls,
        names: Sequence[str],
        weights: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        *,
        total: float = 100.0,
        decimals: int | None = 1,
    ) -> Self:
        """Make a card of features, each mapped evenly from its range to [-1, 1].

        Parameters
        ----------
        names : sequence of str
            Names of the features.
        weights : array-like of shape (n_features,)
            Their weights; a feature of negative weight gives points for small values.
        low, high : array-like of shape (n_features,)
            The values mapped to -1 and to +1. A feature of equal ends is constant, has
            the value 0, and is left out.
        total : float
            The sum of all points.
        decimals : int or None
            Decimals of the points; None leaves them exact.

        Returns
        -------
        Scorecard
            The card.
        """
        n = len(names)
        signed = _numbers(weights, n, "weights").tolist()
        ends = zip(
            _numbers(low, n, "low").tolist(),
            _numbers(high, n, "high").tolist(),
            strict=True,
        )
        parts = [
            ScorecardRow(str(names[k]), None, _sign(w), 0.0, abs(w), k, start, end)
            for k, (w, (start, end)) in enumerate(zip(signed, ends, strict=True))
            if start != end
        ]
        return cls._of(parts, total, decimals)

    @classmethod
    def _of(cls, parts: list[ScorecardRow], total: float, decimals: int | None) -> Self:
        """Share the total among the parts by weight, and sort them."""
        if not (np.isfinite(total) and total > 0.0):
            raise ValueError(f"total must be a positive number, got {total!r}.")
        parts = [part for part in parts if part.weight > 0.0]
        parts.sort(key=lambda part: (-part.weight, part.column, part.threshold or 0.0))
        weights = np.array([part.weight for part in parts])
        points = shares(weights, total, decimals)
        rows = [
            part._replace(points=points_of_it)
            for part, points_of_it in zip(parts, points.tolist(), strict=True)
        ]
        return cls(rows, float(total), decimals, float(weights.sum()))

    def in_units(self, raw_value: Callable[[int, float], float]) -> Self:
        """Return the card of the same rules, told on another scale.

        Parameters
        ----------
        raw_value : callable
            Gives for a column and a number in it the number to show; it must grow with
            that number. :meth:`aucmax.tables.TableEncoder.raw_value` is one.

        Returns
        -------
        Scorecard
            The card with other thresholds, or ends of the ranges.
        """
        rows = [
            row._replace(
                threshold=None
                if row.threshold is None
                else raw_value(row.column, row.threshold),
                low=raw_value(row.column, row.low),
                high=raw_value(row.column, row.high),
            )
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def points_for(self, X: Any, *, exact: bool = False) -> FloatArray:
        """Add up the points of each row of data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Raw features, in the order of the names.
        exact : bool
            If True, use points before rounding.

        Returns
        -------
        ndarray of shape (n_rows,)
            The points.
        """
        data = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X)
        if data.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {data.shape}.")
        points = np.zeros(data.shape[0])
        for row in self.rows:
            most = row.weight * self.total / self.scale if exact else row.points
            points += most * share_given(row, values_of(row, data))
        return points

    def score(self, points: ArrayLike) -> FloatArray:
        """Turn points into the model's decision function.

        Parameters
        ----------
        points : array-like
            Sums of points.

        Returns
        -------
        ndarray
            ``scale * (2 * points / total - 1)``.
        """
        return self.scale * (2.0 * np.asarray(points, dtype=float) / self.total - 1.0)

    def bands(self) -> list[FeatureBands]:
        """Merge the stumps of each feature into steps.

        Returns
        -------
        list of FeatureBands
            One for each feature, that with the largest step first. A case has the
            points of one band of each feature, and their sum is its points.

        Raises
        ------
        ValueError
            If points grow evenly, so that there are no steps.
        """
        if any(row.threshold is None for row in self.rows):
            raise ValueError(
                "points of this card grow evenly with the features, so there are no "
                "bands. Fit with hypotheses='stumps', or see its rows."
            )
        by_column: dict[int, list[ScorecardRow]] = {}
        for row in self.rows:
            by_column.setdefault(row.column, []).append(row)
        merged = [merge_bands(rows, self.decimals) for rows in by_column.values()]
        return sorted(merged, key=lambda one: -max(band.points for band in one.bands))

    def to_text(self, view: View = "rows", max_rows: int | None = 20) -> str:
        """Write the card as a table of plain text.

        Parameters
        ----------
        view : {"rows", "bands"}
            One line for each rule, or one block for each feature.
        max_rows : int or None
            The most rules, or features, to show; the rest is summed up in one line.

        Returns
        -------
        str
            The table.
        """
        return _scorecard_text.as_text(self, view, max_rows)

    def to_html(self, view: View = "rows", max_rows: int | None = 50) -> str:
        """Write the card as an HTML table that needs nothing else, and no script.

        Parameters
        ----------
        view, max_rows
            As in :meth:`to_text`.

        Returns
        -------
        str
            The table; names are escaped.
        """
        return _scorecard_text.as_html(self, view, max_rows)

    def to_pandas(self) -> Any:
        """Return the rows as a data frame.

        Returns
        -------
        pandas.DataFrame
            A column for each field of :class:`ScorecardRow`.
        """
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(self.rows, columns=list(ScorecardRow._fields))

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def _numbers(values: ArrayLike, n: int, name: str) -> FloatArray:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n,) or not np.isfinite(numbers).all():
        raise ValueError(
            f"{name} must be {n} finite numbers, got shape {numbers.shape}: {numbers}."
        )
    return numbers


def _check_columns(columns: NDArray[np.intp], n_names: int) -> None:
    if columns.size and not 0 <= columns.min() <= columns.max() < n_names:
        raise ValueError(
            f"columns reach from {columns.min()} to {columns.max()}, but there are "
            f"{n_names} names."
        )


def _sign(weight: float) -> int:
    return 1 if weight >= 0.0 else -1
