"""All pairs of two sorted classes: their weights, and the k-th smallest difference."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.sorting import RowNumbers, row_number_type
from aucmax._core.validation import FloatArray
from aucmax.risks._pairs import hinge_kernels
from aucmax.risks._pairs.class_rows import ClassMembers, ClassRows
from aucmax.risks._pairs.pair_laplacians import window_laplacian
from aucmax.risks._pairs.selection_kernels import partners

# Up to this many, forming all differences is faster than guessing.
_MAX_PAIRS_AT_ONCE = 1 << 15
_MAX_LISTED_PAIRS = 4096  # or a quarter of the rows, where that is more
# The first guess comes from a few rows of each class, the guides.
_ROWS_PER_GUIDE = 32
_MIN_GUIDES = 64
_GOLDEN_RATIO = (math.sqrt(5.0) - 1.0) / 2.0


class SortedPairs(NamedTuple):
    """All pairs of a positive and a negative; `first` negatives stand for a set."""

    # pairs up to some difference are, for each positive, those from some negative on
    positive: ClassRows
    negative: ClassRows
    cumulative: (
        FloatArray | None
    )  # cumulative[j] is the weight of the negatives from j on

    @property
    def total_weight(self) -> float:
        """Weight of all pairs, an int without weights."""
        return self.weight_from(np.zeros(self.positive.size, dtype=np.int64))

    def split_at(self, difference: float) -> tuple[RowNumbers, RowNumbers]:
        """Return the sets of pairs up to the difference, and strictly below it."""
        kind = row_number_type(self.negative.size)
        up_to, below = np.empty((2, self.positive.size), dtype=kind)
        partners(self.positive.values, self.negative.values, difference, up_to, below)
        return up_to, below

    def positive_weights_from(self, first: RowNumbers) -> FloatArray:
        """Return the weight of each positive's pairs in the set."""
        if self.cumulative is None or self.positive.weights is None:
            return np.subtract(self.negative.size, first, dtype=np.float64)
        return self.positive.weights * self.cumulative[first]

    def negative_weights_from(self, first: RowNumbers) -> FloatArray:
        """Return the weight of each negative's pairs in the set."""
        n = self.negative.size
        starting = np.bincount(first, self.positive.weights, minlength=n + 1)
        weights = np.cumsum(starting[:n], dtype=np.float64)
        if self.negative.weights is not None:
            weights *= self.negative.weights
        return weights

    def weight_from(self, first: RowNumbers) -> float:
        """Return the weight of the set, an int without weights, never falling."""
        if self.cumulative is None:
            n_pairs = self.positive.size * self.negative.size
            return n_pairs - int(first.sum(dtype=np.int64))
        return float(self.positive_weights_from(first).sum())


def sorted_pairs(
    classes: tuple[ClassMembers, ClassMembers], scores: FloatArray
) -> SortedPairs:
    """Sort both classes."""
    positive, negative = (own.with_scores(scores).sorted() for own in classes)
    if negative.weights is None:
        return SortedPairs(positive, negative, None)
    cumulative = np.zeros(negative.size + 1)
    np.cumsum(negative.weights[::-1], out=cumulative[-2::-1])
    return SortedPairs(positive, negative, cumulative)


def difference_of_rank(pairs: SortedPairs, nu: float) -> float:
    """Return the smallest difference up to which pairs weigh at least `nu`."""
    # Selection by sampling: guesses slightly below and above the one sought leave few
    # pairs in between, which are sampled in turn, and listed in the end. All pairs are
    # counted to find the side of a guess, so samples do not affect the result.
    s, t = pairs.positive.values, pairs.negative.values
    if pairs.cumulative is None and s.size * t.size <= _MAX_PAIRS_AT_ONCE:
        return _selected(np.subtract.outer(s, t).ravel(), math.ceil(nu) - 1)
    bracket = _Bracket(pairs, nu)
    limit = _MAX_LISTED_PAIRS + (pairs.positive.size + pairs.negative.size) // 4
    if bracket.n_pairs <= limit:
        return bracket.listed()
    pivots: Iterable[float] = _thinned_guesses(bracket)
    while True:
        for pivot in pivots:
            if bracket.narrow(pivot):
                return pivot
        if bracket.n_pairs <= limit:
            return bracket.listed()
        pivots = bracket.sampled_guesses(limit)


def _selected(differences: FloatArray, rank: int) -> float:
    """Return the difference of a rank, from 0."""
    differences.partition(rank)
    return float(differences[rank])


