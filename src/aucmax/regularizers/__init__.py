"""Penalties on the parameters and sets that limit them, with their proximal maps."""

from aucmax.regularizers.elastic_net import ElasticNet, ElasticNetBall
from aucmax.regularizers.group_lasso import GroupLasso, GroupLassoBall
from aucmax.regularizers.l1 import L1, L1Ball, Simplex
from aucmax.regularizers.l2 import L2, BoundedL2, L2Ball
from aucmax.regularizers.regularizer import (
    Hull,
    HullRegularizer,
    PricedWeights,
    ProximalRegularizer,
    QuadraticRegularizer,
    Regularizer,
    SparseRegularizer,
)

__all__ = [
    "L1",
    "L2",
    "BoundedL2",
    "ElasticNet",
    "ElasticNetBall",
    "GroupLasso",
    "GroupLassoBall",
    "Hull",
    "HullRegularizer",
    "L1Ball",
    "L2Ball",
    "PricedWeights",
    "ProximalRegularizer",
    "QuadraticRegularizer",
    "Regularizer",
    "Simplex",
    "SparseRegularizer",
]
