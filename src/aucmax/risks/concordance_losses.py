"""Losses over all comparable pairs of censored times."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.censored_times import SurvivalRows
from aucmax._core.parameters import check_choice, check_number, check_positive
from aucmax._core.sorting import sort_in_groups
from aucmax._core.validation import FloatArray
from aucmax.exceptions import NotEnoughClassesError
from aucmax.risks._pairs.concordance_grid import node_spacing, nodes_of, sum_on_grid
from aucmax.risks._pairs.concordance_sweeps import ComparableRows, sum_pairs
from aucmax.risks._pairs.logistic_table import FINEST, coefficients
from aucmax.risks.contract import BoundSurvivalRisk

# Nodes have an absolute error per pair; a smaller mean loss is summed by merging.
_MIN_VALUE_OF_NODES = 0.01
LOSSES = ("logistic", "hinge", "sigmoid")


class Concordance(BaseEstimator):
    r"""Mean loss of the margins of all comparable pairs of censored times.

    .. math:: R(s) = \frac{\sum_{(i, j)} w_i w_j \, \ell(s_i - s_j)}
              {\sum_{(i, j)} w_i w_j}

    over the pairs in which row i has an event before row j has one or is censored (at
    equal times: j is censored). A high score means an early event. The loss is
    :math:`\log(1 + e^{-x})`, the hinge :math:`\max(0, 1 - x)`, or the sigmoid
    :math:`1 / (1 + e^x)`, where :math:`x = (s_i - s_j) / \tau` with `width`
    :math:`\tau`; as the width of the sigmoid falls, the risk tends to 1 less Harrell's
    C if no scores are tied.

    Spans of times are merged by score, which meets every pair once, in O(m log m) for m
    rows. Pairs of different strata (`queries`) are not compared.

    Parameters
    ----------
    loss : {"logistic", "hinge", "sigmoid"}, default="logistic"
        The loss of a pair; the first two are convex.
    width : float, default=1.0
        Unit of the margins.
    accuracy : float, default=1e-7
        Relative error of the value, and error of a pair's slope; the hinge is exact.

    See Also
    --------
    PairLogistic : The same for two classes.
    aucmax.metrics.concordance_index : The metric.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.metrics import survival_target
    >>> from aucmax.risks import Concordance
    >>> y = survival_target([1, 1, 0], [2.0, 5.0, 6.0])
    >>> value, gradient = Concordance().bind(y).value_and_gradient([1.0, 0.0, 0.0])
    >>> print(f"{value:.4f}", gradient.round(4))
    0.4399 [-0.1793 -0.077   0.2563]
    """

    def __init__(
        self, loss: str = "logistic", *, width: float = 1.0, accuracy: float = 1e-7
    ) -> None:
        self.loss = loss
        self.width = width
        self.accuracy = accuracy

    def bind(
        self,
        labels: Any,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> "BoundConcordance":
        """Return the risk of these rows; `labels` have fields ``event``, ``time``."""
        return BoundConcordance(self, labels, sample_weight, queries)


class BoundConcordance(BoundSurvivalRisk):
    """The concordance risk of given rows."""

    risk: Concordance
    least_value = 0.0

    def __init__(
        self,
        risk: Concordance,
        labels: Any,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None,
    ) -> None:
        check_choice("loss", risk.loss, LOSSES)
        check_positive("width", risk.width)
        check_number("accuracy", risk.accuracy, FINEST, 0.1)
        super().__init__(risk, labels, sample_weight, queries)
        self.is_convex = risk.loss != "sigmoid"
        self.is_smooth = risk.loss != "hinge"
        self.relative_error = 0.0 if risk.loss == "hinge" else float(risk.accuracy)
        self._spacing = node_spacing(_MIN_VALUE_OF_NODES * float(risk.accuracy))
        self._table = coefficients(float(risk.accuracy))
        self.row_scale = self.n_rows / 2.0
        rows = self.rows
        self._order = rows.order
        event = rows.event[rows.order]
        # a block is the tied events of one time, or one censored row
        is_start = ~event
        is_start[rows.times[:-1]] = True
        self._blocks = np.append(np.flatnonzero(is_start), event.size)
        self._strata = np.searchsorted(self._blocks, rows.starts)
        self._block_of_row = np.cumsum(is_start) - 1
        weight = rows.weight[rows.order] / rows.weight.max()
        self._earlier, self._later = weight * event, weight
        total = self._total(rows)
        if not total > 0.0:
            raise NotEnoughClassesError(
                "No two rows are comparable: that needs an event (of positive weight) "
                "and a row that is observed for longer."
            )
        self._earlier = self._earlier / total

    def _total(self, rows: SurvivalRows) -> float:
        """Return the weight of all comparable pairs."""
        after = np.cumsum(self._later[::-1])[::-1]
        ends = self._blocks[self._block_of_row + 1]
        last = np.repeat(rows.starts[1:], np.diff(rows.starts))
        after = np.append(after, 0.0)
        return float(self._earlier @ (after[ends] - after[last]))

    def _derivatives(
        self, scores: FloatArray, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        # the hinge has no curvature; that of the sigmoid is replaced by its slopes
        width, loss = float(self.risk.width), self.risk.loss
        ordered = scores[self._order] / width
        rows = ComparableRows(
            self._blocks, self._strata, ordered, self._earlier, self._later
        )
        slopes, curvatures = np.zeros((2, ordered.size)), np.zeros((2, ordered.size))
        nodes = None if loss == "hinge" else nodes_of(ordered, self._spacing)
        if nodes is not None:
            grid = (*nodes, self._spacing)
            value = sum_on_grid(rows, grid, slopes, curvatures, with_value)
        if nodes is None or (with_value and value < _MIN_VALUE_OF_NODES):
            slopes[:], curvatures[:] = 0.0, 0.0
            by_block = sort_in_groups(-ordered, self._block_of_row, self._blocks)
            value = sum_pairs(
                rows, self._table, loss == "hinge", by_block, slopes, curvatures
            )
        later, earlier = slopes
        if loss == "sigmoid":
            # its height is the slope of the logistic loss, its slope the curvature
            value = float(earlier.sum())
            later, earlier = curvatures
        gradient, hessian = np.empty(ordered.size), np.empty(ordered.size)
        gradient[self._order] = (later - earlier) / width
        hessian[self._order] = curvatures.sum(axis=0) / width / width
        return value, gradient, hessian
