"""The base of all rankers by weighted hypotheses: their data, scores and state."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.dask_dispatch import map_over_partitions
from aucmax._core.eval_set import LabelledRows
from aucmax._core.features import check_features, check_training_data
from aucmax._core.validation import FloatArray
from aucmax.binary_ranker import BinaryRanker
from aucmax.hypotheses.column_access import column_ranges
from aucmax.hypotheses.hypothesis_ensembles import fitted_ensemble
from aucmax.hypotheses.scaled_columns import evaluate_callables


class HypothesisRanker(BinaryRanker):
    """A ranker whose scores are a weighted sum of hypotheses within [-1, 1]."""

    hypotheses: str | Sequence[Callable[[Any], ArrayLike]]

    _unsaved_params = ("callback",)
    _saved_state = saved.fields(
        weights_=saved.array("f", None),
        directions_=saved.array("f", "weights_"),
        columns_=saved.array("i", "weights_"),
        threshold_=saved.finite,
        **saved.optional(
            thresholds_=saved.array("f", "weights_"),
            low_=saved.array("f", "n_features_in_"),
            high_=saved.array("f", "n_features_in_"),
            coef_=saved.array("f", 1, "n_features_in_"),
            intercept_=saved.array("f", 1),
            n_iter_=saved.count,
            history_=saved.instance_of(dict),
        ),
    )

    @map_over_partitions
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
        X = self._scored_table(X)
        return fitted_ensemble(vars(self)).scores(X) - float(self.threshold_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # a feature that is larger for negatives is of no use without its negative
        tags.classifier_tags.poor_score = self._kind == "features"
        return tags

    @property
    def _kind(self) -> str:
        """The kind of hypotheses; functions are a matrix of their values."""
        return self.hypotheses if isinstance(self.hypotheses, str) else "precomputed"

    def _table(self, X: Any) -> Any:
        """Return the values of the user's functions on X, or X itself."""
        if isinstance(self.hypotheses, str):
            return X
        return evaluate_callables(self.hypotheses, X)

    def _scored_table(self, X: Any) -> Any:
        """Check rows that are to be scored."""
        check_is_fitted(self, "weights_")
        return check_features(self, self._table(X), fitting=False)

    def _training_rows(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], LabelledRows]:
        """Check training data, then leave out rows of weight 0."""
        X, classes, labels, weight = check_training_data(
            self, self._table(X), y, sample_weight
        )
        rows = LabelledRows(X, labels, weight)
        if weight is not None and not weight.all():
            column_ranges(X, self._names)
            rows = rows.part(np.flatnonzero(weight))
        return classes, rows

    @property
    def _names(self) -> Any:
        """Names of the columns, for messages; None if they have none."""
        return getattr(self, "feature_names_in_", None)

    def _check_state(self) -> None:
        """Reject a loaded state that no fit could have left."""
        state = vars(self)
        if "weights_" not in state:
            return
        width, columns = state["n_features_in_"], state["columns_"]
        if not ((columns >= 0) & (columns < width)).all():
            raise ValueError(f"columns_ are not among the {width} columns")
        if not ({"thresholds_"} <= state.keys() or {"low_", "high_"} <= state.keys()):
            raise ValueError("there are neither thresholds_ nor low_ and high_")


def check_hypotheses(hypotheses: Any, known: Iterable[str]) -> None:
    """Raise an error unless it is a known kind of hypotheses or a list of functions."""
    if isinstance(hypotheses, str) and hypotheses in known:
        return
    is_list = isinstance(hypotheses, Sequence) and not isinstance(hypotheses, str)
    if not is_list or not all(callable(function) for function in hypotheses):
        listed = ", ".join(map(repr, known))
        raise ValueError(
            f"hypotheses must be one of {listed} or a list of functions, got "
            f"{hypotheses!r}."
        )
    if len(hypotheses) == 0:
        raise ValueError("hypotheses is an empty list; give at least one function.")
