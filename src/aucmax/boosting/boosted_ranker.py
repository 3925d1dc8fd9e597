"""Boosting, whatever the hypotheses and however rows are reweighted."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core import saved_state as saved
from aucmax._core.eval_set import LabelledRows, check_eval_set, hold_out
from aucmax._core.features import check_features
from aucmax._core.fitting import RoundMonitor, replace_state, unchanged_on_failure
from aucmax._core.parameters import check_interval, check_stopping
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    check_class_weights,
    labels_among,
)
from aucmax.boosting.weak_learners import LEARNERS, Hypothesis, WeakLearner
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.hypotheses.column_access import ColumnReader
from aucmax.hypotheses.hypothesis_ensembles import fitted_ensemble
from aucmax.hypotheses.hypothesis_ranker import HypothesisRanker, check_hypotheses
from aucmax.metrics import roc_auc_score

#: adds a hypothesis, times a step, to the scores of held-out rows; returns their AUC
Validation: TypeAlias = Callable[[Hypothesis, float, WeakLearner], float]


class BoostingProgress(NamedTuple):
    """Progress of boosting, passed to the callback after each round.

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


class Reweighting(ABC):
    """The scores so far, and the row weights, of sums 1/2 and -1/2 by class."""

    recorded: ClassVar[tuple[str, ...]]  # the names of the columns of `_records`

    def __init__(self, labels: BoolArray, weight: FloatArray) -> None:
        self.row_weights: FloatArray = np.empty(0)
        self.loss = 1.0  # mean over the training pairs
        self.verdict = ""  # the algorithm's own reason to stop, if any
        self._labels = labels
        self._weight = weight
        self._scores = np.zeros(labels.size)
        self._totals = float(weight[labels].sum()), float(weight[~labels].sum())
        self._records: list[tuple[float, ...]] = []

    @abstractmethod
    def advance(self, values: FloatArray, edge: float) -> float:
        """Add a hypothesis, by its values on the rows; return its weight."""

    def history(self) -> dict[str, FloatArray]:
        """Return the records of all rounds, by name."""
        table = np.array(self._records).reshape(-1, len(self.recorded))
        columns = (column.copy() for column in table.T)
        return dict(zip(self.recorded, columns, strict=True))

    def weights(self, steps: FloatArray) -> FloatArray:
        """Return the weights of a model of the first rounds."""
        return steps

    def guarantees(self, n_rounds: int) -> dict[str, float]:
        """Return the guarantees of a model of the first rounds, as attributes."""
        return {}

    def _weigh(self, exponents: FloatArray) -> tuple[float, float]:
        """Weigh rows by ``v exp(exponent)``, scaled; return the unscaled class sums."""
        shares = self._weight * np.exp(exponents)
        sums = float(shares[self._labels].sum()), float(shares[~self._labels].sum())
        positive, negative = (0.5 / own if own > 0.0 else 0.0 for own in sums)
        self.row_weights = shares * np.where(self._labels, positive, -negative)
        return sums


def auc_of_rounds(X: Any, labels: BoolArray, weight: FloatArray | None) -> Validation:
    """Return the AUC of held-out rows as a function of the next hypothesis."""
    reader, scores = ColumnReader(X), np.zeros(labels.size)

    def add(hypothesis: Hypothesis, step: float, learner: WeakLearner) -> float:
        column = reader.read(hypothesis.column)
        scores[:] += step * learner.values(hypothesis, column)
        return float(roc_auc_score(labels, scores, sample_weight=weight))

    return add


@dataclass
class BoostingRounds:
    """The hypotheses added, one per round, with their weights `steps` and `edges`."""

    monitor: RoundMonitor
    learner: WeakLearner
    min_edge: float
    validation: Validation | None = None
    hypotheses: list[Hypothesis] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    reason: str = ""  # to stop

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
                auc = self.validation(hypothesis, step, self.learner)
            self.monitor.count(auc)
            n_iter, seconds = self.monitor.n_iter, self.monitor.seconds
            progress = BoostingProgress(n_iter, edge, reweighting.loss, auc, seconds)
            reason = self.monitor.reason_to_stop(progress)
            self.reason = reweighting.verdict or reason


