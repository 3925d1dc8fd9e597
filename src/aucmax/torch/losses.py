"""Losses over all pairs of a batch, equal to the risks of the library."""

import inspect
import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from aucmax._core.parameters import check_choice, check_positive, check_range
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.exceptions import NotEnoughClassesError
from aucmax.risks import (
    PairHinge,
    PairLogistic,
    PairSigmoid,
    PartialHinge,
    Risk,
    SmoothAveragePrecision,
)
from aucmax.torch._batch import Batch, check_tensors

_MAX_ROW_SHORTFALL = 1e-9  # tolerance for rounded ranges


def _scale_gradient(ctx: Any, factor: torch.Tensor, _: Any) -> Any:
    (gradient,) = ctx.saved_tensors
    return factor * gradient, None, None, None, None


class _RiskFunction(torch.autograd.Function):
    """The value of a loss, with the gradient that was computed along with it."""

    @staticmethod
    def forward(
        scores: torch.Tensor, labels: Any, weight: Any, qid: Any, loss: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        batch = Batch.from_tensors(scores, labels, weight, qid, loss)
        value, gradient = loss.value_and_gradient(batch)
        dtype = torch.float64 if scores.dtype == torch.float64 else torch.float32
        gradient = torch.from_numpy(gradient.reshape(scores.shape))
        return (
            torch.tensor(value, dtype=dtype, device=scores.device),
            gradient.to(dtype).to(scores.device),  # some devices have no float64
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output[1])
        ctx.mark_non_differentiable(output[1])

    backward = staticmethod(once_differentiable(_scale_gradient))


def _count_and_apply(loss: Any, *batch: Any) -> torch.Tensor:
    loss.n_calls += 1
    value: torch.Tensor
    value, _ = _RiskFunction.apply(*batch, loss)
    return value


#: compiled code breaks here, and continues after the loss
_outside_of_graphs = torch.compiler.disable(_count_and_apply)


class PairLoss(torch.nn.Module):
    """Base class of all losses: the mean over the columns of a risk."""

    takes_levels = False

    def __init__(self) -> None:
        super().__init__()
        self.n_calls = 0
        self.n_without_pairs = 0  # batches without pairs: loss and gradient are 0

    def forward(
        self,
        logits: torch.Tensor,
        labels: torch.Tensor,
        *,
        sample_weight: object = None,
        qid: object = None,
    ) -> torch.Tensor:
        """Return the loss of a batch.

        Parameters
        ----------
        logits : tensor of shape (n_rows,) or (n_rows, n_labels)
            Scores; for several labels the loss is the mean over the columns that have
            rows of both classes. Half-precision numbers are summed in float64.
        labels : tensor of the same shape
            0 or 1, of any type; NaN where a label is unknown.
        sample_weight : tensor of shape (n_rows,), default=None
            Row weights; a pair weighs the product.
        qid : tensor of shape (n_rows,), default=None
            The query of each row: pairs are within queries, and the loss is the mean
            over the queries that have rows of both classes.

        Returns
        -------
        tensor
            A scalar, float64 if the logits are, else float32.
        """
        check_tensors(logits, labels)
        value: torch.Tensor = _outside_of_graphs(
            self, logits, labels, sample_weight, qid
        )
        return value

    def extra_repr(self) -> str:
        """Return the parameters, for printing."""
        names = inspect.signature(type(self)).parameters
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)

    def value_and_gradient(self, batch: Batch) -> tuple[float, FloatArray]:
        """Return the mean over the columns, and its gradient."""
        gradient = np.zeros_like(batch.scores)
        values = []
        for place in range(batch.scores.shape[1]):
            rows = batch.rows_with_label(place)
            scores = np.ascontiguousarray(batch.scores[rows, place])
            labels = np.ascontiguousarray(batch.labels[rows, place])
            if labels.size == 0 or (labels == labels[0]).all():
                continue
            weight = None if batch.sample_weight is None else batch.sample_weight[rows]
            qid = None if batch.qid is None else batch.qid[rows]
            try:
                bound = self._risk(labels, qid, batch.accuracy).bind(
                    labels, weight, qid
                )
                value, gradient[rows, place] = bound.value_and_gradient(scores)
            except NotEnoughClassesError:
                continue
            values.append(value)
        if not values:
            self.n_without_pairs += 1
            return 0.0, gradient
        return float(np.mean(values)), gradient / len(values)

    @abstractmethod
    def _risk(self, labels: Any, qid: Any, accuracy: float) -> Risk:
        """Return the risk of a column."""


