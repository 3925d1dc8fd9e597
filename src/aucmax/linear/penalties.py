"""Which regularizer the parameters of a linear model ask for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aucmax._core.parameters import check_choice
from aucmax.linear.column_groups import group_numbers
from aucmax.regularizers import (
    L1,
    L2,
    ElasticNet,
    ElasticNetBall,
    GroupLasso,
    GroupLassoBall,
    L1Ball,
    L2Ball,
    ProximalRegularizer,
)

__all__ = ["PENALTIES", "Penalty"]

#: the price of the weights, and its limit: radius and options in, regularizer out
PENALTIES: dict[
    str,
    tuple[Callable[..., ProximalRegularizer], Callable[..., ProximalRegularizer]],
] = {
    "l2": (L2, L2Ball),
    "l1": (L1, L1Ball),
    "elasticnet": (ElasticNet, ElasticNetBall),
    "group": (GroupLasso, GroupLassoBall),
}


@dataclass(frozen=True)
class Penalty:
    """What holds the weights down: a norm, as a price or as a limit."""

    name: str  # a key of `PENALTIES`
    radius: float | None  # the most that the weights may cost; None to charge them
    l1_ratio: float  # the share of the L1 norm in an elastic net
    groups: Sequence[Sequence[Any]] | None  # the columns of each, by number or by name

    def check(self) -> None:
        """Complain about a parameter, before any data are read."""
        check_choice("penalty", self.name, PENALTIES)
        ElasticNet(self.l1_ratio)
        if self.radius is not None:
            L2Ball(self.radius)
        if self.name == "group" and self.groups is None:
            raise ValueError(
                "penalty='group' needs groups: lists of columns that stay or go "
                "together, such as groups=[[0, 1], [2]]."
            )

    def regularizer(
        self, n_features: int, names: Sequence[str] | None
    ) -> ProximalRegularizer:
        """Return the regularizer of so many columns."""
        price, limit = PENALTIES[self.name]
        options: dict[str, Any] = {}
        if self.name == "elasticnet":
            options["l1_ratio"] = self.l1_ratio
        if self.name == "group" and self.groups is not None:
            options["groups"] = group_numbers(self.groups, n_features, names)
        if self.radius is None:
            return price(**options)
        return limit(self.radius, **options)
