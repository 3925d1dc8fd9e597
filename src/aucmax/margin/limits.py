"""What ends a fit, however many solves it takes: time, a user's wish, a gap."""

import time

import numpy as np

from aucmax.solvers import Progress, StoppingRule

__all__ = ["Limits", "most_cuts", "zero_floor"]

# an optimum may be 0: below this share of the best hypothesis' mean margin, the gap is
# judged as if the optimum were there
_FLOOR_SHARE = 0.01
_LEAST_GAP = 16.0  # units in the last place: a smaller gap cannot be told from rounding
_FEWEST_CUTS, _MOST_CUTS = 50, 200  # to keep, where each holds a number for every row
_MOST_CUT_BYTES = 2**28  # for all of them, unless they are the fewest


class Limits:
    """One stopping rule, one clock and one count of iterations for all solves.

    Of the `stopping` rule, `tol` and `max_iter` are for each solve, `max_time` for all.
    The callback sees margins, which grow, and iterations and seconds of all solves.
    `n_iter` counts the iterations of the solves that are done.
    """

    def __init__(self, stopping: StoppingRule) -> None:
        self.stopping = stopping
        self.n_iter = 0
        self._asked = False
        self._start = time.perf_counter()

    @property
    def seconds_left(self) -> float | None:
        """The rest of the time, or None if there is no limit."""
        limit = self.stopping.max_time
        if limit is None:
            return None
        return max(limit - (time.perf_counter() - self._start), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether time is up, or the user wants no more."""
        return self._asked or self.seconds_left == 0.0

    def rule(
        self, floor: float, looseness: float = 1.0, enough: float = np.inf
    ) -> StoppingRule:
        """Return the rule of the next solve, which may be loose or end at a margin."""

        def callback(progress: Progress) -> bool:
            return self.tell(progress) or -progress.value >= enough

        return StoppingRule(
            looseness * self.stopping.tol,
            self.stopping.max_iter,
            self.seconds_left,
            callback,
            floor,
        )

    def tell(self, progress: Progress) -> bool:
        """Tell the user where a solve stands; return whether to stop everything."""
        if self.stopping.callback is not None:
            whole = progress._replace(
                n_iter=self.n_iter + progress.n_iter,
                value=0.0 - progress.value,  # not -0.0
                seconds=time.perf_counter() - self._start,
            )
            self._asked |= bool(self.stopping.callback(whole))
        return self._asked


def zero_floor(largest_edge: float, tol: float, precision: float) -> float:
    """Return how small an optimum may be before it counts as 0.

    `largest_edge` is the best hypothesis' mean margin over all pairs, `precision` the
    unit in the last place of the data.
    """
    return max(_FLOOR_SHARE * largest_edge, _LEAST_GAP * precision / tol)


def most_cuts(n_rows: int) -> int:
    """Return how many cuts to keep where each holds a number for every row."""
    return min(max(_MOST_CUT_BYTES // (8 * n_rows), _FEWEST_CUTS), _MOST_CUTS)
