"""Sums of smoothed hinges over the cells of a grid instead of sorted rows."""

# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from aucmax._core.compiled import njit
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks.contract import Support

_CELLS_PER_WIDTH = 32.0


class HingeGrid(NamedTuple):
    """Cells over the range of the scores; the margin is a whole number of them."""

    low: float
    scale: float  # cells per unit of score
    n_cells: int
    lift: int  # the margin, in cells
    reach: int  # half the smoothing width, in cells

    @classmethod
    def cover(
        cls, scores: FloatArray, margin: float, width: float
    ) -> "HingeGrid | None":
        """Return a grid fine enough for the width, or None if sorting is cheaper."""
        low, high = float(scores.min()), float(scores.max())
        lift = int(np.ceil(_CELLS_PER_WIDTH * margin / width))
        scale = lift / margin
        if not (high - low) * scale < scores.size / 2 or lift > scores.size:
            return None
        n_cells = int((high - low) * scale) + 1
        return cls(low, scale, n_cells, lift, max(1, round(width * scale / 2.0)))

    def support(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        margin: float,
        *,
        ranges: tuple[float, float] = (1.0, 1.0),
        choice_width: float = 1.0,
    ) -> Support:
        """Evaluate the smoothed risk over the first rows, cell by cell."""
        # the slope chooses rows smoothly, over choice_width widths; the value exactly
        weights = np.empty(0) if sample_weight is None else sample_weight
        masses, moments, shares = np.zeros((3, 2, self.n_cells))
        place = self.low, self.scale
        cell_masses(scores, labels, weights, *place, masses, moments)
        amounts = masses.sum(axis=1) * ranges
        pairs = float(amounts[0] * amounts[1])
        choice = np.ones_like(masses)
        if min(ranges) < 1.0:
            reach = max(1, round(choice_width * self.reach))
            smooth_choice(masses, amounts, reach, choice)
        chosen = masses * choice
        cell_shares(chosen, self.lift, self.reach, shares)
        active_share = float((chosen[0] * shares[0]).sum()) / pairs
        if min(ranges) < 1.0:
            keep_first(masses, moments, amounts)
        total = cell_hinge_bound(masses, moments, self.lift)
        subgradient = np.empty_like(scores)
        shares *= choice / pairs
        cell_subgradient(scores, labels, weights, *place, shares, subgradient)
        return Support(
            float(total) / self.scale / pairs, subgradient, margin * active_share
        )


@njit(cache=True, nogil=True)
def cell_masses(scores, labels, weights, low, scale, masses, moments):
    """Add up weight and weight * place, (score - low) * scale, by class and cell."""
    # row 0 of masses and moments is for negatives; empty weights stand for ones
    for i in range(scores.size):
        place = (scores[i] - low) * scale
        weight = weights[i] if weights.size else 1.0
        side = 1 if labels[i] else 0
        masses[side, int(place)] += weight
        moments[side, int(place)] += weight * place


@njit(cache=True, nogil=True)
def cell_shares(masses, lift, reach, shares):
    """For each cell: the weight of the other class that a row there is paired with."""
    # A negative lift cells up meets a positive d cells below it by the share clip((d +
    # reach) / (2 reach), 0, 1): the mean over 2 reach cells, so one sum serves all.
    n = masses.shape[1]
    for side in range(2):
        # from the far end, negatives above a positive look like positives below
        total = 0.0
        below = np.empty(n)
        for k in range(n):
            total += masses[1, k] if side == 0 else masses[0, n - 1 - k]
            below[k] = total
        window = 0.0
        first = lift - reach
        for k in range(first, first + 2 * reach):
            window += below[min(k, n - 1)] if k >= 0 else 0.0
        for k in range(n):
            shares[side, k if side == 0 else n - 1 - k] = window / (2 * reach)
            enters, leaves = first + k + 2 * reach, first + k
            window += below[min(enters, n - 1)] if enters >= 0 else 0.0
            window -= below[min(leaves, n - 1)] if leaves >= 0 else 0.0


@njit(cache=True, nogil=True)
def cell_hinge_bound(masses, moments, lift):
    """Sum over pairs of max(0, negative + lift - positive), in cells, from above."""
    # pairs in one cell, at most one cell apart, are bounded by the chord of the hinge
    mass = moment = total = 0.0
    n = masses.shape[1]
    for k in range(-lift, n):
        cell = k + lift
        # mass and moment cover the positives in the cells below `cell`
        if cell >= n:
            own_mass = own_moment = 0.0
        else:
            own_mass, own_moment = masses[1, cell], moments[1, cell]
        if k >= 0:
            lifted = moments[0, k] + lift * masses[0, k]
            total += lifted * mass - masses[0, k] * moment
            chord = lifted * own_mass - masses[0, k] * own_moment
            total += 0.5 * (chord + masses[0, k] * own_mass)
        mass += own_mass
        moment += own_moment
    return total


@njit(cache=True, nogil=True)
def cell_subgradient(scores, labels, weights, low, scale, shares, subgradient):
    """Spread the cells' shares over the rows: up for negatives, down for positives."""
    for i in range(scores.size):
        cell = int((scores[i] - low) * scale)
        weight = weights[i] if weights.size else 1.0
        if labels[i]:
            subgradient[i] = -weight * shares[1, cell]
        else:
            subgradient[i] = weight * shares[0, cell]


@njit(cache=True, nogil=True)
def smooth_choice(masses, amounts, reach, choice):
    """Choose the first rows of each class, smoothly, up to the given amounts."""
    # Negatives (row 0) rank from the last cell down, positives from the first up. A
    # cell d cells ahead of the threshold counts by clip((d + reach) / (2 reach), 0, 1).
    n = masses.shape[1]
    for side in range(2):
        # `total` weighs what counts with the threshold at rank `cell`, `window` the
        # cells whose shares grow, by 1 / (2 reach), on the way to the next rank
        cell, total, window = -reach, 0.0, 0.0
        part = 0.0
        while cell < n + reach:
            enters, leaves = cell + reach, cell - reach
            if 0 <= enters < n:
                window += masses[side, n - 1 - enters if side == 0 else enters]
            if 0 <= leaves < n:
                window -= masses[side, n - 1 - leaves if side == 0 else leaves]
            gain = window / (2 * reach)
            if total + gain >= amounts[side]:
                part = (amounts[side] - total) / gain if gain > 0.0 else 0.0
                break
            total += gain
            cell += 1
        for rank in range(n):
            share = (cell + part - rank) / (2 * reach) + 0.5
            share = min(max(share, 0.0), 1.0)
            choice[side, n - 1 - rank if side == 0 else rank] = share


@njit(cache=True, nogil=True)
def keep_first(masses, moments, amounts):
    """Keep the first rows of each class, exactly, up to the given amounts."""
    # the rows kept of a split cell are assumed as far ahead as its sum allows: a bound
    # of the hinge from above
    n = masses.shape[1]
    for side in range(2):
        left = amounts[side]
        for rank in range(n):
            cell = n - 1 - rank if side == 0 else rank
            mass, moment = masses[side, cell], moments[side, cell]
            if mass > left:
                excess = mass - left
                if side == 0:
                    moment = min(left * (cell + 1), moment - excess * cell)
                else:
                    moment = max(left * cell, moment - excess * (cell + 1))
                masses[side, cell], moments[side, cell] = left, moment
                left = 0.0
            else:
                left -= mass
