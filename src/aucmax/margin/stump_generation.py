"""The largest margin over the stumps of many rows: chosen on the way to the solution.

The interior-point method over a few stumps has as many equations as these, not as the
rows. Its masses are allowed ones after every step, so that one sweep over all stumps
tells which of them would raise the margin, and bounds what all of them can reach. These
join at once: with gamma above their edges, the point is inside of the larger program,
too, and the way goes on from there.
"""

from collections.abc import Callable

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import StumpGrid
from aucmax.margin.interior_point import Found, Inside, Program, both
from aucmax.margin.masses import Masses

__all__ = ["generate_on_central_path"]

_FIRST_PER_COLUMN = 8  # thresholds, evenly spread, of the first program
_FIRST_STEPS = 4  # before stumps join: the first masses say little
_PEAKS_PER_COLUMN = 6  # stumps of one column that join at once, at most
_LEAST_EXCESS = 0.5  # of an edge left out, in terms of the gap of the program
_ROOM = 0.1  # of the gap, between the largest edge and gamma, when stumps join
_IDLE_WEIGHT = 0.1  # of the mean: stumps below it may go ...
_IDLE_SLACK = 0.1  # of gamma ... if their edge is that far below it
_LONGEST_IDLE_STREAK = 15  # steps that better neither program
_MOST_STUMPS = 6000  # whose products with each other are kept


def generate_on_central_path(
    grid: StumpGrid,
    masses: Masses,
    margin_of: Callable[[FloatArray], float],
    says_stop: Callable[[Found], bool],
) -> Found:
    """Walk towards the solution over all stumps, of which few are used at a time.

    `margin_of` returns the margin of scores.
    """
    chosen = _first_stumps(grid)
    program = Program(grid.some(chosen), masses)
    here: Inside | None = program.start()
    found = Found(np.zeros(grid.n_stumps), 0.0, np.empty(0), np.inf)
    n_steps = n_idle = 0
    with np.errstate(all="ignore"):  # a step that is not finite ends the walk
        while here is not None and n_idle < _LONGEST_IDLE_STREAK:
            n_idle += 1
            rows = masses.to_rows(here.v)
            edges = grid.edges(rows)
            largest = float(np.abs(edges).max())
            if largest < found.largest_edge:
                found = found._replace(row_weights=rows, largest_edge=largest)
                n_idle = 0
            margin = margin_of(program.grid.scores(here.weights))
            if margin > found.value:
                spread = np.zeros(grid.n_stumps)
                spread[chosen] = here.weights
                found = found._replace(weights=spread, value=margin)
                n_idle = 0
            if says_stop(found):
                break
            excess = largest - here.largest_edge
            gap = here.largest_edge - here.value
            if n_steps >= _FIRST_STEPS and excess > _LEAST_EXCESS * gap:
                new = grid.peaks(edges, here.largest_edge, _PEAKS_PER_COLUMN)
                kept = ~_is_idle(here)
                if new.size + np.count_nonzero(kept) > _MOST_STUMPS:
                    break
                before, chosen = chosen, np.union1d(chosen[kept], new)
                program = Program(grid.some(chosen), masses)
                here = _joined(program, here, before, chosen, edges[chosen], largest)
            here = program.step(here)
            n_steps += 1
    return found


def _first_stumps(grid: StumpGrid) -> IntArray:
    """Return the numbers of evenly spread stumps of each column."""
    starts = np.searchsorted(grid.column, np.arange(grid.column.max() + 2))
    shares = np.arange(1, _FIRST_PER_COLUMN + 1) / (_FIRST_PER_COLUMN + 1)
    spread = starts[:-1, None] + np.diff(starts)[:, None] * shares
    return np.unique(spread.astype(np.int64)[np.diff(starts) > 0])


def _is_idle(here: Inside) -> BoolArray:
    """Tell which stumps have little weight, and an edge far from the largest."""
    weight, slack = here.a.max(axis=0), here.s.min(axis=0)
    is_light = weight < _IDLE_WEIGHT * weight.mean()
    return np.asarray(is_light & (slack > _IDLE_SLACK * here.gamma))


def _joined(
    program: Program,
    here: Inside,
    before: IntArray,
    chosen: IntArray,
    edges: FloatArray,
    largest: float,
) -> Inside:
    """Return the point among the stumps chosen now; new ones begin on its level."""
    gamma = max(here.gamma, largest + _ROOM * (largest - here.value))
    s = gamma - both(edges)
    a = np.median(here.a * here.s) / s
    _, place, place_before = np.intersect1d(
        chosen, before, assume_unique=True, return_indices=True
    )
    a[:, place] = here.a[:, place_before]
    total = a.sum()
    return program.completed(
        here.v, here.z / total, here.y / total, a / total, gamma, here.rho / total, s
    )
