"""Losses to minimise: functions of scores and labels, with their gradients."""

from aucmax.risks.concordance_losses import Concordance
from aucmax.risks.contract import BoundRisk, Risk
from aucmax.risks.cox_likelihood import CoxLikelihood
from aucmax.risks.pair_hinge import PairHinge
from aucmax.risks.pair_logistic import PairLogistic
from aucmax.risks.pair_sigmoid import PairSigmoid
from aucmax.risks.partial_hinge import PartialHinge
from aucmax.risks.smooth_average_precision import SmoothAveragePrecision

__all__ = [
    "BoundRisk",
    "Concordance",
    "CoxLikelihood",
    "PairHinge",
    "PairLogistic",
    "PairSigmoid",
    "PartialHinge",
    "Risk",
    "SmoothAveragePrecision",
]
