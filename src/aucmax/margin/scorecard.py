r"""A fitted convex combination as a scorecard: rules, and the points that they give."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray

__all__ = ["Band", "Scorecard", "ScorecardRow"]

_MAX_NAME_LENGTH = 60


class ScorecardRow(NamedTuple):
    """One line of a scorecard.

    Attributes
    ----------
    feature : str
        Name of the feature.
    threshold : float or None
        Where points begin or end; None if points grow evenly with the feature.
    direction : int
        +1 if large values of the feature give points, -1 if small ones do.
    points : float
        Points given, rounded to the decimals of the card.
    weight : float
        Weight of the hypothesis, positive and not rounded.
    column : int
        Place of the feature in the data.
    low, high : float
        Where points grow evenly, the range of the feature in training, with 0 points at
        one end and `points` at the other; NaN for a rule with a threshold.
    """

    feature: str
    threshold: float | None
    direction: int
    points: float
    weight: float
    column: int
    low: float = math.nan
    high: float = math.nan


class Band(NamedTuple):
    """Points for ``low < value <= high``; the outer ends are infinite."""

    low: float
    high: float
    points: float


@dataclass(frozen=True, repr=False)
class Scorecard:
    r"""Points that add up to a score.

    A stump gives its points if the value lies on its side of the threshold, and 0 else.
    A feature that counts evenly gives 0 points at one end of its range in training and
    all its points at the other; values beyond the range give less than 0 or more than
    all. A feature that counts against gives its points for small values. With P the sum
    of a case's points,

    .. math:: \text{decision\_function} =
              \text{scale} \cdot \Big(\frac{2 P}{\text{total}} - 1\Big)

    exactly, before points are rounded. Rounding a card of k rows moves P by less than k
    units of the last decimal. Made by :meth:`aucmax.MarginRanker.scorecard`; stumps on
    the same feature and threshold become one row.

    Attributes
    ----------
    rows : list of ScorecardRow
        The lines, most points first. ``pandas.DataFrame(card.rows)`` is a frame.
    total : float
        The sum of all points.
    decimals : int or None
        Decimals to which points are rounded, so that they still sum to `total`.
    scale : float
        The sum of the weights: 1 for a convex combination.

    Examples
    --------
    >>> from aucmax.margin import Scorecard
    >>> card = Scorecard.from_stumps(
    ...     ["age", "pressure"], [0, 0, 1], [45.5, 60.5, 120.0], [0.5, 0.2, -0.3]
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
    >>> name, bands = card.bands()[0]
    >>> bands[1]
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
        weights: ArrayLike,
        *,
        total: float = 100.0,
        decimals: int | None = 1,
    ) -> Self:
        """Make a card of ``weight * (+1 if value > threshold else -1)``."""
        stumps, owner = np.unique(
            np.column_stack([columns, thresholds]), axis=0, return_inverse=True
        )
        sums = np.bincount(owner.ravel(), np.asarray(weights), len(stumps)).tolist()
        parts = [
            ScorecardRow(str(names[int(k)]), t, 1 if w > 0 else -1, 0.0, abs(w), int(k))
            for (k, t), w in zip(stumps.tolist(), sums, strict=True)
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

        A feature of equal ends is constant, has the value 0, and is left out.
        """
        numbers = np.column_stack([weights, low, high]).tolist()
        parts = [
            ScorecardRow(
                str(name), None, 1 if w > 0 else -1, 0.0, abs(w), k, start, end
            )
            for k, (name, (w, start, end)) in enumerate(
                zip(names, numbers, strict=True)
            )
            if start != end
        ]
        return cls._of(parts, total, decimals)

    @classmethod
    def _of(cls, parts: list[ScorecardRow], total: float, decimals: int | None) -> Self:
        """Share the total among the parts by weight; rounded shares sum to it, too."""
        if not (np.isfinite(total) and total > 0.0):
            raise ValueError(f"total must be a positive number, got {total!r}.")
        parts = [part for part in parts if part.weight > 0.0]
        parts.sort(key=lambda part: (-part.weight, part.column, part.threshold or 0.0))
        weights = np.array([part.weight for part in parts])
        scale = float(weights.sum())
        points = weights * (total / scale) if parts else weights
        if decimals is not None:
            units = points * 10.0**decimals
            whole = np.floor(units + 1e-9)
            missing = round(total * 10.0**decimals) - int(whole.sum())
            whole[np.argsort(whole - units, kind="stable")[: max(missing, 0)]] += 1.0
            points = np.round(whole / 10.0**decimals, decimals)
        rows = [
            part._replace(points=own)
            for part, own in zip(parts, points.tolist(), strict=True)
        ]
        return cls(rows, float(total), decimals, scale)

    def in_units(self, raw_value: Callable[[int, float], float]) -> Self:
        """Return the card with thresholds and ranges on another scale.

        ``raw_value(column, number)`` must grow with the number, as
        :meth:`aucmax.tables.TableEncoder.raw_value` does.

        Returns
        -------
        Scorecard
        """

        def converted(row: ScorecardRow) -> ScorecardRow:
            if row.threshold is not None:
                return row._replace(threshold=raw_value(row.column, row.threshold))
            low, high = (raw_value(row.column, end) for end in (row.low, row.high))
            return row._replace(low=low, high=high)

        return replace(self, rows=[converted(row) for row in self.rows])

    def points_for(self, X: Any, *, exact: bool = False) -> FloatArray:
        """Add up the points of each row of raw features; `exact`: before rounding.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        data = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X)
        if data.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {data.shape}.")
        points = np.zeros(data.shape[0])
        for row in self.rows:
            values = _column(data, row)
            if row.threshold is not None:
                share = (values > row.threshold).astype(np.float64)
            else:
                share = (values - row.low) / (row.high - row.low)
            most = row.weight * self.total / self.scale if exact else row.points
            points += most * (share if row.direction > 0 else 1.0 - share)
        return points

    def score(self, points: ArrayLike) -> FloatArray:
        """Turn points into scores: ``scale * (2 * points / total - 1)``.

        Returns
        -------
        ndarray
        """
        return self.scale * (2.0 * np.asarray(points, dtype=float) / self.total - 1.0)

    def bands(self) -> list[tuple[str, list[Band]]]:
        """Merge the stumps of each feature into steps, ascending; neighbours differ.

        A case has the points of one band of each feature.

        Returns
        -------
        list of (str, list of Band)
            The name of each feature, and its bands.
        """
        if any(row.threshold is None for row in self.rows):
            raise ValueError(
                "points of this card grow evenly with the features, so there are no "
                "bands. Fit with hypotheses='stumps', or see its rows."
            )
        found = []
        for column in dict.fromkeys(row.column for row in self.rows):
            own = [row for row in self.rows if row.column == column]
            # below all thresholds small values score; each one then switches one row
            points = sum(row.points for row in own if row.direction < 0)
            bands = [Band(-math.inf, math.inf, points)]
            steps = [(row.threshold or 0.0, row.direction * row.points) for row in own]
            for threshold, step in sorted(steps):
                points += step
                points = round(points, 12 if self.decimals is None else self.decimals)
                if points != bands[-1].points:
                    bands[-1] = bands[-1]._replace(high=threshold)
                    bands.append(Band(threshold, math.inf, points + 0.0))  # not -0.0
            found.append((own[0].feature, bands))
        return found

    def to_text(self, view: str = "rows", max_rows: int | None = 20) -> str:
        """Write the card as text: one line per rule, or per band (`view` "bands").

        Returns
        -------
        str
        """
        if view not in ("rows", "bands"):
            raise ValueError(f"view must be 'rows' or 'bands', got {view!r}.")
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"max_rows must be at least 1 or None, got {max_rows!r}.")
        lines = self._band_lines() if view == "bands" else self._rule_lines()
        n_features = len({row.column for row in self.rows})
        rules = f"{len(self.rows)} rules on " if len(self.rows) > n_features else ""
        features = f"{n_features} feature{'s' * (n_features != 1)}"
        text = [
            f"Scorecard: {rules}{features}, {self.total:g} points in all\n",
            " points  rule",
            *lines[:max_rows],
        ]
        left_out = lines[len(lines[:max_rows]) :]
        if left_out:
            text.append(f"         ... {len(left_out)} more")
        return "\n".join([*text, "", self._relation()])

    def rule(self, row: ScorecardRow) -> str:
        """Write when a row gives its points, for example ``age > 45.5``.

        Returns
        -------
        str
        """
        name = _shown(row.feature)
        if row.threshold is not None:
            near = [one.threshold for one in self.rows if one.column == row.column]
            sign = ">" if row.direction > 0 else "<="
            return f"{name} {sign} {_distinct(row.threshold, near)}"
        start, end = (row.low, row.high)[:: row.direction]
        slope = row.points / (end - start)
        return f"{name}: {slope:+.3g} per unit, 0 at {start:g}, all at {end:g}"

    def _rule_lines(self) -> list[str]:
        return [f" {self._points(row.points)}  {self.rule(row)}" for row in self.rows]

    def _band_lines(self) -> list[str]:
        lines = []
        for name, bands in self.bands():
            ends = [band.high for band in bands]
            for band in bands:
                above = f"> {_distinct(band.low, ends)}" * (band.low > -math.inf)
                up_to = f"<= {_distinct(band.high, ends)}" * (band.high < math.inf)
                range_ = " and ".join(filter(None, (above, up_to))) or "any value"
                lines.append(f" {self._points(band.points)}  {_shown(name)} {range_}")
        return lines

    def _points(self, points: float) -> str:
        text = f"{points:.6g}"
        if self.decimals is not None:
            text = f"{points:.{max(self.decimals, 0)}f}"
        return f"{text:>6}"

    def _relation(self) -> str:
        if not self.rows:
            return "no feature has a weight: every score is 0"
        score = f"2 * points / {self.total:g} - 1"
        if abs(self.scale - 1.0) > 1e-9:
            score = f"{self.scale:.6g} * ({score})"
        exact = [row.weight * self.total / self.scale for row in self.rows]
        is_exact = np.allclose([row.points for row in self.rows], exact, 0.0, 1e-9)
        return f"score = {score}" + ("" if is_exact else ", up to rounding")

    def __repr__(self) -> str:
        return self.to_text()


def _column(data: Any, row: ScorecardRow) -> FloatArray:
    """Return the row's column as dense and finite numbers."""
    if row.column >= data.shape[1]:
        raise ValueError(
            f"X has {data.shape[1]} columns, but {row.feature!r} is column "
            f"{row.column}, counted from 0."
        )
    part = data[:, [row.column]]
    dense = part.toarray() if hasattr(part, "toarray") else part
    values: FloatArray = np.asarray(dense, dtype=np.float64).ravel()
    if not np.isfinite(values).all():
        where = int(np.argmin(np.isfinite(values)))
        raise ValueError(
            f"{row.feature!r} is {values[where]} in row {where}: a card has no points "
            "for a missing value."
        )
    return values


def _distinct(number: float, others: Sequence[float | None]) -> str:
    """Write a number with six digits, or more where another would read the same."""
    for digits in range(6, 18):
        text = f"{number:.{digits}g}"
        if all(one in (None, number) or f"{one:.{digits}g}" != text for one in others):
            break
    return text


def _shown(name: str) -> str:
    """Return a name that stays on its line."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    if len(printable) > _MAX_NAME_LENGTH:
        return printable[: _MAX_NAME_LENGTH - 3] + "..."
    return printable
