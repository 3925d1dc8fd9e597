"""The search of AutoRanker: one candidate after the other while there is time."""

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.model_selection.auto_checkpoint import SearchCheckpoint
from aucmax.model_selection.fitted_candidates import (
    FittedCandidate,
    Members,
    SearchRows,
    fit_out_of_fold,
    keep_folds,
    refit,
)
from aucmax.model_selection.models import SearchSetting
from aucmax.tables.cross_fit import Candidate

# Share of the time limit reserved for combining the models, or more if there are many
# rows: 20,000 rows of 12 models took 2.7 s, and other machines are slower.
_TIME_TO_COMBINE = 0.05
_SECONDS_PER_LOGIT = 2e-5
#: Whether a candidate that fails ends the search, unless by an error that explains why
#: it does not apply: tests set this, so that none of our faults becomes a mere notice.
RAISES = False
_NOT_APPLICABLE = (NotEnoughClassesError, IncompatibleError)
_BAR_WIDTH, _LINE_WIDTH = 20, 100  # characters


class TimeUpError(Exception):
    """There is no time left for this candidate."""


class SearchClock:
    """A clock with a time limit."""

    def __init__(self, time_limit: float | None) -> None:
        self.time_limit = time_limit
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    def spend(self, seconds: float) -> None:
        """Add the seconds of an earlier process."""
        self._start -= seconds

    def check(self, reserved: float = 0.0) -> None:
        """Raise TimeUpError unless the seconds reserved for later are left."""
        if self.time_limit is not None and self.seconds + reserved > self.time_limit:
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
_LAST = "combination"  # the name of the last step


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


def with_bar(report: Reporter | None) -> Reporter:
    """Return a reporter that also draws a bar, over the one before."""

    def draw(progress: AutoProgress) -> object:
        is_last = progress.candidate == _LAST
        share = 1.0 if is_last else progress.n_done / progress.n_candidates
        bar = "#" * int(share * _BAR_WIDTH)
        line = f"\r[{bar:.<{_BAR_WIDTH}}] {progress}".ljust(_LINE_WIDTH)
        sys.stdout.write(line + "\n" * is_last)
        sys.stdout.flush()
        return report is not None and report(progress)

    return draw


class AutoSearch:
    """Candidates that are `fitted`, `notices` about the others, and the clock."""

    def __init__(
        self,
        rows: SearchRows,
        setting: SearchSetting,
        clock: SearchClock,
        report: Reporter | None = None,
        checkpoint: SearchCheckpoint | None = None,
    ) -> None:
        self.fitted: list[FittedCandidate] = []
        self.notices: list[str] = []
        self.is_stopped = False
        self._best, self._score = "", float("nan")
        self._rows, self._setting, self._clock = rows, setting, clock
        self._report, self._checkpoint = report, checkpoint
        self._callback_error: Exception | None = None
        if checkpoint is not None:
            clock.spend(checkpoint.seconds)

    def run(self, candidates: Sequence[Candidate]) -> None:
        """Fit candidates until none is left, the time is up, or the callback stops it.

        The first has no time limit, so that there is always a model. Ctrl-C drops the
        current one and ends the search, unless nothing is done yet.
        """
        if self._rows.folded.is_large:
            # every change of view costs time
            candidates = sorted(candidates, key=lambda one: one.view)
        late = []
        for candidate in candidates:
            if self.is_stopped:
                break
            try:
                self._attempt(candidate, len(candidates))
            except TimeUpError:
                late.append(candidate.name)
            except KeyboardInterrupt:
                if not self.fitted:
                    raise
                self.is_stopped = True
                self.notices.append(
                    f"interrupted at {candidate.name!r}; earlier candidates are kept"
                )
            except Exception as error:
                is_last = candidate is candidates[-1] and not self.fitted
                if is_last or error is self._callback_error:
                    raise
                self.notices.append(f"{candidate.name} is left out: {_reason(error)}")
        self._send_progress(_LAST, len(candidates))
        if late:
            self._note_late(late)

    def choose_members(self, weights: FloatArray) -> Members:
        """Refit the candidates that have a weight to all rows, or keep their folds.

        A model of all rows ranks better than the mean of models that lack a fold each.
        """
        order = np.argsort(-weights, kind="stable")
        kept = [(self.fitted[k], float(weights[k])) for k in order if weights[k] > 0.0]
        rows, clock = self._rows, self._clock
        if rows.plan.refits and not self.is_stopped:
            try:
                clock.check(rows.seconds_to_refit([one for one, _ in kept]))
                return refit(kept, rows, self._setting, lambda *_: clock.check())
            except TimeUpError:
                self.notices.append(
                    "there was no time to fit the models to all rows; those of the "
                    "folds are averaged"
                )
            except KeyboardInterrupt:
                self.notices.append(
                    "interrupted before the models were fitted to all rows"
                )
            except Exception as error:
                self.notices.append(f"not fitted to all rows: {_reason(error)}")
        return keep_folds(kept, rows)

    def _attempt(self, candidate: Candidate, n_candidates: int) -> None:
        """Fit one candidate, or take it from the checkpoint."""
        done = self._checkpoint and self._checkpoint.find(candidate)
        if done:
            self._keep(done)
            return
        self._check_time()
        if self._send_progress(candidate.name, n_candidates):
            self.notices.append("the callback ended the search")
            self.is_stopped = bool(self.fitted)
        if not self.is_stopped:
            found = fit_out_of_fold(
                candidate, self._rows, self._setting, self._check_time
            )
            self._keep(found)
            if self._checkpoint is not None:
                self._checkpoint.keep(found)

    def _note_late(self, names: Sequence[str]) -> None:
        # "time limit" without the syntax of an option: Python and the shell print it
        limit = f"the time limit of {self._clock.time_limit:g} s"
        self.notices.append(
            f"{limit} left no time for {', '.join(names)}; raise it to try them"
        )
        if len(self.fitted) == 1:
            warnings.warn(
                f"{limit} was enough for one model only, {self._best!r}; raise it to "
                "get a better one.",
                UserWarning,
                stacklevel=4,
            )

    def _send_progress(self, candidate: str, n_candidates: int) -> bool:
        """Report the progress; return whether the search should stop."""
        if self._report is None:
            return False
        progress = AutoProgress(
            candidate,
            len(self.fitted),
            n_candidates,
            self._best,
            self._score,
            self._clock.seconds,
            self._clock.time_limit,
        )
        try:
            return bool(self._report(progress))
        except Exception as error:
            self._callback_error = error  # not one of the candidate
            raise

    def _check_time(self, *_: Any, needed: float = 0.0) -> None:
        """Raise unless there is time for a step, for combining and for refitting."""
        if self.fitted:
            n_logits = self._rows.plan.rows.size * (len(self.fitted) + 1)
            share = _TIME_TO_COMBINE * (self._clock.time_limit or 0.0)
            needed += max(share, _SECONDS_PER_LOGIT * n_logits)
            self._clock.check(needed + self._rows.seconds_to_refit(self.fitted))

    def _keep(self, found: FittedCandidate) -> None:
        self.fitted.append(found)
        ranked = self._rows.ranked(found.logits[:, None], self._setting)
        value = ranked.measure(found.logits)
        if not value <= self._score:
            self._best, self._score = found.candidate.name, value


def _reason(error: Exception) -> str:
    """Return why a candidate failed, for a notice."""
    if RAISES and not isinstance(error, _NOT_APPLICABLE):
        raise error
    return f"{type(error).__name__}: {error}".partition("\n")[0]
