"""The smoothed hinge from counts in cells of the score axis instead of sorted rows."""

from typing import NamedTuple

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks import _cell_kernels, _kernels
from aucmax.risks.contract import Support

__all__ = ["CellGrid"]

_CELLS_PER_WIDTH = 32.0


class CellGrid(NamedTuple):
    """Cells over the range of the scores; the margin is a whole number of them."""

    low: float
    scale: float  # cells per unit of score
    n_cells: int
    lift: int  # the margin, in cells
    reach: int  # half the smoothing width, in cells

    @classmethod
    def cover(
        cls, scores: FloatArray, margin: float, width: float
    ) -> "CellGrid | None":
        """Lay a grid fine enough for the width, or None if sorting is cheaper."""
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
        """Evaluate the smoothed risk cell by cell.

        Only the highest negatives and the lowest positives count, up to the shares
        `ranges` of their classes. The slope chooses them smoothly, over `choice_width`
        times the width; the value as they are.
        """
        weights = np.empty(0) if sample_weight is None else sample_weight
        masses, moments, shares = np.zeros((3, 2, self.n_cells))
        place = self.low, self.scale
        _kernels.cell_masses(scores, labels, weights, *place, masses, moments)
        amounts = masses.sum(axis=1) * ranges
        pairs = float(amounts[0] * amounts[1])
        choice = np.ones_like(masses)
        if min(ranges) < 1.0:
            reach = max(1, round(choice_width * self.reach))
            _cell_kernels.smooth_choice(masses, amounts, reach, choice)
        chosen = masses * choice
        _kernels.cell_shares(chosen, self.lift, self.reach, shares)
        met = float((chosen[0] * shares[0]).sum()) / pairs
        if min(ranges) < 1.0:
            _cell_kernels.keep_first(masses, moments, amounts)
        total = _kernels.cell_hinge_bound(masses, moments, self.lift)
        subgradient = np.empty_like(scores)
        shares *= choice / pairs
        _kernels.cell_subgradient(scores, labels, weights, *place, shares, subgradient)
        return Support(float(total) / self.scale / pairs, subgradient, margin * met)
