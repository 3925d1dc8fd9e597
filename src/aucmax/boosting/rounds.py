"""The rounds of boosting, whatever the hypotheses and however rows are reweighted."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from aucmax._validation import BoolArray, FloatArray
from aucmax.boosting.weak_learners import Hypothesis, WeakLearner
from aucmax.hypotheses import ColumnReader
from aucmax.metrics import roc_auc_score

__all__ = ["BoostingProgress", "Reweighting", "Rounds", "RoundsRule", "Validation"]


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
        Area under the ROC curve on `eval_set`, if there is one.
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


class Reweighting(Protocol):
    """How rows are weighed, and how far a hypothesis is followed.

    Attributes
    ----------
    row_weights : ndarray of shape (n_rows,)
        Positive for positives, where they sum to 1/2, negative for negatives, where
        they sum to -1/2: the edge of a hypothesis is the sum of weight times value.
    loss : float
        Mean loss of the training pairs.
    verdict : str or None
        Why the algorithm itself is done, once it is.
    """

    row_weights: FloatArray
    loss: float
    verdict: str | None

    def advance(self, values: FloatArray, edge: float) -> float:
        """Add a hypothesis, by its values on the rows; return its weight."""

    def history(self) -> dict[str, FloatArray]:
        """Return what was recorded in each round, by name."""

    def fitted_attributes(self, steps: FloatArray) -> dict[str, Any]:
        """Return the weights of a model of the first rounds, and more about it."""


@dataclass
class Validation:
    """Rows apart from the training rows, scored as the rounds go on."""

    reader: ColumnReader
    labels: BoolArray
    scores: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.zeros(self.labels.size)

    def auc_after(
        self, hypothesis: Hypothesis, step: float, learner: WeakLearner
    ) -> float:
        """Add a hypothesis, and measure."""
        column = self.reader.read(hypothesis.column)
        self.scores += step * learner.values(hypothesis, column)
        return roc_auc_score(self.labels, self.scores)


@dataclass
class RoundsRule:
    """When to stop, and whom to tell. The clock starts here.

    Parameters
    ----------
    max_rounds : int
        The most rounds.
    min_edge : float
        The edge that the best hypothesis must exceed.
    max_time : float or None
        The most seconds.
    patience : int or None
        The most rounds without a better AUC on the validation rows.
    report : callable or None
        Called with a :class:`BoostingProgress` after each round; a true answer stops.
    """

    max_rounds: int
    min_edge: float
    max_time: float | None = None
    patience: int | None = None
    report: Callable[[BoostingProgress], object] | None = None
    start: float = field(default_factory=time.perf_counter, init=False)


class Rounds:
    """Boosting at work.

    Attributes
    ----------
    hypotheses : list of Hypothesis
        What was added, one a round.
    steps : list of float
        Their weights.
    edges : list of float
        Their edges when they were added.
    areas : list of float
        AUC on the validation rows after each round, if there are any.
    n_best : int
        Rounds up to the first one of the best AUC on the validation rows.
    reason : str
        Why it stopped.
    """

    def __init__(
        self,
        rule: RoundsRule,
        learner: WeakLearner,
        reader: ColumnReader,
        validation: Validation | None = None,
    ) -> None:
        self.rule = rule
        self.learner = learner
        self.reader = reader
        self.validation = validation
        self.hypotheses: list[Hypothesis] = []
        self.steps: list[float] = []
        self.edges: list[float] = []
        self.areas: list[float] = []
        self.reason = ""
        self.n_best = 0

    def run(self, reweighting: Reweighting) -> None:
        """Add hypotheses until there is a reason to stop."""
        while not self.reason:
            row_weights = reweighting.row_weights
            hypothesis = self.learner.best(row_weights)
            column = self.reader.read(hypothesis.column)
            values = self.learner.values(hypothesis, column)
            # in float64 from the values themselves, whatever the data's precision
            edge = float(np.einsum("i,i->", row_weights, values))
            if edge <= self.rule.min_edge:
                self.reason = "no edge"
                return
            step = reweighting.advance(values, edge)
            self.hypotheses.append(hypothesis)
            self.steps.append(step)
            self.edges.append(edge)
            if self.validation is not None:
                auc = self.validation.auc_after(hypothesis, step, self.learner)
                if not self.areas or auc > self.areas[self.n_best - 1]:
                    self.n_best = len(self.steps)
                self.areas.append(auc)
            self.reason = self._reason(reweighting)

    def _reason(self, reweighting: Reweighting) -> str:
        rule, n_iter = self.rule, len(self.steps)
        seconds = time.perf_counter() - rule.start
        asked = rule.report is not None and rule.report(
            BoostingProgress(
                n_iter,
                self.edges[-1],
                reweighting.loss,
                self.areas[-1] if self.areas else None,
                seconds,
            )
        )
        if reweighting.verdict is not None:
            return reweighting.verdict
        if asked:
            return "callback"
        if rule.patience is not None and n_iter - self.n_best >= rule.patience:
            return "no change"
        if rule.max_time is not None and seconds >= rule.max_time:
            return "max time"
        return "max rounds" if n_iter >= rule.max_rounds else ""
