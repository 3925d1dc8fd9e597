"""What do we minimise? Scores and labels in; value and gradient out."""

from aucmax.risks.bound_pair_logistic import BoundPairLogistic
from aucmax.risks.contract import BoundRisk, Risk, Support
from aucmax.risks.instance_margin import InstanceMargin, InstanceMargins
from aucmax.risks.pair_hinge import PairHinge
from aucmax.risks.pair_logistic import PairLogistic
from aucmax.risks.pair_margin import PairMargin, pairs_with_margin
from aucmax.risks.pair_sigmoid import PairSigmoid
from aucmax.risks.partial_hinge import PartialHinge
from aucmax.risks.tangent_margin import TangentMargin

__all__ = [
    "BoundPairLogistic",
    "BoundRisk",
    "InstanceMargin",
    "InstanceMargins",
    "PairHinge",
    "PairLogistic",
    "PairMargin",
    "PairSigmoid",
    "PartialHinge",
    "Risk",
    "Support",
    "TangentMargin",
    "pairs_with_margin",
]
