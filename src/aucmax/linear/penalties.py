"""The regularizer that the parameters of a linear model name."""

from collections.abc import Callable, Sequence
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


def check_penalty(
    penalty: str, radius: float | None, l1_ratio: float, groups: Any
) -> None:
    """Raise an error for a wrong parameter, before any data are read."""
    check_choice("penalty", penalty, PENALTIES)
    ElasticNet(l1_ratio)
    if radius is not None:
        L2Ball(radius)
    if penalty == "group" and groups is None:
        raise ValueError(
            "penalty='group' needs groups: lists of columns that stay or go together, "
            "such as groups=[[0, 1], [2]]."
        )


def choose_regularizer(
    n_features: int,
    names: Sequence[str] | None,
    penalty: str,
    radius: float | None,
    l1_ratio: float,
    groups: Any,
) -> ProximalRegularizer:
    """Return the regularizer of these columns."""
    options: dict[str, Any] = {}
    if penalty == "elasticnet":
        options["l1_ratio"] = l1_ratio
    if penalty == "group":
        options["groups"] = group_numbers(groups, n_features, names)
    norm, ball = PENALTIES[penalty]
    return norm(**options) if radius is None else ball(radius, **options)


def group_numbers(
    groups: Sequence[Sequence[Any]], n_features: int, names: Sequence[str] | None = None
) -> IntArray:
    """Return each column's group, given lists of columns by number or by name."""
    names = [] if names is None else [str(name) for name in names]
    columns: list[Any] = names or list(range(n_features))
    places: dict[Any, int] = {k: k for k in range(n_features)}
    places |= {name: k for k, name in enumerate(names)}
    numbers = np.full(n_features, -1, dtype=np.int64)
    for number, members in enumerate(groups):
        is_list = hasattr(members, "__iter__") and not isinstance(members, str | bytes)
        if not is_list or not len(members := list(members)):
            raise ValueError(
                "groups must be a list of lists of columns, such as [[0, 1], [2]], but "
                f"group {number} is {members!r}."
            )
        for member in members:
            is_key = isinstance(member, str | Integral) and not isinstance(member, bool)
            if not is_key or member not in places:
                raise ValueError(
                    f"groups holds {member!r} in group {number}, but the columns of X "
                    f"are {_listed(columns)}."
                )
            column = places[member]
            if numbers[column] >= 0:
                raise ValueError(
                    f"groups lists column {columns[column]!r} in group "
                    f"{numbers[column]} and again in group {number}; list it once."
                )
            numbers[column] = number
    missing = [columns[k] for k in np.flatnonzero(numbers < 0)]
    if missing:
        raise ValueError(
            f"groups leaves out {len(missing)} of the {n_features} columns: "
            f"{_listed(missing)}. Put each into a group; a group may hold one column "
            "alone."
        )
    return numbers


def _listed(columns: list[Any]) -> str:
    """Write the first columns."""
    more = ", ..." if len(columns) > _MAX_COLUMNS_SHOWN else ""
    return ", ".join(map(repr, columns[:_MAX_COLUMNS_SHOWN])) + more