@dataclass(eq=False, repr=False, kw_only=True)
class BoostedRanker(HypothesisRanker):
    """A weighted sum of hypotheses, added one per round.

    Parameters
    ----------
    max_time : float, default=None
        Stop after this many seconds, with the best solution so far.
    callback : callable, default=None
        Called after each iteration with its progress; the fit stops if it returns true.
    verbose : int, default=0
        Whether to write one line per iteration or round to standard output.
    """

    _saved_state = saved.optional(
        best_iteration_=saved.count,
        stop_reason_=saved.instance_of(str),
        margin_=saved.number,
        nu_pos_=saved.number,
        nu_neg_=saved.number,
        pairs_guaranteed_=saved.number,
    )

    n_estimators: int
    hypotheses: str | Sequence[Callable[[Any], ArrayLike]] = "stumps"
    min_edge: float = 1e-6
    n_iter_no_change: int | None = None
    validation_fraction: float = 0.1
    max_time: float | None = None
    callback: Callable[[BoostingProgress], object] | None = None
    verbose: int = 0
    random_state: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps and CSC matrices are
            read in place; of a CSR matrix a CSC copy is made. A list of functions may
            take anything with rows.
        y : array-like of shape (n_rows,)
            Two distinct labels; one row of each suffices.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights; a weight of 2 is the same as two such rows, and rows of weight
            0 are left out.
        eval_set : tuple (X, y) or dict, default=None
            Held-out rows. The model keeps the rounds up to the first one of the best
            AUC on them. A dict has the keys "X", "y" and "sample_weight".

        Returns
        -------
        self : object
            The fitted model.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            check_stopping(self, eval_set)
            classes, rows = self._training_rows(X, y, sample_weight)
            rows, validation = self._split(rows, classes, eval_set)
            X, labels = rows.X, rows.labels
            weight = np.ones(labels.size) if rows.weight is None else rows.weight
            reweighting = self._reweighting(labels, weight)
            learner = LEARNERS[self._kind](X, self._names)
            rounds = BoostingRounds(
                RoundMonitor.from_parameters(self), learner, self.min_edge, validation
            )
            rounds.run(X, reweighting)
            warning = self._convergence_warning(rounds)
            if warning is not None:
                warnings.warn(*warning, stacklevel=2)
            n_kept = rounds.monitor.n_kept
            steps = np.array(rounds.steps[:n_kept], dtype=np.float64)
            ensemble = learner.ensemble(
                rounds.hypotheses[:n_kept], reweighting.weights(steps)
            )
            threshold = balanced_threshold(ensemble.scores(X), labels, weight)
            replace_state(
                self,
                {
                    "classes_": classes,
                    **ensemble.state(),
                    **ensemble.linear_form(threshold),
                    "threshold_": threshold,
                    **reweighting.guarantees(n_kept),
                    **_summary(rounds, reweighting),
                },
            )
        return self

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Score rows by the first round, the first two rounds, and so on.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps and CSC matrices are
            read in place; of a CSR matrix a CSC copy is made. A list of functions may
            take anything with rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Scores after each round that the model keeps, less the threshold of the
            whole model; the last ones are those of `decision_function`, up to rounding.
        """
        X = self._scored_table(X)
        for scores in fitted_ensemble(vars(self)).staged_scores(X):
            yield scores - self.threshold_

    @abstractmethod
    def _reweighting(self, labels: BoolArray, weight: FloatArray) -> Reweighting:
        """Return how the algorithm weighs rows, at the start."""

    def _check_parameters(self) -> None:
        check_hypotheses(self.hypotheses, LEARNERS)
        check_interval("min_edge", self.min_edge, 1.0, zero=True)

    def _split(
        self, rows: LabelledRows, classes: NDArray[Any], eval_set: Any
    ) -> tuple[LabelledRows, Validation | None]:
        """Return the rows to train on, and those held out, if any."""
        if eval_set is not None:
            return rows, self._check_eval_set(eval_set, classes)
        if self.n_iter_no_change is None:
            return rows, None
        train, held = hold_out(
            classes[rows.labels.astype(np.intp)],
            self.validation_fraction,
            self.random_state,
        )
        return rows.part(train), auc_of_rounds(*rows.part(held)[:3])

    def _check_eval_set(self, eval_set: Any, classes: NDArray[Any]) -> Validation:
        """Check validation rows: features as in `fit`, labels of both classes."""
        X, labels, weight, queries = check_eval_set(
            eval_set,
            lambda X: check_features(self, self._table(X), fitting=False),
            partial(labels_among, classes),
        )
        if queries is not None:
            raise IncompatibleError(
                f"eval_set has a qid, but {type(self).__name__} does not support "
                "queries. Leave it out."
            )
        if labels.all() or not labels.any():
            raise NotEnoughClassesError(
                f"y of eval_set holds one class only: all {labels.size} labels are "
                f"{classes[int(labels[0])]!r}. Its AUC needs rows of both."
            )
        check_class_weights(classes, labels, weight)
        return auc_of_rounds(X, labels, weight)

    def _convergence_warning(
        self, rounds: BoostingRounds
    ) -> tuple[str, type[Warning]] | None:
        """Return the text and the category of a warning, or None."""
        if rounds.steps:
            return None
        return (
            "no hypothesis ranks the training rows better than chance: none has an "
            f"edge above min_edge={self.min_edge:g}, so all scores are equal. Check "
            "for constant columns, or use hypotheses='signed' if columns are larger "
            "for negatives."
        ), UserWarning


def _summary(rounds: BoostingRounds, reweighting: Reweighting) -> dict[str, Any]:
    """Return the attributes that describe the rounds."""
    monitor = rounds.monitor
    history = {"edge": np.array(rounds.edges), **reweighting.history()}
    summary = {"n_iter_": monitor.n_iter, "stop_reason_": rounds.reason}
    if rounds.validation is not None:
        history["validation_auc"] = np.array(monitor.validation)
        summary["best_iteration_"] = monitor.n_kept
    return {**summary, "history_": history}
