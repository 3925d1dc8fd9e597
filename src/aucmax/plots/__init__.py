"""Pictures of a ranking: curves, densities, scorecards, what a model looks at.

matplotlib is imported when something is drawn, and pyplot makes a figure only if no
axes are given. Pass ``ax=matplotlib.figure.Figure().subplots()`` to draw without any
global state.
"""

from aucmax.plots.calibration_display import CalibrationDisplay
from aucmax.plots.gains import GainsCurve, GainsDisplay
from aucmax.plots.importance_display import ImportanceDisplay
from aucmax.plots.learning_curve import LearningCurveDisplay
from aucmax.plots.margin_curve import MarginCurveDisplay, margin_curve
from aucmax.plots.precision_recall import PrecisionRecallCurve, PrecisionRecallDisplay
from aucmax.plots.roc_display import ROCCurve, ROCCurveDisplay, roc_curve
from aucmax.plots.score_densities import ScoreDensityDisplay
from aucmax.plots.scorecard_display import ScorecardDisplay, scorecard

__all__ = [
    "CalibrationDisplay",
    "GainsCurve",
    "GainsDisplay",
    "ImportanceDisplay",
    "LearningCurveDisplay",
    "MarginCurveDisplay",
    "PrecisionRecallCurve",
    "PrecisionRecallDisplay",
    "ROCCurve",
    "ROCCurveDisplay",
    "ScoreDensityDisplay",
    "ScorecardDisplay",
    "margin_curve",
    "roc_curve",
    "scorecard",
]
