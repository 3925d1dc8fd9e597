"""The walk of rows through the splits of a forest."""

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True)
def add_shares(X, splits, children, roots, shares, totals):
    """Add the share of each row's leaf to its total, one tree after the other.

    `splits` has the column, the threshold, and whether missing values go left. A node
    below 0 is the leaf of ``shares[-1 - node]``; all others come after their parent.
    """
    features, thresholds, missing_left = splits
    for root in roots:
        for i in range(totals.size):
            node = root
            while node >= 0:
                value = X[i, features[node]]
                if np.isnan(value):
                    side = 0 if missing_left[node] else 1
                else:
                    side = 0 if value <= thresholds[node] else 1
                node = children[node, side]
            totals[i] += shares[-1 - node]
