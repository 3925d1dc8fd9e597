"""A fitted convex combination as a scorecard: rules, and the points that they give."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.hypotheses.column_access import dense_columns

_MAX_NAME_LENGTH = 60


class ScorecardRow(NamedTuple):
    """One rule of a scorecard, with a threshold or, from `low` to `high`, a slope."""

    feature: str  # its name
    threshold: float | None  # None if points grow evenly with the feature
    direction: int  # 1 if large values give points, -1 if small ones do
    points: float  # rounded to the decimals of the card
    weight: float  # of the hypothesis, positive and not rounded
    column: int  # place of the feature in the data
    low: float = math.nan  # range in training, from 0 points to all
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
    all. With P the sum of a case's points, its combination of hypotheses is
    :math:`\text{scale} (2 P / \text{total} - 1)`, exactly, before points are rounded.
    Rounding a card of k rows moves P by less than k units of the last decimal. Made by
    :meth:`aucmax.MarginRanker.scorecard`; equal stumps become one row.

    Attributes
    ----------
    rows : list of ScorecardRow
        The rules, most points first. ``pandas.DataFrame(card.rows)`` is a frame.
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
        """Make a card of ``weight * (+1 if value > threshold else -1)``.

        Returns
        -------
        Self
        """
        stumps, owner = np.unique(
            np.column_stack([columns, thresholds]), axis=0, return_inverse=True
        )
        sums = np.bincount(owner.ravel(), np.asarray(weights), len(stumps)).tolist()
        rows = [
            ScorecardRow(str(names[int(k)]), t, 1, 0.0, w, int(k))
            for (k, t), w in zip(stumps.tolist(), sums, strict=True)
        ]
        return cls._of(rows, total, decimals)

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

        Returns
        -------
        Self
        """
        numbers = np.column_stack([weights, low, high]).tolist()
        rows = [
            ScorecardRow(str(name), None, 1, 0.0, w, k, start, end)
            for k, (name, (w, start, end)) in enumerate(
                zip(names, numbers, strict=True)
            )
            if start != end  # a constant feature has the value 0
        ]
        return cls._of(rows, total, decimals)

    @classmethod
    def _of(cls, rows: list[ScorecardRow], total: float, decimals: int | None) -> Self:
        """Share the total by weight, of either sign; rounded shares sum to it."""
        if not (np.isfinite(total) and total > 0.0):
            raise ValueError(f"total must be a positive number, got {total!r}.")
        rows = [row for row in rows if row.weight != 0.0]
        rows.sort(key=lambda row: (-abs(row.weight), row.column, row.threshold or 0.0))
        weights = np.array([abs(row.weight) for row in rows])
        scale = float(weights.sum())
        points = weights * (total / scale) if rows else weights
        if decimals is not None:
            units = points * 10.0**decimals
            whole = np.floor(units + 1e-9)
            missing = round(total * 10.0**decimals) - int(whole.sum())
            whole[np.argsort(whole - units, kind="stable")[: max(missing, 0)]] += 1.0
            points = np.round(whole / 10.0**decimals, decimals)
        signs = [1 if row.weight > 0.0 else -1 for row in rows]
        shares = zip(rows, signs, points.tolist(), weights.tolist(), strict=True)
        rows = [
            row._replace(direction=sign, points=share, weight=weight)
            for row, sign, share, weight in shares
        ]
        return cls(rows, float(total), decimals, scale)

    def in_units(self, raw_value: Callable[[int, float], float]) -> Self:
        """Return the card with thresholds and ranges on another scale.

        ``raw_value(column, number)`` must grow with the number, as
        :meth:`aucmax.tables.TableEncoder.raw_value` does.

        Returns
        -------
        Self
        """

        def converted(row: ScorecardRow) -> ScorecardRow:
            if row.threshold is not None:
                return row._replace(threshold=raw_value(row.column, row.threshold))
            low, high = (raw_value(row.column, end) for end in (row.low, row.high))
            return row._replace(low=low, high=high)

        return replace(self, rows=[converted(row) for row in self.rows])

    def points_for(self, X: Any, *, exact: bool = False) -> FloatArray:
        """Add up the points of each row of raw features; `exact`: before rounding.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray
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
        """Merge the stumps of each feature into bands, ascending; neighbours differ.

        A case has the points of one band of each feature.

        Returns
        -------
        list of tuple
        """
        if any(row.threshold is None for row in self.rows):
            raise ValueError(
                "points of this card grow evenly with the features, so there are no "
                "bands. Fit with hypotheses='stumps', or see its rows."
            )
        bands_by_feature = []
        for column in dict.fromkeys(row.column for row in self.rows):
            rules = [row for row in self.rows if row.column == column]
            # below all thresholds small values score; each one then switches one row
            points = sum(row.points for row in rules if row.direction < 0)
            bands = [Band(-math.inf, math.inf, points)]
            steps = [
                (row.threshold or 0.0, row.direction * row.points) for row in rules
            ]
            for threshold, step in sorted(steps):
                points += step
                points = round(points, 12 if self.decimals is None else self.decimals)
                if points != bands[-1].points:
                    bands[-1] = bands[-1]._replace(high=threshold)
                    bands.append(Band(threshold, math.inf, points + 0.0))  # not -0.0
            bands_by_feature.append((rules[0].feature, bands))
        return bands_by_feature

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
        rules = [(row.points, self.rule(row)) for row in self.rows]
        if view == "bands":
            rules = [
                (band.points, _band_rule(name, band, bands))
                for name, bands in self.bands()
                for band in bands
            ]
        places = ".6g" if self.decimals is None else f".{max(self.decimals, 0)}f"
        lines = [f" {points:>6{places}}  {rule}" for points, rule in rules[:max_rows]]
        if len(rules) > len(lines):
            lines.append(f"         ... {len(rules) - len(lines)} more")
        n_features = len({row.column for row in self.rows})
        n_rules = f"{len(self.rows)} rules on " * (len(self.rows) > n_features)
        features = f"{n_features} feature{'s' * (n_features != 1)}"
        title = f"Scorecard: {n_rules}{features}, {self.total:g} points in all\n"
        return "\n".join([title, " points  rule", *lines, "", self._relation()])

    def rule(self, row: ScorecardRow) -> str:
        """Write when a row gives its points, for example ``age > 45.5``.

        Returns
        -------
        str
        """
        name = _shown(row.feature)
        if row.threshold is not None:
            others = [one.threshold for one in self.rows if one.column == row.column]
            sign = ">" if row.direction > 0 else "<="
            return f"{name} {sign} {_distinct(row.threshold, others)}"
        start, end = (row.low, row.high)[:: row.direction]
        slope = row.points / (end - start)
        return f"{name}: {slope:+.3g} per unit, 0 at {start:g}, all at {end:g}"

    def _relation(self) -> str:
        """Write how the score follows from the points."""
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


def _band_rule(name: str, band: Band, bands: list[Band]) -> str:
    """Write when a band gives its points, for example ``age > 45.5 and <= 60``."""
    ends = [one.high for one in bands]
    above = f"> {_distinct(band.low, ends)}" * (band.low > -math.inf)
    up_to = f"<= {_distinct(band.high, ends)}" * (band.high < math.inf)
    return f"{_shown(name)} {' and '.join(filter(None, (above, up_to))) or 'any value'}"


def _column(data: Any, row: ScorecardRow) -> FloatArray:
    """Return the row's column as dense and finite numbers."""
    if row.column >= data.shape[1]:
        raise ValueError(
            f"X has {data.shape[1]} columns, but {row.feature!r} is column "
            f"{row.column}, counted from 0."
        )
    values = dense_columns(data, [row.column])[:, 0].astype(np.float64)
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
