"""Losses over all pairs as tensor operations, for any device and for compilers."""

from dataclasses import dataclass, field
from typing import Any

import torch

from aucmax.risks._pairs.logistic_table import coefficients
from aucmax.torch._tensor_sums import PairSums, PowerTable, SortedRows, WeightedRows

MAX_ROW_SHORTFALL = 1e-9  # tolerance for rounded ranges
# rows of the table of coefficients
_FIRST_DERIVATIVES, _SECOND_DERIVATIVES, _VALUES = range(3)
_FINE, _PLAIN = 1e-12, 1e-7  # accuracy for float64, and for other types
_MAX_KINK_ERROR = 1e-12  # of the largest distance: rounding


@dataclass(frozen=True)
class PairForm:
    """The loss of a pair, and the pairs that are summed."""

    kind: str  # "logistic", "sigmoid" or "hinge"
    width: float = 1.0  # of the sigmoid, or the margin of the hinge
    ranges: tuple[tuple[float, float], ...] = ((0.0, 1.0), (0.0, 1.0))  # FPR, TPR
    is_ranked: bool = False  # whether pairs are weighted by the distance of their ranks
    #: coefficients of loss and slope by accuracy: plain numbers, for a compiler
    tables: dict[float, PowerTable] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the coefficients."""
        places = {
            "logistic": [_VALUES, _FIRST_DERIVATIVES],
            "sigmoid": [_FIRST_DERIVATIVES, _SECOND_DERIVATIVES],
            "hinge": [],
        }[self.kind]
        tables = {
            accuracy: coefficients(accuracy)[places].tolist()
            for accuracy in (_FINE, _PLAIN)
        }
        object.__setattr__(self, "tables", tables)


@dataclass(frozen=True)
class TensorBatch:
    """A batch as flat tensors, column after column."""

    scores: torch.Tensor
    is_positive: torch.Tensor
    weights: torch.Tensor
    groups: torch.Tensor
    n_groups: int
    shape: tuple[int, ...]
    has_queries: bool
    accuracy: float
    is_valid: torch.Tensor  # whether all values are valid

    @classmethod
    def from_tensors(
        cls, scores: torch.Tensor, labels: Any, sample_weight: Any, qid: Any
    ) -> "TensorBatch":
        """Flatten a batch; check its values without reading them."""
        n_rows, device = len(scores), scores.device
        # some devices have nothing finer than float32
        kind = torch.float32 if device.type == "mps" else torch.float64
        numbers, targets = scores.detach().to(kind), labels.to(kind)
        weights = torch.ones(n_rows, dtype=kind, device=device)
        if sample_weight is not None:
            weights = torch.as_tensor(sample_weight, dtype=kind, device=device)
            _check_length("sample_weight", weights, n_rows)
        is_missing = torch.isnan(targets)
        is_known = (targets == 0.0) | (targets == 1.0) | is_missing
        is_valid = torch.isfinite(numbers).all() & is_known.all()
        is_valid &= (torch.isfinite(weights) & (weights >= 0.0)).all()
        if numbers.ndim == 2:
            weights = weights[:, None].expand_as(numbers)
        weights = torch.where(is_missing, 0.0, weights)
        n_columns = numbers[0].numel()
        columns = torch.arange(n_columns, device=device).repeat_interleave(n_rows)
        if qid is not None:
            queries = torch.as_tensor(qid, device=device)
            _check_length("qid", queries, n_rows)
            columns = columns * n_rows + _numbered(queries).repeat(n_columns)
        return cls(
            _flat(numbers),
            _flat(targets == 1.0),
            _flat(weights),
            columns,
            n_columns if qid is None else n_columns * n_rows,
            tuple(scores.shape),
            qid is not None,
            _FINE if scores.dtype == torch.float64 else _PLAIN,
            is_valid,
        )

    def value_and_gradient(
        self, form: PairForm
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the loss, its gradient, and whether there are any pairs."""
        weighted, factors = self._weigh(form)
        if form.kind == "hinge":
            weighted, factors = self._lift_negatives(form, weighted, factors)
            sums = PairSums.add_up(weighted, [])
            losses, derivatives = sums.overlap, sums.wrong
        else:
            sums = PairSums.add_up(weighted, form.tables[self.accuracy], form.width)
            first, second = sums.powers.unbind(0)
            if form.kind == "logistic":
                losses = first.sum(0) + sums.overlap
                derivatives = second[0] + sums.wrong - second[1]
            else:
                losses = first[0] + sums.wrong - first[1]
                derivatives = second.sum(0) / form.width
        value = (factors * weighted.positive * losses).sum()
        derivatives = torch.where(weighted.is_positive, -derivatives, derivatives)
        gradient = self._in_batch_order(
            weighted.rows, factors * weighted.weight * derivatives
        )
        return value, gradient, (factors > 0.0).any()

    def covers_a_row(self, form: PairForm) -> torch.Tensor:
        """Return whether each range covers a row of its class in all columns."""
        is_enough = torch.ones((), dtype=torch.bool, device=self.scores.device)
        if self.has_queries:  # a range may cover part of the first row
            return is_enough
        counts = [
            self.weights.new_zeros(self.n_groups).index_add(
                0, self.groups, ((self.weights > 0.0) & own).to(self.weights)
            )
            for own in (~self.is_positive, self.is_positive)
        ]
        has_pairs = (counts[0] > 0) & (counts[1] > 0)
        for (low, high), count in zip(form.ranges, counts, strict=True):
            covered = (high - low) * count >= 1.0 - MAX_ROW_SHORTFALL
            is_enough = is_enough & (covered | ~has_pairs).all()
        return is_enough

    def _weigh(self, form: PairForm) -> tuple[WeightedRows, torch.Tensor]:
        """Return the sorted, weighted rows, and the factor of each row's group."""
        rows = SortedRows.sort(self.scores, self.groups, self.n_groups)
        is_positive, weights = self.is_positive[rows.order], self.weights[rows.order]
        positive = torch.where(is_positive, weights, 0.0)
        negative = torch.where(is_positive, 0.0, weights)
        ranks = distance = None
        if form.is_ranked:
            above, tied = rows.ties(weights)
            ranks, distance = above + 0.5 * tied, tied / 3.0
        negative = negative * rows.shares(negative, form.ranges[0])
        positive = positive * rows.shares(positive, form.ranges[1])
        weighted = WeightedRows(rows, is_positive, positive, negative, ranks, distance)
        return weighted, self._factors(weighted)

    def _factors(self, weighted: WeightedRows) -> torch.Tensor:
        """Return the weight of a pair in each row's group, but for its rows'."""
        # the groups of a column have equal weight, and so have columns with pairs
        rows = weighted.rows
        pairs = rows.totals(weighted.positive) * rows.totals(weighted.negative)
        has_pairs = pairs > 0.0
        n_rows = self.shape[0]
        columns = rows.groups // n_rows if self.has_queries else rows.groups
        n_columns = self.n_groups // n_rows if self.has_queries else self.n_groups
        places = torch.arange(len(columns), device=columns.device)
        first = (has_pairs & (rows.starts == places)).to(pairs)
        n_used = pairs.new_zeros(n_columns).index_add(0, columns, first)
        scale = n_used.clamp(min=1.0)[columns] * (n_used > 0.0).sum()
        return torch.where(
            has_pairs, 1.0 / torch.where(has_pairs, pairs * scale, 1.0), 0.0
        )

    def _lift_negatives(
        self, form: PairForm, weighted: WeightedRows, factors: torch.Tensor
    ) -> tuple[WeightedRows, torch.Tensor]:
        """Sort again with negatives lifted by the margin; positives first in ties."""
        # a pair at the distance of the margin, up to rounding, has a loss of 0
        order, groups = weighted.rows.order, weighted.rows.groups
        scores = self.scores[order]
        slack = _MAX_KINK_ERROR * (weighted.rows.depths.max() + form.width)
        lifted = torch.where(weighted.is_positive, scores, scores + form.width - slack)
        by_class = torch.argsort((~weighted.is_positive).to(torch.int8), stable=True)
        again = SortedRows.sort(lifted[by_class], groups[by_class], self.n_groups)
        places = by_class[again.order]
        rows = SortedRows(
            order[places], again.groups, again.starts, again.depths, self.n_groups
        )
        values = (weighted.is_positive, weighted.positive, weighted.negative, factors)
        is_positive, positive, negative, factors = (one[places] for one in values)
        return WeightedRows(rows, is_positive, positive, negative), factors

    def _in_batch_order(self, rows: SortedRows, values: torch.Tensor) -> torch.Tensor:
        """Return values of sorted rows in the order and shape of the batch."""
        in_order = torch.zeros_like(values).index_copy(0, rows.order, values)
        if len(self.shape) == 1:
            return in_order
        return in_order.reshape(self.shape[1], self.shape[0]).T


def _flat(values: torch.Tensor) -> torch.Tensor:
    return values if values.ndim == 1 else values.T.reshape(-1)


def _numbered(queries: torch.Tensor) -> torch.Tensor:
    """Return the number of each row's query among those present."""
    ordered, rows = torch.sort(queries, stable=True)
    is_new = torch.zeros_like(rows)
    is_new[1:] = (ordered[1:] != ordered[:-1]).to(rows)
    return torch.zeros_like(rows).index_copy(0, rows, torch.cumsum(is_new, dim=0))


def _check_length(name: str, values: torch.Tensor, n_rows: int) -> None:
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} must have shape ({n_rows},), got {tuple(values.shape)}."
        )
