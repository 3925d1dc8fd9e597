"""Pictures of a ranking: ROC curves, scorecards, margin curves.

matplotlib is imported when something is drawn, pyplot only if no axes are given. Pass
``ax=matplotlib.figure.Figure().subplots()`` to draw without any global state.
"""

from aucmax.plots.margin_curve import MarginCurveDisplay, margin_curve
from aucmax.plots.roc import ROCCurve, ROCCurveDisplay, roc_curve
from aucmax.plots.scorecard import ScorecardDisplay, scorecard

__all__ = [
    "MarginCurveDisplay",
    "ROCCurve",
    "ROCCurveDisplay",
    "ScorecardDisplay",
    "margin_curve",
    "roc_curve",
    "scorecard",
]
