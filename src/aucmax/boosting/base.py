"""What boosted rankers share: checks, rounds, scores, and their fitted state."""

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from aucmax._features import check_features, check_training_data
from aucmax._fitted_state import replace_state
from aucmax._parameters import check_interval, check_stopping
from aucmax._progress import reporter
from aucmax._threshold import balanced_threshold
from aucmax._validation import BoolArray, FloatArray
from aucmax.base import BinaryRanker
from aucmax.boosting import _checks
from aucmax.boosting.rounds import (
    Reweighting,
    Rounds,
    RoundsRule,
)
from aucmax.boosting.weak_learners import LEARNERS
from aucmax.hypotheses import ColumnReader, fitted_ensemble

__all__ = ["BoostedRanker"]


class BoostedRanker(BinaryRanker):
    """Base of the boosted rankers: a weighted sum of hypotheses, added one a round.

    A subclass has the parameters named here among its own, and `_reweighting`.
    """

    hypotheses: str
    n_estimators: int
    min_edge: float
    n_iter_no_change: int | None
    max_time: float | None
    callback: Any
    verbose: int

    _unsaved_params = ("callback",)

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        eval_set: tuple[Any, ArrayLike] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features. float32 and float64 arrays, memory maps and CSC matrices are
            read in place; of a CSR matrix a CSC copy is made.
        y : array-like of shape (n_rows,)
            Two distinct labels; one row of each suffices.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights; a pair weighs the product of its rows'. A row of weight 2 is
            the same as two such rows, one of weight 0 is left out.
        eval_set : tuple (X, y), default=None
            Rows apart from the training rows. The model keeps the rounds up to the
            first one of the best AUC on them.

        Returns
        -------
        self : object
            The fitted model.
        """
        self._check_parameters()
        check_stopping(self, eval_set)
        X, classes, labels, weight = check_training_data(self, X, y, sample_weight)
        _checks.reject_non_finite(X, getattr(self, "feature_names_in_", None))
        X, labels, weight = _checks.without_weightless_rows(X, labels, weight)
        reweighting = self._reweighting(labels, weight)
        rounds = self._boost(X, reweighting, classes, eval_set)
        complaint = self._complaint(rounds)
        if complaint is not None:
            warnings.warn(*complaint, stacklevel=2)
        fitted = {"classes_": classes, **self._summary(rounds, reweighting)}
        ensemble = fitted_ensemble(fitted)
        threshold = balanced_threshold(ensemble.scores(X), labels, weight)
        fitted |= {"threshold_": threshold, **ensemble.linear_form(threshold)}
        replace_state(self, fitted)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        check_is_fitted(self, "weights_")
        X = check_features(self, X, fitting=False)
        scores = fitted_ensemble(vars(self)).scores(X)
        return scores - float(self.threshold_)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Score rows by the first round, the first two rounds, and so on.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Yields
        ------
        ndarray of shape (n_rows,)
            Scores after each round that the model keeps, less the threshold of the
            whole model; the last ones are those of `decision_function`, up to rounding.
        """
        check_is_fitted(self, "weights_")
        X = check_features(self, X, fitting=False)
        for scores in fitted_ensemble(vars(self)).staged_scores(X):
            yield scores - self.threshold_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # a feature that is larger for negatives is of no use without its negative
        tags.classifier_tags.poor_score = self.hypotheses == "features"
        return tags

    def _reweighting(self, labels: BoolArray, weight: FloatArray) -> Reweighting:
        """Return the algorithm's own way to weigh rows, at the start."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        if self.hypotheses not in LEARNERS:
            known = ", ".join(repr(name) for name in LEARNERS)
            raise ValueError(
                f"hypotheses must be one of {known}, got {self.hypotheses!r}."
            )
        check_interval("min_edge", self.min_edge, 1.0, zero=True)

    def _boost(
        self,
        X: Any,
        reweighting: Reweighting,
        classes: NDArray[Any],
        eval_set: tuple[Any, ArrayLike] | None,
    ) -> Rounds:
        validation = None
        if eval_set is not None:
            validation = _checks.check_eval_set(self, eval_set, classes)
        rule = RoundsRule(
            self.n_estimators,
            self.min_edge,
            self.max_time,
            self.n_iter_no_change,
            reporter(self),
        )
        learner = LEARNERS[self.hypotheses](X)
        rounds = Rounds(rule, learner, ColumnReader(X), validation)
        rounds.run(reweighting)
        return rounds

    def _complaint(self, rounds: Rounds) -> tuple[str, type[Warning]] | None:
        """Return a warning that the user should see, and its category."""
        if rounds.steps:
            return None
        return (
            "no hypothesis ranks the training rows better than chance: none has an "
            f"edge above min_edge={self.min_edge:g}, so all scores are equal. Are all "
            "columns constant? Or larger for negatives, so that hypotheses='signed' "
            "is needed?"
        ), UserWarning

    def _summary(self, rounds: Rounds, reweighting: Reweighting) -> dict[str, Any]:
        """Return what the rounds have found, as attributes."""
        history = {"edge": np.array(rounds.edges), **reweighting.history()}
        fitted: dict[str, Any] = {}
        n_kept = len(rounds.steps)
        if rounds.validation is not None:
            n_kept = fitted["best_iteration_"] = rounds.n_best
            history["validation_auc"] = np.array(rounds.areas)
        kept = rounds.hypotheses[:n_kept]
        fitted |= {
            "columns_": np.array([h.column for h in kept], dtype=np.int64),
            "directions_": np.array([h.direction for h in kept], dtype=np.float64),
            "n_iter_": len(rounds.steps),
            "stop_reason_": rounds.reason,
            "history_": history,
        }
        steps = np.array(rounds.steps[:n_kept], dtype=np.float64)
        fitted |= reweighting.fitted_attributes(steps)
        return fitted | rounds.learner.fitted_attributes(kept)

    def _check_state(self) -> None:
        """Refuse a loaded state that no fit could have left."""
        if not hasattr(self, "weights_"):
            return
        n_features = self.n_features_in_
        vectors = [self.columns_, self.directions_, self.weights_]
        if hasattr(self, "thresholds_"):
            vectors.append(self.thresholds_)
        elif not self.low_.shape == self.high_.shape == (n_features,):
            raise ValueError("low_ and high_ do not fit the features")
        shape = (self.weights_.size,)
        if self.classes_.shape != (2,) or any(v.shape != shape for v in vectors):
            raise ValueError("columns_, directions_, weights_ do not fit together")
        if (
            self.columns_.dtype.kind != "i"
            or ((self.columns_ < 0) | (self.columns_ >= n_features)).any()
        ):
            raise ValueError(f"columns_ are not among the {n_features} features")
