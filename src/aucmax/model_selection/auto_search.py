"""The search of AutoRanker: fit candidates to folds, then the chosen ones to all rows.

A candidate is an unfitted estimator with the view of the table that it learns from.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.inference import MetricInterval
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.models import SearchSetting
from aucmax.model_selection.stacking import learn_scale, scaled
from aucmax.tables import TableEncoder
from aucmax.tables.cross_fit import FoldedTable, TableCandidate, score_rows
from aucmax.tables.folds import FoldPlan

if TYPE_CHECKING:
    from aucmax.model_selection.auto_checkpoint import SearchCheckpoint

# Share of the time limit reserved for combining the models, or more if there are many
# rows: 20,000 rows of 12 models took 2.7 s, and other machines are slower.
_TIME_TO_COMBINE = 0.05
_SECONDS_PER_LOGIT = 2e-5
# Largest factor of these seconds on a machine that other programs use, too.
_MAX_SLOWDOWN = 4.0
# Factor of the seconds per row of a fit to all rows.
_LONGER_WITH_MORE_ROWS = 1.1
# With more rows, a fit that cannot be stopped is first timed on some of them.
_MANY_ROWS = 2_000
# Errors that explain why a candidate does not apply; others are warned about.
_NOT_APPLICABLE = (NotEnoughClassesError, IncompatibleError)


class TimeUpError(Exception):
    """There is no time left for this candidate."""


class SearchClock:
    """A clock with a time limit; with a checkpoint it counts earlier seconds, too."""

    def __init__(self, time_limit: float | None) -> None:
        self.time_limit = time_limit
        self.start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    def has(self, seconds: float = 0.0) -> bool:
        """Return whether this number of seconds is left."""
        return self.time_limit is None or self.seconds + seconds <= self.time_limit

    def check(self, seconds: float = 0.0) -> None:
        """Raise TimeUpError unless this number of seconds is left."""
        if not self.has(seconds):
            raise TimeUpError


class AutoProgress(NamedTuple):
    """The progress of a search, which a callback receives before each candidate.

    Attributes
    ----------
    candidate : str
        The next candidate; "combination" at the end.
    n_done, n_candidates : int
        Numbers of candidates that are done, and of all.
    best, score : str and float
        The best so far and its metric over the folds; empty and NaN at the start.
    seconds, time_limit : float
        Seconds since the start, and their limit, or None.
    """

    candidate: str
    n_done: int
    n_candidates: int
    best: str
    score: float
    seconds: float
    time_limit: float | None

    def __str__(self) -> str:
        best = f", best so far {self.score:.4f} by {self.best}" if self.best else ""
        return (
            f"{self.n_done} of {self.n_candidates} done in {self.seconds:.1f} s{best}; "
            f"next: {self.candidate}"
        )


Reporter = Callable[[AutoProgress], object]  # a true answer ends the search
CheckTime = Callable[..., None]  # receives the seconds needed; raises TimeUpError
_LAST = "combination"  # the name of the last step


@dataclass(frozen=True)
class FittedCandidate:
    """A model per fold, the scale of its scores, and the scores of its test rows."""

    name: str
    model: TableCandidate
    models: list[Any]
    parts: list[FloatArray]  # the scores of each fold
    seconds: float  # of fits and scores; those of the matrices belong to the table

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of all folds, one fold after the other."""
        return np.concatenate(self.parts)

    @cached_property
    def logits(self) -> FloatArray:
        """The scores on the scales of their folds."""
        return np.concatenate([scaled(part, self.scores) for part in self.parts])


