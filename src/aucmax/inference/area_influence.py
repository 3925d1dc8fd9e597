r"""The influence of each row on the area under a part of the ROC curve.

For the whole curve these are DeLong's shares: of a positive, the negatives below it; of
a negative, the positives above it. For a box of false positive rates [a, b] and true
positive rates [c, d], a row counts at its point of the curve, moved to the nearest
point of the curve inside of the box:

.. math:: V_i = \frac{b - \mathrm{clip}(F(\mathrm{clip}(v_i, c, d)), a, b)}
          {(b - a)(d - c)}, \qquad
          U_j = \frac{\mathrm{clip}(T(\mathrm{clip}(u_j, a, b)), c, d) - c}
          {(b - a)(d - c)} ,

where :math:`u_j` and :math:`v_i` are the rates at the middle of the row's own step, T
is the curve, and F its inverse. Less their mean over the class, they are the
derivatives of the area by the weight of the row, times the size of the class.
"""

from collections.abc import Sequence

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.metrics._ranking_kernels import pack_rows, packed_shares
from aucmax.metrics._steps import WHOLE_SQUARE, RankingTask, box_size

_MANY = 2**14  # rows of a class; fewer take milliseconds, and no loop to compile


def influences(
    task: RankingTask, box: Sequence[float] = WHOLE_SQUARE
) -> tuple[FloatArray, FloatArray]:
    """Return V of each positive and U of each negative, in the order of the rows."""
    shares = _shares_by_sorting(task) if tuple(box) == WHOLE_SQUARE else None
    if shares is not None:
        return shares[: task.n_positive], shares[task.n_positive :]
    placement = task.place()
    positive, negative = placement.masses(*task.class_weights())
    if tuple(box) == WHOLE_SQUARE:  # one class after the other, which takes less memory
        shares = _shares_below(negative)
        del negative
        of_positives = shares.take(placement.positive)
        del shares
        return of_positives, _shares_above(positive).take(placement.negative)
    by_step = influences_of_steps(positive, negative, box)
    return by_step[0].take(placement.positive), by_step[1].take(placement.negative)


def _shares_by_sorting(task: RankingTask) -> FloatArray | None:
    """Return V and U from one sort of all rows; None where placing them costs less."""
    m, p = task.scores.size, task.n_positive
    bits = (m - 1).bit_length()
    if min(p, m - p) < max(_MANY, m // 16):
        return None
    low = float(task.scores.min())
    span = float(task.scores.max()) - low
    if span > 1e300:
        return None
    scale = 2.0 ** (62 - bits) / span if span > 1e-250 else 0.0
    split, shares = np.empty(m), np.empty(m)
    keys = pack_rows(task.scores, task.is_positive, p, low, scale, bits, split)
    keys.sort()
    weights = np.empty(0)
    if task.sample_weight is not None:
        weights = np.concatenate(
            [task.sample_weight[rows] for rows in (task.is_positive, ~task.is_positive)]
        )
    return shares if packed_shares(keys, bits, split, weights, p, shares) else None


def influences_of_steps(
    positive: FloatArray, negative: FloatArray, box: Sequence[float] = WHOLE_SQUARE
) -> tuple[FloatArray, FloatArray]:
    """Return V and U of each step from its masses of both classes, lowest first."""
    a, b, c, d = map(float, box)
    if (a, b, c, d) == WHOLE_SQUARE:  # exact where all pairs are in order
        return _shares_below(negative), _shares_above(positive)
    # from the highest score down, as the curve runs
    tpr, fpr = _rates(positive[::-1]), _rates(negative[::-1])
    inverse = np.interp(np.clip(_middle(tpr), c, d), tpr, fpr)
    curve = np.interp(np.clip(_middle(fpr), a, b), fpr, tpr)
    size = box_size((a, b, c, d))
    of_positives = (b - np.clip(inverse, a, b)) / size
    of_negatives = (np.clip(curve, c, d) - c) / size
    return of_positives[::-1], of_negatives[::-1]


def _shares_above(masses: FloatArray) -> FloatArray:
    """Return the share of a class above the middle of each step."""
    return _middle(_rates(masses[::-1]))[::-1]


def _shares_below(masses: FloatArray) -> FloatArray:
    above = _shares_above(masses)
    return np.subtract(1.0, above, out=above)


def _rates(masses: FloatArray) -> FloatArray:
    """Return the share of a class before each step, and after the last."""
    rates = np.zeros(masses.size + 1)
    np.cumsum(masses, out=rates[1:])
    rates /= rates[-1]
    return rates


def _middle(rates: FloatArray) -> FloatArray:
    middle: FloatArray = rates[1:] + rates[:-1]
    middle *= 0.5
    return middle
