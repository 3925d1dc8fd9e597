"""Fit a model to each fold, and score the rows that it has not seen."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from aucmax._core.folds import FoldPlan
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import UnknownCategoriesWarning
from aucmax.model_selection.candidates import Candidate, Setting
from aucmax.model_selection.combiners import Ranked
from aucmax.model_selection.input_table import GivenRows
from aucmax.model_selection.rank_scale import Spread, learn_scale, scaled
from aucmax.tables import TableEncoder
from aucmax.tables.table_model import (
    fit_with_folds,
    score_rows,
    view_rows,
    view_training_rows,
)

__all__ = [
    "FittedCandidate",
    "TimeUpError",
    "TrainingTable",
    "fit_candidate",
    "fit_out_of_fold",
]


# How much longer a row may take if there are more of them.
_LONGER_WITH_MORE_ROWS = 1.1
# Rows beyond which a fit may take so long that it is tried with some of them.
_MANY_ROWS = 2_000
# Cells of all folds' matrices beyond which those of one view are kept at a time.
_MANY_CELLS = 20_000_000


class TimeUpError(Exception):
    """There is no time left for this candidate."""


@dataclass(frozen=True)
class FittedCandidate:
    """What a candidate has left: a model per fold, and scores of rows kept aside.

    Attributes
    ----------
    candidate : Candidate
        What was fitted.
    models : list of estimators
        One per fold.
    scales : list of ndarray
        The scale of each model's scores; see :mod:`aucmax.model_selection.rank_scale`.
    parts : list of ndarray
        Scores of the test rows of each fold.
    scores : ndarray of shape (n_test_rows,)
        The same in one, in the order of the plan.
    spread : Spread
        Of these scores.
    logits : ndarray of shape (n_test_rows,)
        The scores on the scale of the fold.
    seconds : float
        Time of all fits and scores; that of the matrices is the table's.
    """

    candidate: Candidate
    models: list[Any]
    scales: list[FloatArray]
    parts: list[FloatArray]
    scores: FloatArray
    spread: Spread
    logits: FloatArray
    seconds: float

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        models: list[Any],
        parts: list[FloatArray],
        seconds: float,
    ) -> Self:
        """Bring the scores of all folds on one scale."""
        scores = np.concatenate(parts)
        spread = Spread.of(scores)
        return cls(
            candidate,
            models,
            [learn_scale(part, spread) for part in parts],
            parts,
            scores,
            spread,
            np.concatenate([scaled(part, spread) for part in parts]),
            seconds,
        )


@dataclass
class TrainingTable:
    """The rows to learn from, and their matrices for each fold and kind of model.

    Encoders are learned from the training rows of their fold alone.
    """

    given: GivenRows
    plan: FoldPlan
    encoders: list[TableEncoder] = field(default_factory=list)
    _matrices: dict[tuple[int, str], tuple[Any, Any]] = field(default_factory=dict)
    _seconds: list[float] = field(default_factory=list)

    def seconds_to_encode(self, fold: int, view: str) -> float:
        """Estimate the time for the matrices of a fold by that of others."""
        is_known = (fold, view) in self._matrices
        return 0.0 if is_known else max(self._seconds, default=0.0)

    def seconds_to_refit(self, fitted: Sequence[FittedCandidate]) -> float:
        """Estimate the time to fit candidates to all rows; 0 if that is not done."""
        if not self.plan.refits:
            return 0.0
        n_trained = sum(train.size for train, _ in self.plan.folds)
        seconds = sum(self._seconds) + sum(one.seconds for one in fitted)
        return _LONGER_WITH_MORE_ROWS * self.given.n_rows / n_trained * seconds

    @property
    def is_large(self) -> bool:
        """Whether memory and time allow the matrices of one view only."""
        n_rows, n_columns = self.given.table.shape
        return bool(n_rows * n_columns * len(self.plan.folds) > _MANY_CELLS)

    def ranked(self, logits: FloatArray, part: dict[str, Any]) -> Ranked:
        """Return the test rows with their logits, one column per model."""
        given, rows = self.given, self.plan.rows
        return Ranked(
            logits,
            given.labels[rows],
            self.plan.fold_of_row,
            None if given.weight is None else given.weight[rows],
            None if given.queries is None else given.queries[rows],
            part,
        )

    def encoder(self, fold: int) -> TableEncoder:
        """Return the encoder of a fold."""
        while len(self.encoders) <= fold:
            train, _ = self.plan.folds[len(self.encoders)]
            table, labels = self.given.table[train], self.given.labels[train]
            self.encoders.append(TableEncoder().fit(table, labels))
        return self.encoders[fold]

    def matrices(self, fold: int, view: str) -> tuple[Any, Any]:
        """Return the training and the test rows of a fold, as a view has them.

        They are kept for the next candidate; of a large table those of one view.
        """
        if (fold, view) not in self._matrices:
            if self.is_large:
                for known in [one for one in self._matrices if one[1] != view]:
                    del self._matrices[known]
            start = time.perf_counter()
            encoder = self.encoder(fold)
            train, test = self.plan.folds[fold]
            known = view_training_rows(
                view,
                encoder,
                self.given.table[train],
                self.given.target.take(train),
            )
            with warnings.catch_warnings():
                # rows of other queries, groups or times may well be unlike
                warnings.simplefilter("ignore", UnknownCategoriesWarning)
                new = view_rows(view, encoder, self.given.table[test])
            self._matrices[fold, view] = known, new
            self._seconds.append(time.perf_counter() - start)
        return self._matrices[fold, view]


def fit_out_of_fold(
    candidate: Candidate,
    rows: TrainingTable,
    setting: Setting,
    check_time: Callable[..., None],
) -> FittedCandidate:
    """Fit a candidate to each fold.

    `check_time` is called before each step with the seconds that it is likely to take,
    and within fits that allow it; it raises :class:`TimeUpError` to end them. A fold
    takes as long as the one before; a first fit that cannot be stopped, as often as
    long as one to a sixteenth of the rows.
    """
    models: list[Any] = []
    parts, seconds = [], [0.0]
    parameters = candidate.make(setting).get_params(deep=False)
    is_blind = setting.is_limited and "callback" not in parameters
    for fold, (train, _) in enumerate(rows.plan.folds):
        check_time(needed=seconds[-1] + rows.seconds_to_encode(fold, candidate.view))
        known, new = rows.matrices(fold, candidate.view)
        n_rows = min(train.size, candidate.most_rows)
        fit = partial(fit_candidate, candidate, rows, setting, rows.encoder(fold))
        start = time.perf_counter()
        if is_blind and not models and n_rows > _MANY_ROWS:
            labels = rows.given.labels[train]
            some = _some_rows(labels, n_rows // 16, setting.random_state)
            fit(known[some], train[some], check_time)
            check_time(needed=16.0 * (time.perf_counter() - start))
        models.append(fit(known, train, check_time))
        parts.append(score_rows(models[-1], new))
        seconds.append(time.perf_counter() - start)
    return FittedCandidate.of(candidate, models, parts, sum(seconds))


def fit_candidate(
    candidate: Candidate,
    rows: TrainingTable,
    setting: Setting,
    encoder: TableEncoder,
    matrix: Any,
    train: IntArray,
    check_time: Callable[..., None],
) -> Any:
    """Fit a candidate to the training rows, which an encoder has made a matrix of."""
    model = candidate.make(setting)
    parameters = model.get_params(deep=False)
    if candidate.view == "trees" and "categorical_features" in parameters:
        model.set_params(categorical_features=encoder.categorical_features_)
    if train.size > candidate.most_rows:
        labels = rows.given.labels[train]
        kept = _some_rows(labels, candidate.most_rows, setting.random_state)
        matrix, train = matrix[kept], train[kept]
    target = rows.given.target.take(train)
    known = {
        "sample_weight": target.weights,
        "qid": target.queries,
        "groups": target.groups,
    }
    extra = {
        name: values
        for name, values in known.items()
        if values is not None and has_fit_parameter(model, name)
    }
    can_be_stopped = "callback" in parameters
    if can_be_stopped:
        model.set_params(callback=check_time)
    with warnings.catch_warnings():
        # candidates may fail to converge, or have nothing to learn: ranks will tell
        warnings.simplefilter("ignore")
        fit_with_folds(model, matrix, target.labels, extra, target)
    if can_be_stopped:
        model.set_params(callback=None)
    return model


def _some_rows(labels: BoolArray, n_wanted: int, random_state: int) -> IntArray:
    """Draw rows: all of the rarer class if they fit into half, others at random."""
    draw = np.random.default_rng(random_state)
    positives, negatives = np.flatnonzero(labels), np.flatnonzero(~labels)
    rare, common = sorted((positives, negatives), key=len)
    n_rare = min(rare.size, max(n_wanted // 2, 1))
    kept = [
        draw.choice(rare, n_rare, replace=False),
        draw.choice(common, n_wanted - n_rare, replace=False),
    ]
    return np.sort(np.concatenate(kept))
