"""What do we minimise? Scores and labels in; value and subgradient out."""

from aucmax.risks.base import Risk, SmoothableRisk, Support
from aucmax.risks.pair_hinge import PairHinge

__all__ = ["PairHinge", "Risk", "SmoothableRisk", "Support"]
