"""What do we hold down? Parameters in; price out, and what solvers need of it."""

from aucmax.regularizers.base import (
    QuadraticRegularizer,
    Regularizer,
    RegularizerWithLevels,
    RegularizerWithMaster,
)
from aucmax.regularizers.hull import L1Ball, Simplex
from aucmax.regularizers.l2 import L2

__all__ = [
    "L2",
    "L1Ball",
    "QuadraticRegularizer",
    "Regularizer",
    "RegularizerWithLevels",
    "RegularizerWithMaster",
    "Simplex",
]
