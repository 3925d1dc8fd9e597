"""Logistic regression of rows that are known by their products alone.

The loss, the steps and the stopping rules are those of scikit-learn's
``LogisticRegression(solver="lbfgs")``, which has to have all rows at hand.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray

__all__ = ["Regression", "regression_path"]

_GRADIENT_TOLERANCE = 1e-4  # scikit-learn's default
_VALUE_TOLERANCE = 64 * float(np.finfo(np.float64).eps)
_MOST_STEPS_OF_A_LINE_SEARCH = 50


class Regression(NamedTuple):
    """The weights of the columns, and how many iterations they took."""

    weights: FloatArray
    n_iter: int


def regression_path(
    X: Any,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    C_values: Sequence[float],
    max_iter: int,
) -> Iterator[Regression]:
    r"""Yield the minimiser for each C, each from its neighbour's solution on.

    .. math:: \frac{1}{W} \sum_r v_r \log(1 + e^{-y_r (x_r w + b)})
              + \frac{1}{2 C W} \|w\|^2

    with y of -1 and 1, and the sum W of the row weights v.
    """
    rows, target = as_row_matrix(X), labels.astype(np.float64)
    total = float(labels.size if sample_weight is None else sample_weight.sum())
    point = np.zeros(X.shape[1] + 1)
    for C in C_values:
        price = 1.0 / (C * total)

        def loss(point: FloatArray, price: float = price) -> tuple[float, FloatArray]:
            weights = point[:-1]
            scores = rows.matvec(weights) + point[-1]
            losses = np.logaddexp(0.0, scores) - target * scores
            slopes = expit(scores) - target
            if sample_weight is not None:
                losses, slopes = losses * sample_weight, slopes * sample_weight
            slopes /= total
            value = losses.sum() / total + 0.5 * price * (weights @ weights)
            gradient = np.append(rows.rmatvec(slopes) + price * weights, slopes.sum())
            return float(value), gradient

        found = minimize(
            loss,
            point,
            method="L-BFGS-B",
            jac=True,
            options={
                "maxiter": max_iter,
                "maxls": _MOST_STEPS_OF_A_LINE_SEARCH,
                "gtol": _GRADIENT_TOLERANCE,
                "ftol": _VALUE_TOLERANCE,
            },
        )
        point = found.x
        yield Regression(point[:-1].copy(), int(found.nit))
