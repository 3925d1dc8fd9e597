"""The lines of a scorecard, and the arithmetic of their points."""

import math
from typing import Any, NamedTuple

import numpy as np

from aucmax._validation import FloatArray

__all__ = [
    "Band",
    "FeatureBands",
    "ScorecardRow",
    "merge_bands",
    "share_given",
    "shares",
    "values_of",
]


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
        Points given, rounded as the card says.
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


class FeatureBands(NamedTuple):
    """The steps of one feature, ascending, from -inf to inf without a hole."""

    feature: str
    column: int
    bands: list[Band]


def shares(weights: FloatArray, total: float, decimals: int | None) -> FloatArray:
    """Share the total by weight; rounded shares sum to the total, none is off by 1."""
    if weights.size == 0:
        return weights
    exact: FloatArray = weights * (total / weights.sum())
    if decimals is None:
        return exact
    units = exact * 10.0**decimals
    whole = np.floor(units + 1e-9)
    missing = round(total * 10.0**decimals) - int(whole.sum())
    whole[np.argsort(whole - units, kind="stable")[: max(missing, 0)]] += 1.0
    rounded: FloatArray = np.round(whole / 10.0**decimals, decimals)
    return rounded


def share_given(row: ScorecardRow, values: FloatArray) -> FloatArray:
    """Return which share of its points the row gives to each value."""
    if row.threshold is not None:
        grown = (values > row.threshold).astype(np.float64)
    else:
        grown = (values - row.low) / (row.high - row.low)
    return grown if row.direction > 0 else 1.0 - grown


def values_of(row: ScorecardRow, data: Any) -> FloatArray:
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


def merge_bands(rows: list[ScorecardRow], decimals: int | None) -> FeatureBands:
    """Merge the stumps of one feature into steps; neighbours differ in points."""
    ordered = sorted((row.threshold or 0.0, row) for row in rows)
    # in the first band small values score; each threshold then switches one row
    points = sum(row.points for row in rows if row.direction < 0)
    starts = [(-math.inf, points)]
    for threshold, row in ordered:
        points += row.direction * row.points
        starts.append((threshold, points))
    ends = [threshold for threshold, _ in ordered] + [math.inf]
    bands: list[Band] = []
    for (low, here), high in zip(starts, ends, strict=True):
        rounded = round(here, 12 if decimals is None else decimals) + 0.0  # not -0.0
        if bands and bands[-1].points == rounded:
            bands[-1] = bands[-1]._replace(high=high)
        else:
            bands.append(Band(low, high, rounded))
    return FeatureBands(rows[0].feature, rows[0].column, bands)
