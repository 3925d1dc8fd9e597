"""A ranking in few characters, exact for every number of reviewed rows.

From the highest score down, a ranking is a sequence of steps: a run of n negatives, a
run of p positives, or a tie, whose rows are reviewed together or not at all. A step is
one or two numbers in base 64, five bits per character, the lowest first, and a sixth
bit if more follow:

- ``4 n`` for n negatives, ``4 p + 1`` for p positives;
- ``4 n + 2`` and then ``p`` for a tie of n negatives and p positives.

The script of the page reads the same (``page.js``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.inference.intervals import wilson_ends

Ends = tuple[float, float]

_ALPHABET = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", dtype=np.uint8
)
_USUAL_LENGTH = 100  # rows reviewed when the page opens
_MORE = 32  # the sixth bit of a character


@dataclass(frozen=True)
class Opened:
    """Outcome of reviewing the top rows, as ``operating_point(alerts=...)`` counts."""

    n_alerts: int  # fewer than wanted where a tie would be cut
    found: int
    missed: int
    false_alarms: int
    precision: float
    # Wilson's intervals
    found_ends: Ends
    alarm_ends: Ends
    precision_ends: Ends


@dataclass(frozen=True)
class RankedRows:
    """Groups of rows of equal score, the highest first, by class."""

    negatives: IntArray
    positives: IntArray

    @classmethod
    def of(cls, labels: BoolArray, scores: FloatArray) -> RankedRows:
        """Rank rows by scores; costs a sort."""
        order = np.argsort(-scores, kind="stable")
        ranked = scores[order]
        group = np.concatenate(([0], np.cumsum(ranked[1:] != ranked[:-1])))
        sizes = np.bincount(group)
        positives = np.bincount(group, labels[order]).astype(np.int64)
        return cls(sizes - positives, positives)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.negatives.sum() + self.positives.sum())

    def open(self, n_rows: int) -> Opened:
        """Review the top rows, at most `n_rows`, without cutting a tie."""
        ends = np.cumsum(self.negatives + self.positives)
        n_groups = int(np.searchsorted(ends, n_rows, side="right"))
        opened = int(ends[n_groups - 1]) if n_groups else 0
        found = int(self.positives[:n_groups].sum())
        n_positive, n_negative = int(self.positives.sum()), int(self.negatives.sum())
        alarms = opened - found
        precision = found / opened if opened else float("nan")
        return Opened(
            opened,
            found,
            n_positive - found,
            alarms,
            precision,
            _scaled(wilson_ends(found / n_positive, n_positive, 0.95), n_positive),
            _scaled(wilson_ends(alarms / n_negative, n_negative, 0.95), n_negative),
            wilson_ends(precision, opened, 0.95),
        )

    def encode(self) -> str:
        """Write the groups as steps, in characters that no format escapes."""
        negatives, positives = self.negatives, self.positives
        # 0 and 1: single rows of a class, which join into runs; 2: ties, which do not
        kinds = np.where(negatives + positives > 1, 2, positives)
        continues = (kinds[1:] == kinds[:-1]) & (kinds[1:] != 2)
        starts = np.concatenate(([0], np.flatnonzero(~continues) + 1))
        is_tie = kinds[starts] == 2
        lengths = np.diff(starts, append=kinds.size)
        heads = 4 * np.where(is_tie, negatives[starts], lengths) + kinds[starts]
        tied = positives[starts][is_tie]
        return _in_base_64(np.insert(heads, np.flatnonzero(is_tie) + 1, tied))


def usual_length(n_rows: int) -> int:
    """Return how many rows are reviewed when the page opens: 100, or a tenth."""
    return min(_USUAL_LENGTH, max(n_rows // 10, 1))


def describe_top(labels: BoolArray, scores: FloatArray) -> str:
    """Return a sentence on the positives among the highest-scored rows."""
    at = RankedRows.of(labels, scores).open(usual_length(labels.size))
    if not at.n_alerts:
        return ""
    return (
        f"Reviewing the {at.n_alerts:,} highest-scored of {labels.size:,} cases finds "
        f"{at.found:,} of the {labels.sum():,} positives."
    )


def _scaled(ends: Ends, n_rows: int) -> Ends:
    return ends[0] * n_rows, ends[1] * n_rows


def _in_base_64(numbers: IntArray) -> str:
    """Write numbers of any length, the lowest digits first."""
    digits, rest = [], numbers.copy()
    is_open = np.ones(numbers.size, dtype=bool)
    while is_open.any():
        digit, rest = rest % _MORE, rest // _MORE
        digits.append(np.where(is_open, digit + _MORE * (rest > 0), -1))  # -1: ended
        is_open &= rest > 0
    table = np.stack(digits, axis=1)
    return bytes(_ALPHABET[table[table >= 0]]).decode("ascii")
