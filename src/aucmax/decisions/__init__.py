"""From scores to decisions: thresholds, their outcome, and probabilities."""

from aucmax.decisions.net_benefit import NetBenefit, net_benefit
from aucmax.decisions.operating_point import OperatingPoint, operating_point
from aucmax.decisions.reliability import Reliability, reliability
from aucmax.decisions.subgroups import compare_groups

__all__ = [
    "NetBenefit",
    "OperatingPoint",
    "Reliability",
    "compare_groups",
    "net_benefit",
    "operating_point",
    "reliability",
]
