r"""Sums over all pairs of two classes, by operations on tensors, without the pairs.

The logistic loss of a pair at distance x, and its derivatives, are short sums of powers
of :math:`z = e^{-x}` (see :mod:`aucmax.risks._exponential_sums`), and

.. math:: \sum_{j \text{ above } i} u_j z_{ij}^k
          = \exp\Big(\log \sum_{j \text{ above } i} u_j e^{k t_j} - k t_i\Big)

where t is how deep a row lies below the first one: a cumulative sum of exponentials,
which PyTorch adds up without overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from aucmax.torch._sorted_rows import SortedRows

__all__ = ["ClassTensors", "PairSums", "PowerTable"]

#: coefficients of z, z^2, ..., a list for each sum that is wanted
PowerTable = list[list[float]]


@dataclass(frozen=True)
class ClassTensors:
    """Sorted rows with their weights as positives and as negatives; one of both is 0.

    Attributes
    ----------
    is_positive : tensor
        Of each row.
    ranks : tensor or None
        If given, a pair counts by the distance of its ranks.
    """

    rows: SortedRows
    is_positive: torch.Tensor
    positive: torch.Tensor
    negative: torch.Tensor
    ranks: torch.Tensor | None = None

    @property
    def own(self) -> torch.Tensor:
        """The weight of each row."""
        return torch.where(self.is_positive, self.positive, self.negative)

    def times(self, factors: torch.Tensor) -> ClassTensors:
        """Return the same rows with other weights."""
        return ClassTensors(
            self.rows,
            self.is_positive,
            self.positive * factors,
            self.negative * factors,
            self.ranks,
        )


@dataclass(frozen=True)
class PairSums:
    """For each row, sums over the rows of the other class, by their weights.

    Attributes
    ----------
    powers : tensor of shape (n_sums, 2, n_rows)
        Sums of powers, one for each row of the table; over pairs in the right order,
        and over those in the wrong one.
    wrong : tensor
        Weight of the pairs in the wrong order.
    overlap : tensor
        How far these are apart, added up.
    """

    powers: torch.Tensor
    wrong: torch.Tensor
    overlap: torch.Tensor

    @classmethod
    def of(cls, found: ClassTensors, table: PowerTable, width: float = 1.0) -> PairSums:
        """Add up over all pairs, at distances in units of `width`."""
        depths = found.rows.depths / width
        if found.ranks is None:
            return cls._weighted(found, depths, table, width)
        # the distance of ranks is a difference of two numbers, hence of two sums
        plain = cls._weighted(found, depths, table, width)
        ranked = cls._weighted(found.times(found.ranks), depths, table, width)
        # ranks rise downwards: a positive has the wrong ones above it, a negative below
        sign = torch.where(found.is_positive, 1.0, -1.0)
        signs = torch.stack((-sign, sign))
        return cls(
            signs * (found.ranks * plain.powers - ranked.powers),
            sign * (found.ranks * plain.wrong - ranked.wrong),
            sign * (found.ranks * plain.overlap - ranked.overlap),
        )

    @classmethod
    def _weighted(
        cls, found: ClassTensors, depths: torch.Tensor, table: PowerTable, width: float
    ) -> PairSums:
        positive, negative, rows = found.positive, found.negative, found.rows
        wrong = rows.above(negative)
        overlap = depths * wrong - rows.above(negative * depths)
        below = rows.totals(positive) - rows.above(positive) - positive
        deep = rows.totals(positive * depths) - rows.above(positive * depths)
        reach = deep - positive * depths - depths * below
        return cls(
            _sums_of_powers(found, rows.spread_out(width), table),
            torch.where(found.is_positive, wrong, below),
            torch.where(found.is_positive, overlap, reach).clamp(min=0.0),
        )


def _sums_of_powers(
    found: ClassTensors, depths: torch.Tensor, table: PowerTable
) -> torch.Tensor:
    """Return the sums of each row of the table, of right pairs and of wrong ones."""
    if not table:
        return depths.new_zeros((0, 2, len(depths)))
    logs = torch.stack((found.positive, found.negative)).log()
    # from above, and from below
    logs = torch.stack((logs, logs.flip(-1)))
    ends = torch.stack((depths, (depths[-1] - depths).flip(-1)))[:, None, :]
    sums = depths.new_zeros((len(table), 2, 2, len(depths)))
    for power, column in enumerate(zip(*table, strict=True), start=1):
        met = torch.exp(torch.logcumsumexp(logs + power * ends, -1) - power * ends)
        sums = sums + met.new_tensor(column)[:, None, None, None] * met
    (positive_above, negative_above), below = sums[:, 0].unbind(1), sums[:, 1].flip(-1)
    positive_below, negative_below = below.unbind(1)
    right = torch.where(found.is_positive, negative_below, positive_above)
    wrong = torch.where(found.is_positive, negative_above, positive_below)
    return torch.stack((right, wrong), dim=1)