class PairLogisticLoss(PairLoss):
    r"""Mean logistic loss of all pairs of a positive and a negative of the batch.

    .. math:: \frac{1}{pn} \sum_{i \in P} \sum_{j \in N} \log(1 + e^{-(s_i - s_j)})

    Equal to :class:`aucmax.risks.PairLogistic`, in O(m) for a batch of m rows and
    without a matrix of pairs.

    See Also
    --------
    PairSigmoidLoss : Bounded, closer to the AUC itself.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import PairLogisticLoss
    >>> logits = torch.tensor([2.0, 0.0, -1.0], requires_grad=True)
    >>> loss = PairLogisticLoss()(logits, torch.tensor([1, 0, 0]))
    >>> loss.backward()
    >>> print(f"{loss.item():.4f}", logits.grad.numpy().round(4))
    0.0878 [-0.0833  0.0596  0.0237]
    """

    def _risk(self, labels: Any, qid: Any, accuracy: float) -> Risk:
        return PairLogistic(accuracy=accuracy)


class PairHingeLoss(PairLoss):
    r"""Mean hinge of all pairs of a positive and a negative of the batch.

    .. math:: \frac{1}{pn} \sum_{i \in P} \sum_{j \in N} \max(0, m - s_i + s_j)

    Equal to :class:`aucmax.risks.PairHinge`. At a kink the inactive side is taken.

    Parameters
    ----------
    margin : float, default=1.0
        The margin m: pairs farther apart cost nothing.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import PairHingeLoss
    >>> PairHingeLoss()(torch.tensor([0.5, 0.0, -1.0]), torch.tensor([1, 0, 0]))
    tensor(0.2500)
    """

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        check_positive("margin", margin)
        self.margin = margin

    def _risk(self, labels: Any, qid: Any, accuracy: float) -> Risk:
        return PairHinge(self.margin)


class PairSigmoidLoss(PairLoss):
    r"""Mean sigmoid of all pairs of a positive and a negative of the batch.

    .. math:: \frac{1}{pn} \sum_{i \in P} \sum_{j \in N}
              \sigma\Big(-\frac{s_i - s_j}{\tau}\Big)

    Equal to :class:`aucmax.risks.PairSigmoid`: it tends to 1 - AUC as tau falls, and no
    pair costs more than 1. Not convex: pairs far in the wrong order have almost no
    gradient, so start with a few epochs of another loss.

    Parameters
    ----------
    tau : float, default=1.0
        The width of the sigmoid.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import PairSigmoidLoss
    >>> PairSigmoidLoss()(torch.tensor([2.0, 0.0, 3.0]), torch.tensor([1, 0, 0]))
    tensor(0.4251)
    """

    def __init__(self, tau: float = 1.0) -> None:
        super().__init__()
        check_positive("tau", tau)
        self.tau = tau

    def _risk(self, labels: Any, qid: Any, accuracy: float) -> Risk:
        return PairSigmoid(tau=self.tau, accuracy=accuracy)


class PartialAUCLoss(PairLoss):
    """Loss of the pairs in a part of the ROC curve of the batch.

    Only negatives with ranks in `fpr_range` count, by descending logit, and positives
    with ranks in `tpr_range`; rows at the ends count in part. Each batch chooses these
    rows again, and the gradient treats the choice as fixed.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        Lower and upper end, ``0 <= low < high <= 1``. A batch must have
        enough negatives (positives) for the range to cover one of them.
    loss : {"sigmoid", "logistic", "hinge"}, default="sigmoid"
        The loss of a pair: equal to :class:`aucmax.risks.PairSigmoid`,
        :class:`~aucmax.risks.PairLogistic` or :class:`~aucmax.risks.PartialHinge` with
        these ranges. The sigmoid is bounded, so a few negatives with very high logits
        do not dominate.
    tau : float, default=1.0
        The width of the sigmoid.

    See Also
    --------
    AUROC : The partial AUC itself.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import PartialAUCLoss
    >>> logits = torch.tensor([2.0, 1.5, 0.0, -1.0, -3.0])
    >>> labels = torch.tensor([1, 0, 0, 0, 0])
    >>> PartialAUCLoss(fpr_range=(0, 0.25))(logits, labels)
    tensor(0.3775)
    """

    def __init__(
        self,
        fpr_range: Sequence[float] = (0.0, 1.0),
        tpr_range: Sequence[float] = (0.0, 1.0),
        *,
        loss: str = "sigmoid",
        tau: float = 1.0,
    ) -> None:
        super().__init__()
        check_choice("loss", loss, ("sigmoid", "logistic", "hinge"))
        check_positive("tau", tau)
        self.fpr_range = check_range("fpr_range", fpr_range)
        self.tpr_range = check_range("tpr_range", tpr_range)
        self.loss, self.tau = loss, tau
        self._ranges: dict[str, Any] = {
            "fpr_range": self.fpr_range,
            "tpr_range": self.tpr_range,
        }
        if loss == "hinge":
            PartialHinge(**self._ranges).rank_box()  # or an error

    def _risk(self, labels: Any, qid: Any, accuracy: float) -> Risk:
        if qid is None:
            self._check_sizes(labels == 1)
        risks: dict[str, Risk] = {
            "sigmoid": PairSigmoid(tau=self.tau, accuracy=accuracy, **self._ranges),
            "logistic": PairLogistic(accuracy=accuracy, **self._ranges),
            "hinge": PartialHinge(**self._ranges),
        }
        return risks[self.loss]

    def _check_sizes(self, labels: BoolArray) -> None:
        """Reject a range that covers less than one row of its class."""
        for name, rows, members in (
            ("fpr_range", "negatives", ~labels),
            ("tpr_range", "positives", labels),
        ):
            low, high = self._ranges[name]
            n_rows = int(np.count_nonzero(members))
            if (high - low) * n_rows >= 1.0 - _MAX_ROW_SHORTFALL:
                continue
            needed = math.ceil((1.0 - _MAX_ROW_SHORTFALL) / (high - low))
            size = math.ceil(labels.size * needed / n_rows)
            raise ValueError(
                f"{name}={(low, high)!r} covers {(high - low) * n_rows:.3g} of the "
                f"{n_rows} {rows} of this batch, but must cover at least one: it needs "
                f"{needed} of them, a batch of about {size} rows. Use larger batches, "
                "drop the last one if it is smaller, keep a ScoreBank, or use "
                "epoch_gradient."
            )


