"""Which regularizer the parameters of a linear model ask for."""

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
    radius: float | None  # the limit of the weights; None to charge them
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
        price, limit = PENALTIES[self.name]
        options: dict[str, Any] = {}
        if self.name == "elasticnet":
            options["l1_ratio"] = self.l1_ratio
        if self.name == "group" and self.groups is not None:
            options["groups"] = group_numbers(self.groups, n_features, names)
        if self.radius is None:
            return price(**options)
        return limit(self.radius, **options)


def group_numbers(
    groups: Sequence[Sequence[Any]], n_features: int, names: Sequence[str] | None = None
) -> IntArray:
    """Return each column's group, given lists of columns by number or by name."""
    columns = _Columns(n_features, names)
    numbers = np.full(n_features, -1, dtype=np.int64)
    for number, members in enumerate(groups):
        for member in _checked(members, number):
            column = columns.find(member, number)
            if numbers[column] == number:
                raise ValueError(
                    f"groups lists {columns.called(column)} twice in group {number}; "
                    "list it once."
                )
            if numbers[column] >= 0:
                raise ValueError(
                    f"groups overlap: {columns.called(column)} is in group "
                    f"{numbers[column]} and in group {number}. Leave it in one of them."
                )
            numbers[column] = number
    missing = np.flatnonzero(numbers < 0)
    if missing.size:
        raise ValueError(
            f"groups leaves out {missing.size} of the {n_features} columns: "
            f"{columns.listed(missing)}. Put each into a group; a group may hold one "
            "column alone."
        )
    return numbers


def _checked(members: Any, number: int) -> list[Any]:
    if isinstance(members, str | bytes) or not hasattr(members, "__iter__"):
        raise ValueError(
            f"groups must be a list of lists of columns, but group {number} is "
            f"{members!r}; write [{members!r}] for a group of one column."
        )
    columns = list(members)
    if not columns:
        raise ValueError(f"groups has no column in group {number}; remove that group.")
    return columns


class _Columns:
    """The columns of the data: how they are found, and what messages call them."""

    def __init__(self, n_features: int, names: Sequence[str] | None) -> None:
        self._n_features = n_features
        self._names = names
        self._places = {
            name: k for k, name in enumerate(() if names is None else names)
        }

    def find(self, member: Any, number: int) -> int:
        if isinstance(member, str):
            return self._find_name(member, number)
        if not isinstance(member, Integral) or isinstance(member, bool | np.bool_):
            raise ValueError(
                f"groups holds {member!r} in group {number}; columns are whole numbers "
                "from 0, or names."
            )
        column = int(member)
        if not 0 <= column < self._n_features:
            raise ValueError(
                f"groups holds column {column} in group {number}, but X has "
                f"{self._n_features} columns, numbered from 0 to "
                f"{self._n_features - 1}."
            )
        return column

    def _find_name(self, name: str, number: int) -> int:
        if self._names is None:
            raise ValueError(
                f"groups holds the name {name!r} in group {number}, but the columns of "
                "X have no names. Fit on a data frame, or give the number of the "
                "column."
            )
        if name not in self._places:
            raise ValueError(
                f"groups holds the name {name!r} in group {number}, but X has no such "
                f"column. Its columns are {self.listed(np.arange(self._n_features))}."
            )
        return self._places[name]

    def called(self, column: int) -> str:
        return f"column {self._shown(column)}"

    def listed(self, columns: IntArray) -> str:
        first = columns[:_MAX_COLUMNS_SHOWN]
        shown = ", ".join(self._shown(column) for column in first)
        return shown + (", ..." if columns.size > first.size else "")

    def _shown(self, column: int) -> str:
        return str(column) if self._names is None else repr(str(self._names[column]))
