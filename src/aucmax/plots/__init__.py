"""Plots of rankings: curves, densities, scorecards, column importance.

``from_predictions`` and ``from_estimator`` make a display. matplotlib is imported when
something is drawn, and pyplot makes a figure only if no axes are given. Pass
``ax=matplotlib.figure.Figure().subplots()`` to draw without any global state.
"""

from aucmax.plots.alert_displays import GainsDisplay, PrecisionRecallDisplay
from aucmax.plots.decision_display import DecisionCurveDisplay
from aucmax.plots.importance_display import ImportanceDisplay
from aucmax.plots.margin_displays import MarginCurveDisplay, ScorecardDisplay
from aucmax.plots.roc_display import ROCCurveDisplay
from aucmax.plots.score_displays import CalibrationDisplay, ScoreDensityDisplay

__all__ = [
    "CalibrationDisplay",
    "DecisionCurveDisplay",
    "GainsDisplay",
    "ImportanceDisplay",
    "MarginCurveDisplay",
    "PrecisionRecallDisplay",
    "ROCCurveDisplay",
    "ScoreDensityDisplay",
    "ScorecardDisplay",
]
