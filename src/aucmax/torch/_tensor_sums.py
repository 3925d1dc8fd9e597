r"""Sums over all pairs of two classes, by operations on tensors, without the pairs.

The logistic loss of a pair at distance x, and its derivatives, are short sums of powers
of :math:`z = e^{-x}` (see :mod:`aucmax.risks._pairs.logistic_table`), and

.. math:: \sum_{j \text{ above } i} u_j z_{ij}^k
          = \exp\Big(\log \sum_{j \text{ above } i} u_j e^{k t_j} - k t_i\Big)

where t is the distance of a row below the first one: a cumulative sum of exponentials,
which PyTorch computes without overflow.

A group is a column of the batch, or a query of a column. Shapes depend only on that of
the batch, never on its values, as compilers require.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

#: coefficients of z, z^2, ..., one list per sum
PowerTable = list[list[float]]
_MAX_DISTANCE = 40.0  # farther rows add less than e^-40 of their weight to a sum


@dataclass(frozen=True)
class SortedRows:
    """Rows by descending score within groups, one group after the other."""

    order: torch.Tensor  # the index of each row in the batch
    groups: torch.Tensor
    starts: torch.Tensor  # the index of the first row of each row's group
    depths: torch.Tensor  # distance below the highest score of the group
    n_groups: int

    @classmethod
    def sort(
        cls, scores: torch.Tensor, groups: torch.Tensor, n_groups: int
    ) -> SortedRows:
        """Sort the rows of each group by descending score; the sort is stable."""
        order = torch.argsort(scores, descending=True, stable=True)
        if n_groups > 1:
            order = order[torch.argsort(groups[order], stable=True)]
        groups, scores = groups[order], scores[order]
        places = torch.arange(len(order), device=order.device)
        is_first = torch.ones_like(groups, dtype=torch.bool)
        is_first[1:] = groups[1:] != groups[:-1]
        starts = torch.cummax(torch.where(is_first, places, 0), dim=0).values
        return cls(order, groups, starts, scores[starts] - scores, n_groups)

    def totals(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sum over each row's group."""
        sums = values.new_zeros(self.n_groups)
        return sums.index_add(0, self.groups, values)[self.groups]

    def above(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sum over the rows before each row in its group."""
        before = torch.cumsum(values, dim=0) - values
        return before - before[self.starts]

    def increasing_depths(self, width: float) -> torch.Tensor:
        """Return depths in units of `width` that increase from group to group."""
        # long steps are cut off, where rows above no longer matter, to keep precision
        steps = torch.zeros_like(self.depths)
        steps[1:] = torch.where(
            self.groups[1:] == self.groups[:-1],
            ((self.depths[1:] - self.depths[:-1]) / width).clamp(max=_MAX_DISTANCE),
            _MAX_DISTANCE,
        )
        return torch.cumsum(steps, dim=0)

    def shares(self, weights: torch.Tensor, ends: tuple[float, float]) -> torch.Tensor:
        """Return the share of each row within a range of ranks; equal among ties."""
        if ends == (0.0, 1.0):
            return torch.ones_like(weights)
        before, tied = self.ties(weights)
        total = self.totals(weights)
        low, high = ends[0] * total, ends[1] * total
        inside = torch.minimum(before + tied, high) - torch.maximum(before, low)
        share = inside / torch.where(tied > 0.0, tied, 1.0)
        return share.clamp(0.0, 1.0)

    def ties(self, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weight of the higher rows of the group, and of the equal ones."""
        is_new = torch.ones_like(self.groups, dtype=torch.bool)
        is_new[1:] = (self.groups[1:] != self.groups[:-1]) | (
            self.depths[1:] != self.depths[:-1]
        )
        ties = torch.cumsum(is_new, dim=0) - 1
        tied = torch.zeros_like(weights).index_add(0, ties, weights)[ties]
        places = torch.arange(len(ties), device=ties.device)
        firsts = torch.cummax(torch.where(is_new, places, 0), dim=0).values
        return self.above(weights)[firsts], tied


@dataclass(frozen=True)
class WeightedRows:
    """Sorted rows with their weights as positives and as negatives; one is 0."""

    rows: SortedRows
    is_positive: torch.Tensor
    positive: torch.Tensor
    negative: torch.Tensor
    ranks: torch.Tensor | None = None
    tie_distance: torch.Tensor | None = None  # of the ranks of rows with equal scores

    @property
    def weight(self) -> torch.Tensor:
        """The weight of each row."""
        return torch.where(self.is_positive, self.positive, self.negative)

    def times(self, factors: torch.Tensor) -> WeightedRows:
        """Return the same rows with other weights."""
        return WeightedRows(
            self.rows,
            self.is_positive,
            self.positive * factors,
            self.negative * factors,
            self.ranks,
            self.tie_distance,
        )


@dataclass(frozen=True)
class PairSums:
    """For each row, sums over the rows of the other class, by their weights."""

    powers: torch.Tensor  # (n_sums, 2, n_rows): right pairs, wrong pairs
    wrong: torch.Tensor  # weight of the pairs in the wrong order
    overlap: torch.Tensor  # sum of the distances of these pairs

    @classmethod
    def add_up(
        cls, weighted: WeightedRows, table: PowerTable, width: float = 1.0
    ) -> PairSums:
        """Add up over all pairs, at distances in units of `width`."""
        depths = weighted.rows.depths / width
        if weighted.ranks is None or weighted.tie_distance is None:
            return cls._weighted(weighted, depths, table, width)
        # the distance of ranks is a difference of two numbers, hence of two sums
        plain = cls._weighted(weighted, depths, table, width)
        ranked = cls._weighted(weighted.times(weighted.ranks), depths, table, width)
        # ranks rise downwards: a positive has the wrong ones above it, a negative below
        sign = torch.where(weighted.is_positive, 1.0, -1.0)
        signs = torch.stack((-sign, sign))
        powers = signs * (weighted.ranks * plain.powers - ranked.powers)
        classes = weighted.negative, weighted.positive
        tied = torch.where(
            weighted.is_positive, *(weighted.rows.ties(w)[1] for w in classes)
        )
        at_distance_0 = tied.new_tensor([sum(row) for row in table])[:, None]
        powers[:, 0] += at_distance_0 * tied * weighted.tie_distance
        return cls(
            powers,
            sign * (weighted.ranks * plain.wrong - ranked.wrong),
            sign * (weighted.ranks * plain.overlap - ranked.overlap),
        )

    @classmethod
    def _weighted(
        cls,
        weighted: WeightedRows,
        depths: torch.Tensor,
        table: PowerTable,
        width: float,
    ) -> PairSums:
        positive, negative, rows = weighted.positive, weighted.negative, weighted.rows
        wrong = rows.above(negative)
        overlap = depths * wrong - rows.above(negative * depths)
        below = rows.totals(positive) - rows.above(positive) - positive
        deep = rows.totals(positive * depths) - rows.above(positive * depths)
        reach = deep - positive * depths - depths * below
        return cls(
            _sums_of_powers(weighted, rows.increasing_depths(width), table),
            torch.where(weighted.is_positive, wrong, below),
            torch.where(weighted.is_positive, overlap, reach).clamp(min=0.0),
        )


def _sums_of_powers(
    weighted: WeightedRows, depths: torch.Tensor, table: PowerTable
) -> torch.Tensor:
    """Return the sums of each row of the table, for right and for wrong pairs."""
    if not table:
        return depths.new_zeros((0, 2, len(depths)))
    logs = torch.stack((weighted.positive, weighted.negative)).log()
    # from above, and from below
    logs = torch.stack((logs, logs.flip(-1)))
    ends = torch.stack((depths, (depths[-1] - depths).flip(-1)))[:, None, :]
    sums = depths.new_zeros((len(table), 2, 2, len(depths)))
    for power, column in enumerate(zip(*table, strict=True), start=1):
        terms = torch.exp(torch.logcumsumexp(logs + power * ends, -1) - power * ends)
        sums = sums + terms.new_tensor(column)[:, None, None, None] * terms
    (positive_above, negative_above), below = sums[:, 0].unbind(1), sums[:, 1].flip(-1)
    positive_below, negative_below = below.unbind(1)
    right = torch.where(weighted.is_positive, negative_below, positive_above)
    wrong = torch.where(weighted.is_positive, negative_above, positive_below)
    return torch.stack((right, wrong), dim=1)
