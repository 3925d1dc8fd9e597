"""A combination of models for raw tables, as a search leaves it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.validation import FloatArray
from aucmax.binary_ranker import BinaryRanker
from aucmax.decisions.alerts import AlertMixin
from aucmax.decisions.calibrated import CalibratedMixin, along_knots, are_rising
from aucmax.decisions.event_probability import EventProbabilityMixin
from aucmax.exceptions import ModelFileError, NotEnoughClassesError
from aucmax.metrics.concordance import target_concordance
from aucmax.model_selection.goals import Goal, by_query, choose_goal
from aucmax.model_selection.input_table import read_table
from aucmax.model_selection.leaderboard import summarise
from aucmax.tables import TableEncoder, encode_target
from aucmax.tables.cross_fit import check_categories, score_rows, view_rows
from aucmax.tables.row_sketch import share_of_known_rows
from aucmax.tables.target import Grading


def _has_two_classes(estimator: object) -> bool:
    kinds = {"levels_": "levels of relevance", "is_survival_": "censored times"}
    for name, kind in kinds.items():
        if hasattr(estimator, name):
            raise AttributeError(
                f"it was fitted to {kind} and does not predict classes; use "
                "decision_function."
            )
    return True


def _list_of(kind: type[object]) -> saved.SavedField:
    """Declare a nonempty list of values of exactly this type."""

    def check(value: Any, state: Any) -> str | None:
        is_list = isinstance(value, list) and len(value) > 0
        is_right = is_list and all(type(item) is kind for item in value)
        return None if is_right else f"a list of {kind.__name__}"

    return saved.SavedField(check)


class CombinedModel(AlertMixin, CalibratedMixin, EventProbabilityMixin, BinaryRanker):
    """Scores, metrics and the stored state of a fitted combination."""

    _saved_state = saved.fields(
        n_features_in_=saved.count,
        members_=_list_of(dict),
        encoders_=_list_of(TableEncoder),
        threshold_=saved.finite,
        row_sketch_=saved.array("u", None),
        ranges_=saved.array("f", 3, None),
        **saved.optional(
            classes_=saved.array(saved.LABEL_KINDS, 2),
            values_=saved.array(saved.LABEL_KINDS, None),
            file_roles_=saved.instance_of(dict),
            levels_=saved.array("iu", None),
            is_survival_=saved.instance_of(bool),
            metric_=saved.instance_of(str),
            weights_=saved.instance_of(dict),
            combiner_=saved.instance_of(str),
            estimate_=saved.instance_of(dict),
            board_=saved.instance_of(dict),
            notices_=saved.instance_of(list),
            n_rows_=saved.count,
            n_positive_=saved.count,
            n_folds_=saved.count,
        ),
    )

    @property
    def grading_(self) -> Grading:
        """The meaning of the values of the target at training."""
        check_is_fitted(self, "members_")
        if hasattr(self, "levels_"):
            levels = tuple(self.levels_.tolist())
            return Grading(levels, levels)
        *negatives, positive = self.values_.tolist()
        return Grading.two_classes(negatives, positive)

    @property
    def decision_threshold_(self) -> float | None:
        """The score above which `predict` returns the positive class, if it can."""
        check_is_fitted(self, "members_")
        if hasattr(self, "levels_") or hasattr(self, "is_survival_"):
            return None
        return self.alert_threshold_ or 0.0

    def share_of_known_rows(self, X: object, y: object) -> float:
        """Estimate the share of rows that are training rows, from 0 to 1.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_features)
            Raw rows.
        y : array-like of shape (n_rows,), or Target
            Their labels.

        Returns
        -------
        float
        """
        target = encode_target(y, grading=self.grading_)
        encoder = self.encoders_[0]
        return share_of_known_rows(self.row_sketch_, encoder, X, target.labels)

    def decision_function(self, X: object) -> FloatArray:
        """Return the scores of rows: the higher, the more likely positive.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_features)
            Raw rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        check_is_fitted(self, "members_")
        table = read_table(self, X, fitting=False)
        scores = self._combined([table] * len(self.encoders_))
        return scores - float(self.threshold_)

    predict = available_if(_has_two_classes)(BinaryRanker.predict)

    def score(
        self,
        X: object,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Return the metric that the fit has maximised; the mean over queries.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_features)
            Raw rows.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row. The metric is then the mean over queries, and no
            query is split between folds.

        Returns
        -------
        float
            Higher is better.
        """
        check_is_fitted(self, "members_")
        metric = getattr(self, "metric_", "auc")
        if hasattr(self, "is_survival_"):
            row_values: Any = {"sample_weight": sample_weight, "qid": qid}
            return target_concordance(y, self.decision_function(X), **row_values)
        goal = Goal(metric)
        if goal.is_area and not hasattr(self, "levels_"):
            labels = encode_target(y, grading=self.grading_).labels
            return super().score(X, self.classes_[labels], sample_weight, qid=qid)
        target = encode_target(
            y, grading=self.grading_, sample_weight=sample_weight, qid=qid
        )
        choose_goal(target, metric)  # or an error
        values = by_query(metric, target, self.decision_function(X), goal)
        if np.isnan(values).all():
            raise NotEnoughClassesError(
                f"no query has rows that {metric!r} could compare: their labels are "
                "all equal."
            )
        return float(np.nanmean(values))

    def leaderboard(self) -> Any:
        """Return the metric of every candidate on the folds, the best first.

        Returns
        -------
        polars.DataFrame
            Columns "model", "metric" with its 95% interval "low" and "high", "p_value"
            of the paired test against the best single model, "weight" in the
            combination, and "seconds". The first row is the combination, with the
            estimate for new rows.
        """
        import polars as pl

        check_is_fitted(self, "members_")
        return pl.DataFrame(self.board_)

    def __str__(self) -> str:
        """Return the parameters, and the summary if the model is fitted."""
        lines = self.summary() if hasattr(self, "members_") else ""
        return f"{self!r}\n{lines}".rstrip()

    def summary(self) -> str:
        """Return sentences on the candidates, the combination and its estimate.

        Returns
        -------
        str
        """
        check_is_fitted(self, "members_")
        return summarise(self)

    def _combined(self, tables: Sequence[Any]) -> FloatArray:
        """Return the mean score over the encoders, each with its own table."""
        scores: FloatArray = np.zeros(tables[0].shape[0])
        for k, (encoder, table) in enumerate(zip(self.encoders_, tables, strict=True)):
            for view in sorted({member["view"] for member in self.members_}):
                matrix = view_rows(view, encoder, table)
                for member in self.members_:
                    if member["view"] == view:
                        member_scores = score_rows(member["models"][k], matrix)
                        logits = along_knots(member_scores, member["scales"][k])
                        scores += member["weight"] * logits
        return scores / len(tables)

    def _check_state(self) -> None:
        """Reject a loaded state that no fit could have left: try it on a row."""
        if not hasattr(self, "members_"):
            return
        try:
            for member in self.members_:
                _check_member(member, n_folds=len(self.encoders_))
                for k, encoder in enumerate(self.encoders_):
                    check_categories(member["view"], encoder, member["models"][k])
            names = [*getattr(self, "feature_names_in_", ())]
            for encoder in self.encoders_ if names else ():
                if [*getattr(encoder, "feature_names_in_", names)] != names:
                    raise ValueError("its parts were fitted to other columns")
            if self.ranges_.shape[1] not in (0, len([*self.encoders_[0]._parts()])):
                raise ValueError("its ranges are of other columns")
            if len(self.grading_.values) < 2:
                raise ValueError("it does not name two classes")
            empty = [encoder.sample_row() for encoder in self.encoders_]
            if not np.isfinite(self._combined(empty)).all():
                raise ValueError("a score is not finite")
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the combination is damaged: {error}") from error

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _check_member(member: dict[str, Any], n_folds: int) -> None:
    """Reject a loaded member whose parts are not those of a fit."""
    expected = {"name": str, "weight": float, "view": str, "models": list}
    expected["scales"] = list
    if {key: type(value) for key, value in member.items()} != expected:
        raise ValueError(f"a member does not consist of {', '.join(expected)}")
    if not 0.0 < member["weight"] <= 1.0:
        raise ValueError("a weight is not between 0 and 1")
    if len(member["models"]) != n_folds or len(member["scales"]) != n_folds:
        raise ValueError(f"{member['name']!r} lacks a fold")
    if not all(map(saved.can_score, member["models"])):
        raise ValueError(f"{member['name']!r} has a part that does not score")
    if not all(map(are_rising, member["scales"])):
        raise ValueError(f"the scales of {member['name']!r} do not rise")
