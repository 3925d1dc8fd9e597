"""What do we hold down? Parameters in; price out, and what solvers need of it."""

from aucmax.regularizers.base import (
    Hull,
    HullRegularizer,
    PricedWeights,
    ProximalRegularizer,
    QuadraticRegularizer,
    Regularizer,
    SparseRegularizer,
)
from aucmax.regularizers.bounded_l2 import BoundedL2
from aucmax.regularizers.elastic_net import ElasticNet, ElasticNetBall
from aucmax.regularizers.group_lasso import GroupLasso, GroupLassoBall
from aucmax.regularizers.hull import L1Ball, Simplex
from aucmax.regularizers.l1 import L1
from aucmax.regularizers.l2 import L2, L2Ball

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
