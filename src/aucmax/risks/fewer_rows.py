"""Fewer rows for a risk over the first rows of a class: those that may count.

Such a risk is the largest mean over all choices of so many rows. From fewer rows the
choice is smaller, so that the risk is at most as large, and equal where all that count
are among them. So a line below it is a line below the risk of all rows.
"""

import numpy as np

from aucmax._validation import BoolArray, FloatArray, IntArray
from aucmax.risks._class_rows import ClassRows
from aucmax.risks._selection import first_rows
from aucmax.risks.partial_hinge import PartialHinge

__all__ = ["chosen_from", "rows_on_top"]


def rows_on_top(
    risk: PartialHinge,
    scores: FloatArray,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    *,
    counts: BoolArray,
    room: float = 1.0,
) -> IntArray:
    """Return the first rows of each class, in order, as far as any of them counts.

    A class of which all rows count stays whole. Of another one, as many are taken as
    its range covers or as `counts` tells, whichever weigh more, times `room`.
    """
    box = risk.rank_box()
    positive, negative = ClassRows.both(scores, labels, sample_weight)
    taken = []
    for own, share in ((positive, box.positives), (negative, box.negatives)):
        if share < 1.0:
            counted = own.at(np.flatnonzero(counts[own.rows])).total_weight
            share = room * max(share, counted / own.total_weight)
        taken.append(first_rows(own, share).rows)
    rows: IntArray = np.sort(np.concatenate(taken)).astype(np.intp)
    return rows


def chosen_from(
    risk: PartialHinge,
    rows: IntArray,
    labels: BoolArray,
    sample_weight: FloatArray | None,
) -> PartialHinge:
    """Return the risk that counts as much of each class, taken from these rows alone.

    The rows hold at least what counts of a class, and all of a class that counts whole.
    """
    box = risk.rank_box()
    weights = np.ones(labels.size) if sample_weight is None else sample_weight

    def share_of_rows(share: float, own: BoolArray) -> float:
        kept = weights[rows[own[rows]]]
        return min(share * float(weights[own].sum() / kept.sum()), 1.0)

    high = share_of_rows(box.negatives, ~labels)
    low = 1.0 - share_of_rows(box.positives, labels)
    return PartialHinge((0.0, high), tpr_range=(low, 1.0))
