"""The rounds of boosting, whatever the hypotheses and however rows are reweighted."""

from typing import Any, NamedTuple

import numpy as np

from aucmax._core.early_stopping import RoundsWatch
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.boosting.reweighting import Reweighting
from aucmax.boosting.weak_learners import Hypothesis, WeakLearner
from aucmax.hypotheses import ColumnReader
from aucmax.metrics import roc_auc_score

__all__ = ["BoostingProgress", "BoostingRounds", "Validation"]


class BoostingProgress(NamedTuple):
    """Where boosting stands; what a callback receives after each round.

    Attributes
    ----------
    n_iter : int
        Rounds so far.
    edge : float
        Edge of the hypothesis that was added, in (0, 1].
    loss : float
        Mean loss of the training pairs after the round; 1 at the start.
    validation_auc : float or None
        Area under the ROC curve on the validation rows, if there are any.
    seconds : float
        Time since the start.
    """

    n_iter: int
    edge: float
    loss: float
    validation_auc: float | None
    seconds: float

    def __str__(self) -> str:
        auc = self.validation_auc
        return (
            f"round {self.n_iter}, {self.seconds:.2f} s, edge {self.edge:.4g}, "
            f"pair loss {self.loss:.4g}"
        ) + ("" if auc is None else f", validation AUC {auc:.5f}")


class Validation:
    """Rows apart from the training rows, scored as the rounds go on."""

    def __init__(self, X: Any, labels: BoolArray, weight: FloatArray | None) -> None:
        self._reader = ColumnReader(X)
        self._labels = labels
        self._weight = weight
        self._scores = np.zeros(labels.size)

    def auc_after(
        self, hypothesis: Hypothesis, step: float, learner: WeakLearner
    ) -> float:
        """Add a hypothesis, and measure."""
        column = self._reader.read(hypothesis.column)
        self._scores += step * learner.values(hypothesis, column)
        return roc_auc_score(self._labels, self._scores, sample_weight=self._weight)


class BoostingRounds:
    """Boosting at work: one of the `hypotheses` per round.

    `steps` are their weights, `edges` those that they had when they were added, and
    `reason` says why it stopped.
    """

    def __init__(
        self,
        watch: RoundsWatch,
        learner: WeakLearner,
        min_edge: float,
        validation: Validation | None = None,
    ) -> None:
        self.watch = watch
        self.learner = learner
        self.min_edge = min_edge
        self.validation = validation
        self.hypotheses: list[Hypothesis] = []
        self.steps: list[float] = []
        self.edges: list[float] = []
        self.reason = ""

    def run(self, X: Any, reweighting: Reweighting) -> None:
        """Add hypotheses on the rows X until there is a reason to stop."""
        reader = ColumnReader(X)
        while not self.reason:
            row_weights = reweighting.row_weights
            hypothesis = self.learner.best(row_weights)
            values = self.learner.values(hypothesis, reader.read(hypothesis.column))
            # in float64 from the values themselves, whatever the data's precision
            edge = float(np.einsum("i,i->", row_weights, values))
            if edge <= self.min_edge:
                self.reason = "no edge"
                return
            step = reweighting.advance(values, edge)
            self.hypotheses.append(hypothesis)
            self.steps.append(step)
            self.edges.append(edge)
            auc = None
            if self.validation is not None:
                auc = self.validation.auc_after(hypothesis, step, self.learner)
            self.watch.count(auc)
            asked_to_stop = self.watch.reason_to_stop(
                BoostingProgress(
                    self.watch.n_iter, edge, reweighting.loss, auc, self.watch.seconds
                )
            )
            self.reason = reweighting.verdict or asked_to_stop