class SmoothAveragePrecisionLoss(PairLoss):
    r"""One minus the average precision of smooth ranks in the batch.

    .. math:: 1 - \frac{1}{p} \sum_{i \in P} \frac{A_i}{N_i}, \qquad
              N_i = 1 + \sum_{j \ne i} \sigma\Big(\frac{s_j - s_i}{\tau}\Big)

    where :math:`A_i` is the same sum over positives. Equal to
    :class:`aucmax.risks.SmoothAveragePrecision`, in O(m log m) for a batch of m
    rows. Not convex: start with a few epochs of another loss. The average
    precision of a batch is that of few rows; see :class:`ScoreBank` for more.

    Parameters
    ----------
    tau : float, default=1.0
        The width of the sigmoid.

    See Also
    --------
    PairSigmoidLoss : The same for the AUC.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import SmoothAveragePrecisionLoss
    >>> loss = SmoothAveragePrecisionLoss()
    >>> loss(torch.tensor([2.0, 0.0, 3.0]), torch.tensor([1, 0, 0]))
    tensor(0.4595)
    """

    def __init__(self, tau: float = 1.0) -> None:
        super().__init__()
        check_positive("tau", tau)
        self.tau = tau

    def _risk(self, labels: Any, qid: Any, accuracy: float) -> Risk:
        return SmoothAveragePrecision(self.tau, accuracy=accuracy)


class LambdaLoss(PairLoss):
    r"""Logistic loss of pairs, weighted by the change in AUC if the rows swapped ranks.

    .. math:: \sum_{y_i > y_j} v_{ij} \log(1 + e^{-(s_i - s_j)})

    where :math:`v_{ij}` is the change of the AUC, or of the multi-class AUC, if the two
    rows swapped ranks: LambdaMART's loss. Equal to :class:`aucmax.risks.PairLogistic`
    with ``rank_weighted=True``. Ranks are held fixed in the gradient.

    Parameters
    ----------
    metric : {"auc", "mauc"}, default="auc"
        The metric whose change is the weight. Labels for "mauc" are levels 0, 1, 2, ...

    References
    ----------
    .. [1] S. Welleck. Efficient AUC optimization for information ranking applications.
       ECIR 2016.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import LambdaLoss
    >>> logits = torch.tensor([2.0, 0.0, -1.0], requires_grad=True)
    >>> LambdaLoss("auc")(logits, torch.tensor([1, 0, 0])).backward()
    >>> print(logits.grad.numpy().round(4))
    [-0.107   0.0596  0.0474]
    """

    def __init__(self, metric: str = "auc") -> None:
        super().__init__()
        check_choice("metric", metric, ("auc", "mauc"))
        self.metric = metric
        self.takes_levels = metric == "mauc"

    def _risk(self, labels: Any, qid: Any, accuracy: float) -> Risk:
        weights = "equal" if self.metric == "auc" else "mauc"
        return PairLogistic(True, pair_weights=weights, accuracy=accuracy)