def _thinned_guesses(bracket: "_Bracket") -> Iterator[float]:
    """Guess the difference sought from fewer rows; then one below and one above."""
    pairs = bracket.pairs
    thinned = SortedPairs(_thinned(pairs.positive), _thinned(pairs.negative), None)
    n_thinned = thinned.total_weight
    scale = n_thinned / pairs.total_weight
    rank = min(scale * bracket.nu, n_thinned)
    yield difference_of_rank(thinned, rank)
    # Counting a row against the thinned other class errs by a part of one, each row
    # independently. The guess, counted by now, shows the sum of these errors, which is
    # nearly the same slightly further on.
    error = scale * bracket.latest_weight - rank
    scatter = math.sqrt(thinned.positive.size) + math.sqrt(thinned.negative.size)
    spread = 0.1 * (scatter + abs(error))
    for guess in (rank - error - spread, rank - error + spread):
        if 0.0 < guess <= n_thinned:
            yield difference_of_rank(thinned, guess)


def _thinned(own: ClassRows) -> ClassRows:
    """Cut a sorted class into parts of equal weight; return the middle of each."""
    size = max(own.size // _ROWS_PER_GUIDE, min(own.size, _MIN_GUIDES))
    places = (np.arange(size) + 0.5) / size
    if own.weights is None:
        # in a part of 32 rows the middle is between two: either one would be biased
        places = places * own.size - 0.5
        chosen = places.astype(np.int64)
        values = 0.5 * own.values[chosen]
        values += 0.5 * own.values[np.ceil(places).astype(np.int64)]
    else:
        cumulative = np.cumsum(own.weights)
        chosen = np.searchsorted(cumulative[:-1], places * cumulative[-1])
        values = own.values[chosen]
    return ClassRows(chosen, values, None, own.side)


class _Bracket:
    """The pairs among which the difference of rank `nu` is: those in (low, high)."""

    def __init__(self, pairs: SortedPairs, nu: float) -> None:
        self.pairs = pairs
        self.nu = nu
        self.low, self.high = -math.inf, math.inf
        self.latest_weight = math.nan  # of the pairs up to the latest pivot
        # row i is left with the negatives from first[i] to stop[i] - 1; the pairs from
        # `stop` on weigh less than nu, those from `first` on do not
        kind = row_number_type(pairs.negative.size)
        self.first = np.zeros(pairs.positive.size, dtype=kind)
        self.stop = np.full(pairs.positive.size, pairs.negative.size, dtype=kind)

    @property
    def n_pairs(self) -> int:
        return int((self.stop - self.first).sum(dtype=np.int64))

    def narrow(self, pivot: float) -> bool:
        """Leave the pairs on one side of a difference; True if it is the one sought."""
        if not self.low < pivot < self.high:
            return False
        up_to, below = self.pairs.split_at(pivot)
        self.latest_weight = self.pairs.weight_from(up_to)
        if self.latest_weight < self.nu:
            self.low, self.stop = pivot, up_to
        elif self.pairs.weight_from(below) < self.nu:
            return True
        else:
            self.high, self.first = pivot, below
        return False

    def listed(self) -> float:
        """Find the difference among all that are left."""
        counts = self.stop - self.first
        rows = np.repeat(np.arange(counts.size), counts)
        offset = np.cumsum(counts, dtype=np.int64) - counts - self.first
        columns = np.arange(rows.size) - offset[rows]
        differences = self._differences(rows, columns)
        weight = self.pairs.weight_from(self.stop)
        positive, negative = self.pairs.positive.weights, self.pairs.negative.weights
        if positive is None or negative is None:
            return _selected(differences, math.ceil(self.nu) - int(weight) - 1)
        order = np.argsort(differences)
        reached = weight + np.cumsum((positive[rows] * negative[columns])[order])
        # sums in another order: rounding may leave the last one short of nu
        return float(differences[order[np.searchsorted(reached[:-1], self.nu)]])

    def sampled_guesses(self, size: int) -> list[float]:
        """Guess a difference below and one above from a sample of the pairs left."""
        # one of each part of equal weight, at places by the golden ratio: no regularity
        # of the data matches them
        weights = self.pairs.positive_weights_from(self.first)
        weights -= self.pairs.positive_weights_from(self.stop)
        filled = np.flatnonzero(weights > 0.0)
        ends = np.cumsum(weights[filled])
        parts = np.arange(size)
        places = (parts + (parts * _GOLDEN_RATIO) % 1.0) * (ends[-1] / size)
        chosen = np.searchsorted(ends[:-1], places, side="right")
        rows = filled[chosen]
        columns = self._columns(rows, places - (ends[chosen] - weights[rows]))
        differences = np.sort(self._differences(rows, columns))
        rank = size * ((self.nu - self.pairs.weight_from(self.stop)) / ends[-1])
        spread = math.sqrt(size)
        guesses = np.clip([rank - spread, rank + spread], 0, size - 1)
        return [float(differences[int(guess)]) for guess in guesses]

    def _columns(self, rows: RowNumbers, weights: FloatArray) -> RowNumbers:
        """Return the negative at which a row's pairs left reach the given weight."""
        first, last = self.first[rows], self.stop[rows] - 1
        if self.pairs.cumulative is None or self.pairs.positive.weights is None:
            columns = first + weights.astype(np.int64)
        else:
            ahead = (
                self.pairs.cumulative[first]
                - weights / self.pairs.positive.weights[rows]
            )
            columns = np.searchsorted(-self.pairs.cumulative, -ahead, side="right") - 1
        inside: RowNumbers = np.clip(columns, first, last)
        return inside

    def _differences(self, rows: RowNumbers, columns: RowNumbers) -> FloatArray:
        positive, negative = self.pairs.positive.values, self.pairs.negative.values
        return positive[rows] - negative[columns]


_MAX_STEPS = 60  # to a threshold, by halves in the worst case
_MAX_ERROR = 1e-12  # in units of nu; less is left to a mixture of two ramps
# of a ramp, in units of the largest score; rounding moves scores by two units of 2^-53
_MIN_WIDTH = 2.0**-49


class Ramp(NamedTuple):
    """Shares ``clip((threshold - difference) / width + 1/2, 0, 1)`` that weigh nu."""

    threshold: float
    width: float
    positive_shares: FloatArray
    negative_shares: FloatArray

    @classmethod
    def from_pairs(
        cls, pairs: SortedPairs, nu: float, width: float, hard: float
    ) -> "Ramp":
        """Find the threshold, within half a width of the hard one, and rounding."""
        ends = [rows.values[[0, -1]] for rows in (pairs.positive, pairs.negative)]
        width = max(width, _MIN_WIDTH * float(np.abs(ends).max()))
        # half a width, and a quarter for rounding
        low = cls._at(pairs, hard - 0.75 * width, width)
        high = cls._at(pairs, hard + 0.75 * width, width)
        # what the total misses at both ends; the Illinois variant of regula falsi
        below, above = low.total - nu, high.total - nu
        was_low: bool | None = None
        for _ in range(_MAX_STEPS):
            if below >= 0.0 or above <= 0.0 or above - below <= _MAX_ERROR * nu:
                break
            part = below / (below - above)
            middle = low.threshold + part * (high.threshold - low.threshold)
            if not low.threshold < middle < high.threshold:
                break
            ramp = cls._at(pairs, middle, width)
            miss = ramp.total - nu
            if miss < 0.0:
                low, below = ramp, miss
                above = above / 2.0 if was_low else high.total - nu
            else:
                high, above = ramp, miss
                below = below / 2.0 if was_low is False else low.total - nu
            was_low = miss < 0.0
            if abs(miss) <= _MAX_ERROR * nu:
                break
        return low._mixed(high, nu)

    @classmethod
    def _at(cls, pairs: SortedPairs, threshold: float, width: float) -> "Ramp":
        positive, negative = pairs.positive, pairs.negative
        of_positive, of_negative = np.zeros(positive.size), np.zeros(negative.size)
        s, u = positive.values, positive.explicit_weights
        t, w = negative.values + threshold, negative.explicit_weights
        hinge_kernels.add_ramps(t, s, u, width, of_negative)
        # the same ramps, seen from above
        hinge_kernels.add_ramps(-s[::-1], -t[::-1], w[::-1], width, of_positive[::-1])
        return cls(threshold, width, u * of_positive, w * of_negative)

    @property
    def total(self) -> float:
        """The weight of all shares."""
        return float(self.positive_shares.sum())

    def _mixed(self, other: "Ramp", nu: float) -> "Ramp":
        """Mix two ramps so that they weigh nu: float64 resolves few thresholds."""
        least, most = self.total, other.total
        part = (nu - least) / (most - least) if most > least else 0.0
        part = min(max(part, 0.0), 1.0)
        mixed = [
            own + part * (theirs - own)
            for own, theirs in zip(self[2:], other[2:], strict=True)
        ]
        # corrects rounding: the slopes of both classes must have the same sum
        return Ramp(
            self.threshold + part * (other.threshold - self.threshold),
            self.width,
            *(shares * (nu / shares.sum()) for shares in mixed),
        )

    def curvature(self, pairs: SortedPairs) -> Callable[[Any], FloatArray]:
        """Return the form of pairs whose shares move, at a fixed threshold."""
        positive, negative = pairs.positive, pairs.negative
        lifted = negative.values + self.threshold
        return window_laplacian(
            (positive.rows, positive.explicit_weights / self.width),
            (negative.rows, negative.explicit_weights),
            np.searchsorted(lifted, positive.values - self.width / 2.0),
            np.searchsorted(lifted, positive.values + self.width / 2.0),
        )
