"""Compiled passes over the rows of one boosting round."""

import math

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def exponential_weights(scores, is_positive, sample_weight, row_weights):
    """Weigh rows as the exponential pair loss does.

    With s = scores, v = sample_weight: d_i ~ v_i exp(-s_i / 2) over positives and
    d_j ~ v_j exp(s_j / 2) over negatives, each class summing to 1. Fills `row_weights`
    with d / 2 for positives and -d / 2 for negatives. Returns the logarithms of both
    sums before they were divided out: positives, negatives.

    The largest exponent of a class is taken out first, so nothing overflows.
    """
    top_positive = top_negative = -math.inf
    for r in range(scores.size):
        if is_positive[r]:
            top_positive = max(top_positive, -0.5 * scores[r])
        else:
            top_negative = max(top_negative, 0.5 * scores[r])
    sum_positive = sum_negative = 0.0
    for r in range(scores.size):
        if is_positive[r]:
            row_weights[r] = sample_weight[r] * math.exp(
                -0.5 * scores[r] - top_positive
            )
            sum_positive += row_weights[r]
        else:
            row_weights[r] = sample_weight[r] * math.exp(0.5 * scores[r] - top_negative)
            sum_negative += row_weights[r]
    _share_out(row_weights, is_positive, sum_positive, sum_negative)
    return math.log(sum_positive) + top_positive, math.log(sum_negative) + top_negative


@njit(cache=True, nogil=True)
def capped_weights(scores, is_positive, sample_weight, lift, row_weights):
    """Weigh rows by v min(1, exp(x)): x = lift - s for positives, lift + s otherwise.

    With s = scores, v = sample_weight. Fills `row_weights` with half the share of its
    class for positives and minus that for negatives, and returns the sums of both
    classes before they were shared out: positives, negatives. A class whose sum is 0
    keeps zeros.
    """
    sum_positive = sum_negative = 0.0
    for r in range(scores.size):
        exponent = lift - scores[r] if is_positive[r] else lift + scores[r]
        row_weights[r] = sample_weight[r] * math.exp(min(exponent, 0.0))
        if is_positive[r]:
            sum_positive += row_weights[r]
        else:
            sum_negative += row_weights[r]
    _share_out(row_weights, is_positive, sum_positive, sum_negative)
    return sum_positive, sum_negative


@njit(cache=True, nogil=True)
def _share_out(row_weights, is_positive, sum_positive, sum_negative):
    """Scale each class to sum to 1/2, negatives with a minus."""
    to_positive = 0.5 / sum_positive if sum_positive > 0.0 else 0.0
    to_negative = -0.5 / sum_negative if sum_negative > 0.0 else 0.0
    for r in range(row_weights.size):
        row_weights[r] *= to_positive if is_positive[r] else to_negative
