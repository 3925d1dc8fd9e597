"""Convex combinations of hypotheses with a certified margin over pairs."""

from aucmax.margin.margin_certificate import Certificate, MarginCurve
from aucmax.margin.margin_ranker import MarginRanker
from aucmax.margin.scorecard import Scorecard

__all__ = ["Certificate", "MarginCurve", "MarginRanker", "Scorecard"]
