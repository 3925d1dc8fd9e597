"""What do we minimise? Scores and labels in; value and subgradient out."""

from aucmax.risks.base import Risk, SmoothableRisk, Support
from aucmax.risks.instance_margin import InstanceMargin, InstanceMargins
from aucmax.risks.pair_hinge import PairHinge
from aucmax.risks.pair_margin import PairMargin, pairs_with_margin
from aucmax.risks.tangent_margin import TangentMargin

__all__ = [
    "InstanceMargin",
    "InstanceMargins",
    "PairHinge",
    "PairMargin",
    "Risk",
    "SmoothableRisk",
    "Support",
    "TangentMargin",
    "pairs_with_margin",
]
