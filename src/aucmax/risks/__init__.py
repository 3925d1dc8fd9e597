"""What do we minimise? Scores and labels in; value and subgradient out."""

from aucmax.risks.base import Risk, SmoothableRisk, Support
from aucmax.risks.instance_margin import InstanceMargin, InstanceMargins
from aucmax.risks.of_rows import RiskOfRows
from aucmax.risks.pair_hinge import PairHinge
from aucmax.risks.pair_logistic import PairLogistic
from aucmax.risks.pair_margin import PairMargin, pairs_with_margin
from aucmax.risks.pair_sigmoid import PairSigmoid, PreparedSigmoid
from aucmax.risks.partial_hinge import PartialHinge
from aucmax.risks.per_query import PerQuery
from aucmax.risks.prepared_pairs import PreparedPairs
from aucmax.risks.tangent_margin import TangentMargin

__all__ = [
    "InstanceMargin",
    "InstanceMargins",
    "PairHinge",
    "PairLogistic",
    "PairMargin",
    "PairSigmoid",
    "PartialHinge",
    "PerQuery",
    "PreparedPairs",
    "PreparedSigmoid",
    "Risk",
    "RiskOfRows",
    "SmoothableRisk",
    "Support",
    "TangentMargin",
    "pairs_with_margin",
]
