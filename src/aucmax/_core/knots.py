"""A rising line through knots, which moves scores to another scale and keeps order."""

from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray

__all__ = ["along_knots"]


def along_knots(scores: FloatArray, knots: Any) -> FloatArray:
    """Map scores by a line through knots, that goes on beyond its ends.

    No two scores become equal that were not, since the mean slope holds beyond the
    ends. With one knot, all scores become its height.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Any scores.
    knots : ndarray of shape (2, n_knots)
        Rising scores, and rising heights.

    Returns
    -------
    ndarray of shape (n_rows,)
        The heights of the line.
    """
    known, heights = knots
    if known.size == 1:
        return np.full(scores.size, heights[0])
    slope = (heights[-1] - heights[0]) / (known[-1] - known[0])
    beyond = scores - np.clip(scores, known[0], known[-1])
    return np.asarray(np.interp(scores, known, heights) + slope * beyond)
