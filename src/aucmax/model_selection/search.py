"""Candidates one after the other, as long as there is time."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.model_selection.candidates import Candidate, Setting
from aucmax.model_selection.clock import Clock
from aucmax.model_selection.out_of_fold import (
    FittedCandidate,
    TimeUpError,
    TrainingTable,
    fit_out_of_fold,
)
from aucmax.model_selection.resuming import SearchCheckpoint

__all__ = ["AutoProgress", "Found", "reason_of", "search"]

# Combining the models has a share of the time, or more if there are many rows: 20,000
# rows of 12 models took 2.7 s, and other machines are slower.
_TIME_TO_COMBINE = 0.05
_SECONDS_PER_LOGIT = 2e-5
#: Whether a candidate that fails ends the search, unless by one of these errors, which
#: say why it cannot serve: the tests set it, so that no fault of ours is a mere notice.
RAISES = False
_CANNOT_SERVE = (NotEnoughClassesError, IncompatibleError)


def reason_of(error: Exception) -> str:
    """Return why a candidate failed, for a notice."""
    if RAISES and not isinstance(error, _CANNOT_SERVE):
        raise error
    return f"{type(error).__name__}: {error}".partition("\n")[0]


class AutoProgress(NamedTuple):
    """Where a search stands; what a callback receives before each candidate.

    Attributes
    ----------
    candidate : str
        What is tried next; "combination" at the end.
    n_done, n_candidates : int
        Candidates that are done, and all.
    best : str
        The best so far; empty at the start.
    score : float
        Its metric over the folds; NaN at the start.
    seconds : float
        Time since the start.
    time_limit : float or None
        The most seconds.
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


@dataclass(frozen=True)
class Found:
    """The candidates that were fitted, and what became of the others.

    Attributes
    ----------
    fitted : list of FittedCandidate
        Those that are done.
    notices : list of str
        What became of the others.
    is_stopped : bool
        Whether someone ended the search.
    """

    fitted: list[FittedCandidate]
    notices: list[str]
    is_stopped: bool


def search(
    candidates: Sequence[Candidate],
    rows: TrainingTable,
    setting: Setting,
    clock: Clock,
    report: Callable[[AutoProgress], object] | None,
    checkpoint: SearchCheckpoint | None = None,
) -> Found:
    """Fit candidates until there are no more, the time is up, or someone says stop.

    The first is fitted whatever time it takes, so that there is a model at the end. A
    candidate that is not done when the time is up is dropped; Ctrl-C drops the current
    one and ends the search, unless nothing is done yet. Time is left for combining what
    is done, and for fitting it to all rows. What a checkpoint has is not fitted again,
    but its time counts.
    """
    if rows.is_large:
        # every change of view costs time
        candidates = sorted(candidates, key=lambda candidate: candidate.view)
    state = _Search(rows, setting, len(candidates), clock, report, checkpoint)
    for candidate in candidates:
        if state.is_stopped:
            break
        state.attempt(candidate, is_last=candidate is candidates[-1])
    state.tell("combination")
    if state.late:
        late, time_limit = ", ".join(state.late), clock.time_limit
        state.notices.append(
            f"there was no time for {late}; allow more than time_limit={time_limit:g} "
            "seconds to try them"
        )
        if len(state.fitted) == 1:
            warnings.warn(
                f"time_limit={time_limit:g} seconds were enough for one model only, "
                f"{state.best!r}; allow more to get a better one.",
                UserWarning,
                stacklevel=3,
            )
    return Found(state.fitted, state.notices, state.is_stopped)


class _Search:
    """Candidates that are done, and the clock."""

    def __init__(
        self,
        rows: TrainingTable,
        setting: Setting,
        n_candidates: int,
        clock: Clock,
        report: Callable[[AutoProgress], object] | None,
        checkpoint: SearchCheckpoint | None,
    ) -> None:
        self.fitted: list[FittedCandidate] = []
        self.notices: list[str] = []
        self.late: list[str] = []
        self.best, self.score = "", float("nan")
        self.is_stopped = False
        self._rows, self._setting, self._report = rows, setting, report
        self._n_candidates, self._clock = n_candidates, clock
        self._checkpoint = checkpoint
        if checkpoint is not None:
            clock.spend(checkpoint.seconds)

    def attempt(self, candidate: Candidate, *, is_last: bool) -> None:
        """Fit one candidate, or note why not."""
        done = self._checkpoint and self._checkpoint.find(candidate)
        if done:
            self._keep(done)
            return
        try:
            self._check_time()
            if self.tell(candidate.name):
                self.notices.append("the search was ended by the callback")
                self.is_stopped = bool(self.fitted)
            if not self.is_stopped:
                found = fit_out_of_fold(
                    candidate, self._rows, self._setting, self._check_time
                )
                self._keep(found)
                if self._checkpoint is not None:
                    self._checkpoint.keep(found)
        except TimeUpError:
            self.late.append(candidate.name)
        except KeyboardInterrupt:
            if not self.fitted:
                raise
            self.is_stopped = True
            self.notices.append(
                f"interrupted at {candidate.name!r}; what was done before is kept"
            )
        except Exception as error:
            if is_last and not self.fitted:
                raise
            self.notices.append(f"{candidate.name} is left out: {reason_of(error)}")

    def tell(self, what: str) -> bool:
        """Report where the search stands; return whether it should stop."""
        if self._report is None:
            return False
        news = AutoProgress(
            what,
            len(self.fitted),
            self._n_candidates,
            self.best,
            self.score,
            self._clock.seconds,
            self._clock.time_limit,
        )
        return bool(self._report(news))

    def _check_time(self, *_: Any, needed: float = 0.0) -> None:
        """Raise unless there is time for a step, for combining and for refitting."""
        if self.fitted:
            n_logits = self._rows.plan.rows.size * (len(self.fitted) + 1)
            share = _TIME_TO_COMBINE * (self._clock.time_limit or 0.0)
            needed += max(share, _SECONDS_PER_LOGIT * n_logits)
            self._clock.check(needed + self._rows.seconds_to_refit(self.fitted))

    def _keep(self, found: FittedCandidate) -> None:
        self.fitted.append(found)
        ranked = self._rows.ranked(found.logits[:, None], self._setting.part)
        value = ranked.measure(found.logits)
        if not value <= self.score:
            self.best, self.score = found.candidate.name, value
