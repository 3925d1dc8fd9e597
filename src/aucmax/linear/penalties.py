"""The regularizer that the parameters of a linear model name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from aucmax._core.parameters import check_choice
from aucmax._core.validation import IntArray
from aucmax.regularizers.elastic_net import ElasticNet, ElasticNetBall
from aucmax.regularizers.group_lasso import GroupLasso, GroupLassoBall
from aucmax.regularizers.l1 import L1, L1Ball
from aucmax.regularizers.l2 import L2, L2Ball
from aucmax.regularizers.regularizer import ProximalRegularizer

_MAX_COLUMNS_SHOWN = 10  # in a message

#: the regularizers without and with a radius
PENALTIES: dict[str, tuple[Callable[..., ProximalRegularizer], ...]] = {
    "l2": (L2, L2Ball),
    "l1": (L1, L1Ball),
    "elasticnet": (ElasticNet, ElasticNetBall),
    "group": (GroupLasso, GroupLassoBall),
}


@dataclass(frozen=True)
class Penalty:
    """A norm of the weights, as a penalty or as a limit."""

    name: str  # a key of `PENALTIES`
    radius: float | None  # the limit of the norm; None for a penalty
    l1_ratio: float  # the share of the L1 norm in an elastic net
    groups: Sequence[Sequence[Any]] | None  # the columns of each, by number or by name

    def check(self) -> None:
        """Raise an error for a wrong parameter, before any data are read."""
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
        """Return the regularizer of these columns."""
        penalty, ball = PENALTIES[self.name]
        options: dict[str, Any] = {}
        if self.name == "elasticnet":
            options["l1_ratio"] = self.l1_ratio
        if self.name == "group" and self.groups is not None:
            options["groups"] = group_numbers(self.groups, n_features, names)
        if self.radius is None:
            return penalty(**options)
        return ball(self.radius, **options)


def group_numbers(
    groups: Sequence[Sequence[Any]], n_features: int, names: Sequence[str] | None = None
) -> IntArray:
    """Return each column's group, given lists of columns by number or by name."""
    places = {name: k for k, name in enumerate(() if names is None else names)}
    numbers = np.full(n_features, -1, dtype=np.int64)
    for number, members in enumerate(groups):
        for member in _checked_list(members, number):
            column = _find_column(member, number, n_features, places)
            if numbers[column] == number:
                raise ValueError(
                    f"groups lists column {_listed([column], places)} twice in group "
                    f"{number}; list it once."
                )
            if numbers[column] >= 0:
                raise ValueError(
                    f"groups overlap: column {_listed([column], places)} is in group "
                    f"{numbers[column]} and in group {number}. Leave it in one of them."
                )
            numbers[column] = number
    missing = np.flatnonzero(numbers < 0)
    if missing.size:
        raise ValueError(
            f"groups leaves out {missing.size} of the {n_features} columns: "
            f"{_listed(missing, places)}. Put each into a group; a group may hold one "
            "column alone."
        )
    return numbers


def _checked_list(members: Any, number: int) -> list[Any]:
    if isinstance(members, str | bytes) or not hasattr(members, "__iter__"):
        raise ValueError(
            f"groups must be a list of lists of columns, but group {number} is "
            f"{members!r}; write [{members!r}] for a group of one column."
        )
    columns = list(members)
    if not columns:
        raise ValueError(f"groups has no column in group {number}; remove that group.")
    return columns


def _find_column(
    member: Any, number: int, n_features: int, places: dict[str, int]
) -> int:
    """Return the number of a column, given by number or by name."""
    if isinstance(member, str):
        if member in places:
            return places[member]
        columns = _listed(range(n_features), places)
        reason = (
            f"X has no such column. Its columns are {columns}."
            if places
            else "the columns of X have no names. Fit on a data frame, or give the "
            "number of the column."
        )
        raise ValueError(
            f"groups holds the name {member!r} in group {number}, but {reason}"
        )
    if not isinstance(member, Integral) or isinstance(member, bool | np.bool_):
        raise ValueError(
            f"groups holds {member!r} in group {number}; columns are whole numbers "
            "from 0, or names."
        )
    column = int(member)
    if not 0 <= column < n_features:
        raise ValueError(
            f"groups holds column {column} in group {number}, but X has {n_features} "
            f"columns, numbered from 0 to {n_features - 1}."
        )
    return column


def _listed(columns: Sequence[int] | IntArray, places: dict[str, int]) -> str:
    """Write the first columns, by name if they have names."""
    names = [repr(str(name)) for name in places]
    shown = [names[k] if names else str(k) for k in columns[:_MAX_COLUMNS_SHOWN]]
    return ", ".join(shown) + (", ..." if len(columns) > len(shown) else "")
