"""What boosted rankers share: checks, rounds, and their fitted state."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from aucmax._core.docstrings import documented
from aucmax._core.early_stopping import RoundsWatch
from aucmax._core.eval_set import hold_out, unpack_eval_set
from aucmax._core.features import check_features
from aucmax._core.fitted_state import replace_state, unchanged_on_failure
from aucmax._core.parameters import check_interval, check_stopping
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    check_class_weights,
    check_sample_weight,
    labels_among,
    reject_unreadable,
)
from aucmax.boosting.reweighting import Reweighting
from aucmax.boosting.rounds import BoostingRounds, Validation
from aucmax.boosting.weak_learners import LEARNERS
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.hypotheses import fitted_ensemble
from aucmax.hypotheses.ranker import HypothesisRanker, TrainingRows, check_hypotheses

__all__ = ["BoostedRanker"]


@documented
class BoostedRanker(HypothesisRanker):
    """A weighted sum of hypotheses, added one per round.

    A subclass has the parameters named here among its own, and `_reweighting`.
    """

    n_estimators: int
    min_edge: float
    n_iter_no_change: int | None
    validation_fraction: float
    max_time: float | None
    random_state: Any

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
            Row weights; a pair weighs the product of its rows'. A row of weight 2 is
            the same as two such rows, one of weight 0 is left out.
        eval_set : tuple (X, y) or dict, default=None
            Rows apart from the training rows. The model keeps the rounds up to the
            first one of the best AUC on them. A dict with the keys "X", "y" and
            "sample_weight" weighs them.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            check_stopping(self, eval_set)
            classes, rows = self._training_rows(X, y, sample_weight)
            rows, validation = self._apart(rows, classes, eval_set)
            X, labels = rows.X, rows.labels
            weight = np.ones(labels.size) if rows.weight is None else rows.weight
            reweighting = self._reweighting(labels, weight)
            learner = LEARNERS[self._kind](X, self._names)
            rounds = BoostingRounds(
                RoundsWatch.of(self), learner, self.min_edge, validation
            )
            rounds.run(X, reweighting)
            complaint = self._complaint(rounds)
            if complaint is not None:
                warnings.warn(*complaint, stacklevel=2)
            n_kept = rounds.watch.n_kept
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
        """Return the algorithm's own way to weigh rows, at the start."""

    def _check_parameters(self) -> None:
        check_hypotheses(self.hypotheses, LEARNERS)
        check_interval("min_edge", self.min_edge, 1.0, zero=True)

    def _apart(
        self, rows: TrainingRows, classes: NDArray[Any], eval_set: Any
    ) -> tuple[TrainingRows, Validation | None]:
        """Return the rows to train on, and those to watch if there are any."""
        if eval_set is not None:
            return rows, self._check_eval_set(eval_set, classes)
        if self.n_iter_no_change is None:
            return rows, None
        train, held = hold_out(
            rows.labels.size,
            classes[rows.labels.astype(np.intp)],
            self.validation_fraction,
            self.random_state,
        )
        return rows.part(train), Validation(*rows.part(held))

    def _check_eval_set(self, eval_set: Any, classes: NDArray[Any]) -> Validation:
        """Check rows for validation: features as in `fit`, labels of both classes."""
        X, y, sample_weight, qid = unpack_eval_set(eval_set)
        if qid is not None:
            raise IncompatibleError(
                f"eval_set has a qid, but {type(self).__name__} ranks all rows as one "
                "list. Leave it out."
            )
        X = check_features(self, self._table(X), fitting=False)
        reject_unreadable(y, "y of eval_set")
        labels = labels_among(classes, column_or_1d(y), "y of eval_set")
        if labels.size != X.shape[0]:
            raise ValueError(
                f"X of eval_set has {X.shape[0]} rows but y has {labels.size}; each "
                "row needs one label."
            )
        if labels.all() or not labels.any():
            raise NotEnoughClassesError(
                f"y of eval_set holds one class only: all {labels.size} labels are "
                f"{classes[int(labels[0])]!r}. Its AUC needs rows of both."
            )
        weight = check_sample_weight(
            sample_weight, labels.size, "sample_weight of eval_set"
        )
        check_class_weights(classes, labels, weight)
        return Validation(X, labels, weight)

    def _complaint(self, rounds: BoostingRounds) -> tuple[str, type[Warning]] | None:
        """Return a warning that the user should see, and its category."""
        if rounds.steps:
            return None
        return (
            "no hypothesis ranks the training rows better than chance: none has an "
            f"edge above min_edge={self.min_edge:g}, so all scores are equal. Are all "
            "columns constant? Or larger for negatives, so that hypotheses='signed' "
            "is needed?"
        ), UserWarning


def _summary(rounds: BoostingRounds, reweighting: Reweighting) -> dict[str, Any]:
    """Return what happened in the rounds, as attributes."""
    watch = rounds.watch
    history = {"edge": np.array(rounds.edges), **reweighting.history()}
    summary = {
        "n_iter_": watch.n_iter,
        "stop_reason_": rounds.reason,
        "history_": history,
    }
    if rounds.validation is not None:
        history["validation_auc"] = np.array(watch.validation)
        summary["best_iteration_"] = watch.n_kept
    return summary
