"""The place of each row among those it is ranked against: ROC curves over queries."""

import numpy as np
from numpy.typing import NDArray

from aucmax.tables.target import Target

__all__ = ["positions", "query_weights"]

Floats = NDArray[np.float64]


def positions(target: Target, scores: Floats) -> Floats:
    """Share of the negatives of its query that each row outranks; ties count half.

    1/2 in a query without negatives.
    """
    shares = np.full(scores.size, 0.5)
    relevant = target.relevant
    for rows in target.blocks:
        negatives = np.sort(scores[rows][relevant[rows] == 0])
        if negatives.size:
            below = np.searchsorted(negatives, scores[rows], side="left")
            up_to = np.searchsorted(negatives, scores[rows], side="right")
            shares[rows] = (below + up_to) / (2 * negatives.size)
    return shares


def query_weights(target: Target) -> Floats | None:
    """Weights of rows by which each query with both classes counts alike, or None.

    A ROC curve over positions with these weights is about the mean of the curves of
    the queries.
    """
    if target.queries is None:
        return None
    relevant = target.relevant
    weights = np.zeros(relevant.size)
    for rows in target.blocks:
        n_positive = int(relevant[rows].sum())
        n_negative = rows.size - n_positive
        if n_positive and n_negative:
            shares = np.array([1 / n_negative, 1 / n_positive])
            weights[rows] = shares[relevant[rows]]
    return weights
