"""Outcomes of reviewing the top rows of a ranking."""

from __future__ import annotations

import numpy as np
import polars as pl

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.inference.intervals import wilson_ends

_ALL_UP_TO = 100  # every number of rows; then those of two digits that are not 0
_USUAL_DEPTH = 100  # rows reviewed when the page opens


def review_depths(n_rows: int) -> IntArray:
    """Return the numbers of rows that the slider of a page reaches, up to all."""
    powers = 10 ** np.arange(1, len(str(n_rows)))
    depths = np.outer(powers, np.arange(10, 100)).ravel()
    depths = np.union1d(np.arange(1, _ALL_UP_TO), depths)
    return np.append(depths[depths < n_rows], n_rows)


def usual_depth(n_rows: int) -> int:
    """Return how many rows are reviewed when the page opens: 100, or a tenth."""
    return min(_USUAL_DEPTH, max(n_rows // 10, 1))


def review_top(labels: BoolArray, scores: FloatArray, depths: IntArray) -> pl.DataFrame:
    """Review the top rows, at most each depth, without cutting a tie; sorts once.

    The counts are those of ``operating_point(alerts=depth)``, with Wilson's intervals.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    # numbers of rows that cut no tie
    whole = np.append(0, np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) + 1)
    alerts = whole[np.searchsorted(whole, depths, side="right") - 1]
    tp = np.append(0, np.cumsum(labels[order]))[alerts]
    fp, n_positive = alerts - tp, int(labels.sum())
    n_negative = labels.size - n_positive
    precision = np.where(alerts > 0, tp / np.maximum(alerts, 1), np.nan)
    tp_ends = wilson_ends(tp / n_positive, n_positive, 0.95)
    fp_ends = wilson_ends(fp / n_negative, n_negative, 0.95)
    return pl.DataFrame(
        {
            "alerts": alerts,
            "tp": tp,
            "tp_ends": n_positive * np.transpose(tp_ends),
            "fn": n_positive - tp,
            "fp": fp,
            "fp_ends": n_negative * np.transpose(fp_ends),
            "precision": precision,
            "precision_ends": np.transpose(wilson_ends(precision, alerts, 0.95)),
        }
    )


def describe_top(labels: BoolArray, scores: FloatArray) -> str:
    """Return a sentence on the positives among the highest-scored rows."""
    depth = np.array([usual_depth(labels.size)])
    (top,) = review_top(labels, scores, depth).to_dicts()
    if not top["alerts"]:
        return ""
    return (
        f"Reviewing the {top['alerts']:,} highest-scored of {labels.size:,} cases "
        f"finds {top['tp']:,} of the {labels.sum():,} positives."
    )