@dataclass
class AutoSearch:
    """Candidates that are `fitted` while there is time, and `notices` about others."""

    folded: FoldedTable
    held_out: HeldOutRows
    setting: SearchSetting
    clock: SearchClock
    report: Reporter | None = None
    checkpoint: "SearchCheckpoint | None" = None
    fitted: list[FittedCandidate] = field(default_factory=list)
    estimates: list[MetricInterval] = field(default_factory=list)  # of the fitted ones
    notices: list[str] = field(default_factory=list)
    is_stopped: bool = False  # by Ctrl-C or the callback
    best: tuple[str, float] = ("", float("nan"))
    # wall and processor seconds of the estimates: more wall time on a busy machine
    _measured: FloatArray = field(default_factory=lambda: np.zeros(2))

    def run(self, candidates: Mapping[str, TableCandidate]) -> None:
        """Fit candidates until none is left, the time is up, or the callback stops it.

        The first has no time limit, so that there is always a model. Ctrl-C drops the
        current one and ends the search, unless nothing is done yet.
        """
        # every change of view of a large table costs time
        views = {k: one.view * self.folded.is_large for k, one in candidates.items()}
        names, skipped = sorted(views, key=views.__getitem__), []
        try:
            for name in names:
                model = candidates[name]
                done = None
                if self.checkpoint is not None:
                    done = self.checkpoint.find(name, model)
                if done is None and not self._has_time():
                    skipped.append(name)
                    continue
                if done is None and self._send_progress(name, len(names)):
                    self.notices.append("the callback ended the search")
                    self.is_stopped = bool(self.fitted)
                if self.is_stopped:
                    break
                is_last_chance = name == names[-1] and not self.fitted
                if not self._try(name, model, done, must_succeed=is_last_chance):
                    skipped.append(name)
        except KeyboardInterrupt:
            if not self.fitted:
                raise
            self.is_stopped = True
            del self.estimates[len(self.fitted) :]
            self.notices.append(f"interrupted at {name!r}; earlier candidates are kept")
        self._send_progress(_LAST, len(names))
        if skipped:
            self._report_skipped(skipped)

    def _try(
        self,
        name: str,
        model: TableCandidate,
        done: FittedCandidate | None,
        *,
        must_succeed: bool,
    ) -> bool:
        """Fit a candidate unless it is done; return False if the time was up."""
        try:
            fitted = done or fit_out_of_fold(
                name, model, self.folded, self.setting, self._check_time
            )
        except TimeUpError:
            return False
        except Exception as error:
            if must_succeed:
                raise
            _note_failure(self.notices, f"{name} is left out", error)
            return True
        start = np.array([time.perf_counter(), time.process_time()])
        # the first estimate loads compiled code: in the search its time counts
        estimate = self.held_out.estimate(fitted.logits)
        self.estimates.append(estimate)
        self.fitted.append(fitted)  # last: Ctrl-C before it leaves the candidate out
        self._measured += [time.perf_counter(), time.process_time()] - start
        if not estimate.value <= self.best[1]:
            self.best = name, estimate.value
        if self.checkpoint is not None:
            self.checkpoint.keep(fitted)
        return True

    def _has_time(self, needed: float = 0.0) -> bool:
        """Return whether there is time for a step, for combining and for refitting."""
        if not self.fitted:
            return True
        n_logits = self.held_out.folds.size * (len(self.fitted) + 1)
        share = _TIME_TO_COMBINE * (self.clock.time_limit or 0.0)
        wall, process = self._measured
        slowdown = min(max(wall / max(process, 1e-6), 1.0), _MAX_SLOWDOWN)
        needed += slowdown * max(share, _SECONDS_PER_LOGIT * n_logits)
        if self.setting.refits:
            needed += _seconds_to_refit(self.fitted, self.folded)
        return self.clock.has(needed)

    def _check_time(self, *_: Any, needed: float = 0.0) -> None:
        if not self._has_time(needed):
            raise TimeUpError

    def _send_progress(self, name: str, n_candidates: int) -> bool:
        """Report the progress; return whether the search should stop."""
        clock, n_done = self.clock, len(self.fitted)
        times = clock.seconds, clock.time_limit
        progress = AutoProgress(name, n_done, n_candidates, *self.best, *times)
        return self.report is not None and bool(self.report(progress))

    def _report_skipped(self, names: Sequence[str]) -> None:
        # "time limit" without the syntax of an option: Python and the shell print it
        limit = f"the time limit of {self.clock.time_limit:g} s"
        self.notices.append(
            f"{limit} left no time for {', '.join(names)}; raise it to try them"
        )
        if len(self.fitted) == 1:
            warnings.warn(
                f"{limit} was enough for one model only, {self.best[0]!r}; raise it to "
                "get a better one.",
                UserWarning,
                stacklevel=4,
            )

    def fit_members(
        self, weights: FloatArray, plan: FoldPlan
    ) -> tuple[list[TableEncoder], list[dict[str, Any]]]:
        """Refit the candidates that have a weight to all rows, or keep their folds.

        Return encoders, of all rows or of each fold, and a record per model. A model of
        all rows ranks better than the mean of models that lack a fold each.
        """
        order = np.argsort(-weights, kind="stable")
        chosen = [(self.fitted[k], float(weights[k])) for k in order if weights[k] > 0]
        try:
            if self.setting.refits and not self.is_stopped:
                self.clock.check(
                    _seconds_to_refit([one for one, _ in chosen], self.folded)
                )
                return self._refit(chosen, plan)
        except TimeUpError:
            self.notices.append(
                "there was no time to fit the models to all rows; those of the folds "
                "are averaged"
            )
        except KeyboardInterrupt:
            self.notices.append("interrupted before the models were fitted to all rows")
        except Exception as error:
            _note_failure(self.notices, "not fitted to all rows", error)
        records = [
            _member(
                one,
                weight,
                [one.models[k] for k in plan.scoring],
                [learn_scale(one.parts[k], one.scores) for k in plan.scoring],
            )
            for one, weight in chosen
        ]
        return [self.folded.encoder(k) for k in plan.scoring], records

    def _refit(
        self, chosen: Sequence[tuple[FittedCandidate, float]], plan: FoldPlan
    ) -> tuple[list[TableEncoder], list[dict[str, Any]]]:
        """Fit to all rows, each model on the scale of its held-out rows."""
        table, target = self.folded.table, self.folded.target
        everything = np.arange(table.shape[0]), np.empty(0, dtype=np.intp)
        whole = FoldedTable(table, target, [everything])
        is_scoring = np.isin(plan.fold_of_row, plan.scoring)
        records = []
        for one, weight in chosen:
            with warnings.catch_warnings(action="ignore"):
                options = _fit_options(
                    one.model, self.setting, lambda *_: self.clock.check()
                )
                model = whole.fit(one.model, 0, **options)
            scale = learn_scale(one.scores[is_scoring], one.scores)
            records.append(_member(one, weight, [model], [scale]))
        return [whole.encoder(0)], records


