"""Ranked rows in bins, where runs of equal scores may fall on both sides of a cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import FloatArray, IntArray
from aucmax.metrics._steps import Steps
from aucmax.metrics.top_sets import bin_boundaries


@dataclass(frozen=True)
class Pieces:
    """Ranked rows cut wherever a run of equal scores or a bin starts.

    Piece k has `length[k]` of the `size[k]` rows of its run, and with them their share
    of its positives and negatives.
    """

    length: IntArray
    size: IntArray
    positive: FloatArray
    negative: FloatArray
    first_of_bin: IntArray

    @classmethod
    def of(cls, tied: Steps, bin_starts: IntArray) -> Pieces:
        """Cut the runs of equal scores at the rows where bins start."""
        sizes = run_sizes(tied)
        run_starts = np.cumsum(sizes) - sizes
        is_cut = np.zeros(sizes.sum(), dtype=bool)
        is_cut[run_starts] = is_cut[bin_starts] = True
        cuts = np.flatnonzero(is_cut)
        length = np.diff(cuts, append=is_cut.size)
        run = np.searchsorted(run_starts, cuts, side="right") - 1
        return cls(
            length,
            sizes[run],
            tied.positive[run] * length / sizes[run],
            tied.negative[run] * length / sizes[run],
            np.searchsorted(cuts, bin_starts),
        )

    def bins(self, offsets: IntArray) -> Steps:
        """Return the masses of the bins, of which each query starts at its offset."""
        return Steps(
            np.add.reduceat(self.negative, self.first_of_bin),
            np.add.reduceat(self.positive, self.first_of_bin),
            offsets,
        )

    def pairs_in_bins(self, bins: Steps) -> FloatArray:
        """Return per query the mean number of pairs that share a bin.

        Two rows of one run do so less often than their shares of it suggest, as no
        two rows take one place: of t rows, l lie in the piece, so both with
        probability l (l - 1) / (t (t - 1)), which is below (l / t)^2.
        """
        left_out = self.size - self.length
        rarely = left_out / (self.length * np.maximum(self.size - 1, 1))
        excess = self.positive * self.negative * rarely
        pairs = bins.positive * bins.negative
        pairs -= np.add.reduceat(excess, self.first_of_bin)
        return query_sums(pairs, bins.offsets)


def bin_starts(
    query_offsets: IntArray, bins: int | NDArray[Any]
) -> tuple[IntArray, IntArray]:
    """Return the row that each bin starts with, and the first bin of each query."""
    n_rows = np.diff(query_offsets).tolist()
    within = {n: np.append(0, bin_boundaries(n, bins)) for n in set(n_rows)}
    starts = [
        first + within[n] for first, n in zip(query_offsets[:-1], n_rows, strict=True)
    ]
    n_bins = [part.size for part in starts]
    return np.concatenate(starts), np.append(0, np.cumsum(n_bins))


def run_sizes(tied: Steps) -> IntArray:
    """Return how many rows have each score."""
    return (tied.positive + tied.negative).astype(np.int64)


def class_sizes(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of positives and of negatives of each query."""
    positive = query_sums(steps.positive, steps.offsets)
    return positive, query_sums(steps.negative, steps.offsets)


def query_sums(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Sum values of runs or bins over each query."""
    sums: FloatArray = np.add.reduceat(values, offsets[:-1])
    return sums
