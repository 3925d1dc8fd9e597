"""Candidates of AutoRanker, fitted to folds and then to all rows."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.model_selection.input_table import GivenRows
from aucmax.model_selection.models import SearchSetting
from aucmax.model_selection.stacking import LogitRows, Spread, learn_scale, scaled
from aucmax.tables import TableEncoder
from aucmax.tables.cross_fit import Candidate, FoldedTable, score_rows
from aucmax.tables.folds import FoldPlan

# Factor of the seconds per row of a fit to all rows.
_LONGER_WITH_MORE_ROWS = 1.1
# With more rows, a fit that cannot be stopped is first timed on some of them.
_MANY_ROWS = 2_000
# With more cells in the matrices of all folds, only those of one view stay in memory.
_MANY_CELLS = 20_000_000


@dataclass(frozen=True)
class FittedCandidate:
    """A model per fold, the scale of its scores, and the scores of its test rows."""

    candidate: Candidate
    models: list[Any]
    parts: list[FloatArray]  # the scores of each fold
    seconds: float  # of fits and scores; those of the matrices belong to the table

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of all folds, in the order of the plan."""
        return np.concatenate(self.parts)

    @cached_property
    def spread(self) -> Spread:
        """The spread of the scores of all folds."""
        return Spread.of(self.scores)

    @cached_property
    def logits(self) -> FloatArray:
        """The scores on the scales of their folds."""
        return np.concatenate([scaled(part, self.spread) for part in self.parts])


@dataclass
class SearchRows:
    """The training rows, their folds, and the matrices of the folds."""

    given: GivenRows
    plan: FoldPlan
    encoder: TableEncoder | None = None  # with the settings of all encoders
    folded: FoldedTable = field(init=False)

    def __post_init__(self) -> None:
        given = self.given
        self.folded = FoldedTable(
            given.table, given.target, self.plan.folds, _MANY_CELLS, self.encoder
        )

    def seconds_to_refit(self, fitted: Sequence[FittedCandidate]) -> float:
        """Estimate the seconds of fits to all rows; 0 if there is no refit."""
        if not self.plan.refits:
            return 0.0
        n_trained = sum(train.size for train, _ in self.plan.folds)
        seconds = self.folded.seconds + sum(one.seconds for one in fitted)
        return _LONGER_WITH_MORE_ROWS * self.given.n_rows / n_trained * seconds

    def ranked(self, logits: FloatArray, setting: SearchSetting) -> LogitRows:
        """Return the test rows with their logits, one column per model."""
        tested = self.given.target.take(self.plan.rows)
        folds, part = self.plan.fold_of_row, setting.part
        n_rows = self.given.n_rows
        return LogitRows(logits, tested, folds, part, setting.metric, n_rows=n_rows)


def fit_out_of_fold(
    candidate: Candidate,
    rows: SearchRows,
    setting: SearchSetting,
    check_time: Callable[..., None],
) -> FittedCandidate:
    """Fit a candidate to each fold, and score the held-out rows.

    `check_time` receives the expected seconds before each step, those of the previous
    fold, and is also called within fits that allow it; it raises to end them.
    """
    models: list[Any] = []
    parts, seconds = [], [0.0]
    is_blind = setting.is_limited and not _can_be_stopped(candidate)
    for fold, (train, _) in enumerate(rows.plan.folds):
        to_encode = rows.folded.seconds_to_encode(candidate.view, fold)
        check_time(needed=seconds[-1] + to_encode)
        _, new = rows.folded.matrices(candidate.view, fold)
        n_rows = min(train.size, candidate.max_rows)
        start = time.perf_counter()
        if is_blind and not models and n_rows > _MANY_ROWS:
            # nothing can stop this fit, so a sixteenth of the rows shows its speed
            some = candidate._replace(max_rows=n_rows // 16)
            _fit(some, rows.folded, fold, setting, check_time)
            check_time(needed=16.0 * (time.perf_counter() - start))
        models.append(_fit(candidate, rows.folded, fold, setting, check_time))
        parts.append(score_rows(models[-1], new))
        seconds.append(time.perf_counter() - start)
    return FittedCandidate(candidate, models, parts, sum(seconds))


def _can_be_stopped(candidate: Candidate) -> bool:
    return "callback" in candidate.estimator.get_params(deep=False)


def _fit(
    candidate: Candidate,
    folded: FoldedTable,
    fold: int,
    setting: SearchSetting,
    check_time: Callable[..., None],
) -> Any:
    with warnings.catch_warnings():
        # candidates may fail to converge, or learn nothing: the metric shows it
        warnings.simplefilter("ignore")
        return folded.fit(
            candidate,
            fold,
            random_state=setting.random_state,
            callback=check_time if _can_be_stopped(candidate) else None,
        )


class Members(NamedTuple):
    """The models that score new rows."""

    encoders: list[TableEncoder]  # of all rows, or of each fold
    records: list[dict[str, Any]]  # with one of "models" and "scales" for each encoder


def keep_folds(
    weighted: Sequence[tuple[FittedCandidate, float]], rows: SearchRows
) -> Members:
    """Return the models of the folds."""
    scoring = rows.plan.scoring
    records = []
    for one, weight in weighted:
        scales = [learn_scale(one.parts[k], one.spread) for k in scoring]
        records.append(_record(one, weight, [one.models[k] for k in scoring], scales))
    return Members([rows.folded.encoder(k) for k in scoring], records)


def refit(
    weighted: Sequence[tuple[FittedCandidate, float]],
    rows: SearchRows,
    setting: SearchSetting,
    check_time: Callable[..., None],
) -> Members:
    """Fit to all rows, each model on the scale of its held-out rows."""
    given = rows.given
    everything = (np.arange(given.n_rows), np.empty(0, dtype=np.intp))
    folded = FoldedTable(given.table, given.target, [everything], template=rows.encoder)
    is_scoring = np.isin(rows.plan.fold_of_row, rows.plan.scoring)
    records = []
    for one, weight in weighted:
        model = _fit(one.candidate, folded, 0, setting, check_time)
        scale = learn_scale(one.scores[is_scoring], one.spread)
        records.append(_record(one, weight, [model], [scale]))
    return Members([folded.encoder(0)], records)


def _record(
    one: FittedCandidate, weight: float, models: list[Any], scales: list[FloatArray]
) -> dict[str, Any]:
    return {
        "name": one.candidate.name,
        "weight": weight,
        "view": one.candidate.view,
        "models": models,
        "scales": scales,
    }