def _note_failure(notices: list[str], outcome: str, error: Exception) -> None:
    """Note why a candidate failed, and warn unless the error explains it."""
    reason = f"{type(error).__name__}: {error}".partition("\n")[0]
    notices.append(f"{outcome}: {reason}")
    if not isinstance(error, _NOT_APPLICABLE):
        warnings.warn(f"{outcome}: {reason}", RuntimeWarning, stacklevel=4)


def fit_out_of_fold(
    name: str,
    model: TableCandidate,
    folded: FoldedTable,
    setting: SearchSetting,
    check_time: CheckTime,
) -> FittedCandidate:
    """Fit a candidate to each fold, and score the held-out rows.

    `check_time` receives the expected seconds before each step, those of the previous
    fold, and is also called within fits that allow it; it raises to end them.
    """
    models: list[Any] = []
    parts, seconds = [], [0.0]
    is_blind = setting.is_limited and not _can_be_stopped(model)
    for fold, (train, _) in enumerate(folded.folds):
        to_encode = folded.seconds_to_encode(model.view, fold)
        check_time(needed=seconds[-1] + to_encode)
        _, new = folded.matrices(model.view, fold)
        n_rows = min(train.size, model.max_rows)
        options = _fit_options(model, setting, check_time)
        start = time.perf_counter()
        with warnings.catch_warnings(action="ignore"):
            # candidates may fail to converge, or learn nothing: the metric shows it
            if is_blind and not models and n_rows > _MANY_ROWS:
                # nothing can stop this fit, so a sixteenth of the rows shows its speed
                some = model._replace(max_rows=n_rows // 16)
                folded.fit(some, fold, **options)
                check_time(needed=16.0 * (time.perf_counter() - start))
            models.append(folded.fit(model, fold, **options))
        parts.append(score_rows(models[-1], new))
        seconds.append(time.perf_counter() - start)
    return FittedCandidate(name, model, models, parts, sum(seconds))


def _can_be_stopped(model: TableCandidate) -> bool:
    return "callback" in model.estimator.get_params(deep=False)


def _fit_options(
    model: TableCandidate, setting: SearchSetting, check_time: CheckTime
) -> dict[str, Any]:
    return {
        "random_state": setting.random_state,
        "callback": check_time if _can_be_stopped(model) else None,
    }


def _seconds_to_refit(fitted: Sequence[FittedCandidate], folded: FoldedTable) -> float:
    """Estimate the seconds of fits to all rows."""
    n_trained = sum(train.size for train, _ in folded.folds)
    n_rows, seconds = folded.target.labels.size, sum(one.seconds for one in fitted)
    return _LONGER_WITH_MORE_ROWS * n_rows / n_trained * (folded.seconds + seconds)


def _member(
    one: FittedCandidate, weight: float, models: list[object], scales: list[FloatArray]
) -> dict[str, Any]:
    view = one.model.view
    parts = {"models": models, "scales": scales}
    return {"name": one.name, "weight": weight, "view": view, **parts}
