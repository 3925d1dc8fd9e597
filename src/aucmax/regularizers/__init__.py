"""What do we hold down? Parameters in; price out, and what solvers need of it."""

from aucmax.regularizers.base import (
    QuadraticRegularizer,
    Regularizer,
    RegularizerWithMaster,
)
from aucmax.regularizers.l2 import L2

__all__ = ["L2", "QuadraticRegularizer", "Regularizer", "RegularizerWithMaster"]
