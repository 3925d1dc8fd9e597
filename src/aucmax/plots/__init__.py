"""Pictures of a ranking: curves, densities, scorecards, what a model looks at.

``from_predictions`` and ``from_estimator`` make a display. matplotlib is imported when
something is drawn, and pyplot makes a figure only if no axes are given. Pass
``ax=matplotlib.figure.Figure().subplots()`` to draw without any global state.
"""

from aucmax.plots.alert_displays import (
    GainsCurve,
    GainsDisplay,
    PrecisionRecallCurve,
    PrecisionRecallDisplay,
)
from aucmax.plots.calibration_display import CalibrationDisplay
from aucmax.plots.importance_display import ImportanceDisplay
from aucmax.plots.learning_curve import LearningCurveDisplay
from aucmax.plots.margin_displays import (
    MarginCurveDisplay,
    ScorecardDisplay,
    margin_curve,
    scorecard,
)
from aucmax.plots.roc_display import ROCCurve, ROCCurveDisplay, roc_curve
from aucmax.plots.score_densities import ScoreDensityDisplay

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
