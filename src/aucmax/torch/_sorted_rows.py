"""Rows of a batch by descending score within groups, by operations on tensors.

A group is a column of the batch, or a query of a column. Shapes depend on those of the
batch alone, never on its values, so that a compiler can follow.
"""

from dataclasses import dataclass

import torch

__all__ = ["SortedRows"]

_OUT_OF_REACH = 40.0  # a distance at which a row adds e^-40 of its weight to a sum


@dataclass(frozen=True)
class SortedRows:
    """Rows of all groups, one group after the other.

    Attributes
    ----------
    order : tensor
        Where each row stands in the batch.
    groups : tensor
        The group of each row.
    starts : tensor
        The place of the first row of each row's group.
    depths : tensor
        How far each row is below the highest of its group.
    """

    order: torch.Tensor
    groups: torch.Tensor
    starts: torch.Tensor
    depths: torch.Tensor
    n_groups: int

    @classmethod
    def of(
        cls, scores: torch.Tensor, groups: torch.Tensor, n_groups: int
    ) -> "SortedRows":
        """Sort the rows of each group by descending score, ties as they come."""
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

    def spread_out(self, width: float) -> torch.Tensor:
        """Return depths in units of `width` that go on from group to group.

        Steps are cut off where the rows above are out of reach, so that digits are left
        for the short ones.
        """
        steps = torch.zeros_like(self.depths)
        steps[1:] = torch.where(
            self.groups[1:] == self.groups[:-1],
            ((self.depths[1:] - self.depths[:-1]) / width).clamp(max=_OUT_OF_REACH),
            _OUT_OF_REACH,
        )
        return torch.cumsum(steps, dim=0)

    def shares(self, weights: torch.Tensor, ends: tuple[float, float]) -> torch.Tensor:
        """Return the share of each row whose rank lies in a range of the weights.

        Rows that tie share alike.
        """
        if ends == (0.0, 1.0):
            return torch.ones_like(weights)
        is_new = torch.ones_like(self.groups, dtype=torch.bool)
        is_new[1:] = (self.groups[1:] != self.groups[:-1]) | (
            self.depths[1:] != self.depths[:-1]
        )
        ties = torch.cumsum(is_new, dim=0) - 1
        masses = torch.zeros_like(weights).index_add(0, ties, weights)[ties]
        places = torch.arange(len(ties), device=ties.device)
        firsts = torch.cummax(torch.where(is_new, places, 0), dim=0).values
        before, total = self.above(weights)[firsts], self.totals(weights)
        low, high = ends[0] * total, ends[1] * total
        inside = torch.minimum(before + masses, high) - torch.maximum(before, low)
        share = inside / torch.where(masses > 0.0, masses, 1.0)
        return share.clamp(0.0, 1.0)
