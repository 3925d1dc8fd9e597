"""One data set, any margin risk: maximise the margin over weighted hypotheses."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from aucmax._validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import FeatureEnsemble, Hypotheses, StumpEnsemble
from aucmax.margin.limits import Limits, zero_floor
from aucmax.margin.objective import MarginObjective
from aucmax.margin.sizes import ClassSizes
from aucmax.risks import InstanceMargin
from aucmax.risks.base import Risk
from aucmax.solvers import StoppingRule
from aucmax.solvers.cuts import Cuts

__all__ = ["MarginProblem", "MarginResult"]


@dataclass
class MarginResult:
    """The weights of the largest margin found, and its certificate.

    Attributes
    ----------
    weights : ndarray of shape (n_hypotheses,)
        One for each hypothesis of the problem.
    scores : ndarray of shape (n_rows,)
        The scores they give.
    margin : float
        The margin they reach.
    gap : float
        The largest margin of all is at most `margin` + `gap`.
    converged : bool
        Whether the gap is within the tolerance. It need not be where a solve ended
        early, even if only because the margin was already enough; `margin` and `gap`
        are right all the same.
    row_weights : ndarray of shape (n_rows,) or None
        The dual solution: shares of the rows, of sum 1/2 over the positives and -1/2
        over the negatives, under which no hypothesis has an edge above `margin` +
        `gap`.
    cuts : Cuts or None
        What a later solve may start from.
    """

    weights: FloatArray
    scores: FloatArray
    margin: float
    gap: float
    converged: bool
    row_weights: FloatArray | None = field(default=None, repr=False)
    cuts: Cuts | None = field(default=None, repr=False)


class MarginProblem(ABC):
    """What a formulation needs: the data, and the optimum of any margin risk on it.

    Gaps are relative to the margin, or to the `floor` where it is nearer to 0.

    Parameters
    ----------
    hypotheses : Hypotheses
        The hypotheses on the rows.
    labels : ndarray of bool of shape (n_rows,)
        True for positives.
    sample_weight : ndarray of shape (n_rows,), optional
        Row weights.
    stopping : StoppingRule
        When to stop.
    usable : ndarray of int, optional
        The hypotheses that may have weight; all if not given.

    Attributes
    ----------
    limits : Limits
        What ends all solves together.
    floor : float
        Margins nearer to 0 than this count as this large.
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        stopping: StoppingRule,
        usable: IntArray | None = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.labels = labels
        self.sample_weight = sample_weight
        self.limits = Limits(stopping)
        self.floor = 0.0
        sizes = ClassSizes.of(labels, sample_weight)
        mean_margin = InstanceMargin(sizes.positive, sizes.negative)
        self._objective = MarginObjective(
            hypotheses, labels, mean_margin, sample_weight, usable
        )

    @abstractmethod
    def solve(
        self,
        risk: Risk,
        start: MarginResult | None = None,
        *,
        keep_row_weights: bool = False,
        reuse_cuts: bool = False,
        looseness: float = 1.0,
        enough: float = np.inf,
    ) -> MarginResult:
        """Find the weights of the largest margin, minus the risk.

        Parameters
        ----------
        risk : Risk
            A margin risk.
        start : MarginResult, optional
            A neighbouring result to begin at.
        keep_row_weights : bool, default=False
            Whether the dual solution is needed; while the solve lasts, it costs the
            memory of one number per row and cut.
        reuse_cuts : bool, default=False
            Whether the cuts of `start` lie below this risk, too: its row weights are
            allowed here.
        looseness : float, default=1.0
            How many times the tolerance the gap may be.
        enough : float, default=inf
            The margin that is enough: the solve ends when it is reached.
        """

    @abstractmethod
    def ensemble(self, weights: FloatArray) -> FeatureEnsemble | StumpEnsemble:
        """Return the scoring function of these weights; zeros are left out."""

    @property
    def n_passes(self) -> float:
        """Passes over the data so far; a sweep over sorted columns is half a pass."""
        return self._objective.n_passes

    def scores(self, weights: FloatArray) -> FloatArray:
        """Score the rows by other weights of the hypotheses: half a pass."""
        return self._objective.at(self._objective.narrowed(weights)).scores

    def tolerance(self, margin: float) -> float:
        """Return the gap allowed at a margin."""
        return self.limits.stopping.tol * max(abs(margin), self.floor)

    def relative_gap(self, result: MarginResult) -> float:
        """Return the gap as the tolerance measures it."""
        return result.gap / max(abs(result.margin), self.floor)

    def _under(self, risk: Risk) -> MarginObjective:
        """Return the objective of a risk; before the first one, find the floor."""
        if not self.floor:
            mean = self._objective.support(self._objective.origin())
            self.floor = zero_floor(
                self._largest_edge(-mean.subgradient),
                self.limits.stopping.tol,
                self._precision,
            )
        self._objective.risk = risk
        return self._objective

    @abstractmethod
    def _largest_edge(self, row_weights: FloatArray) -> float:
        """Return the largest edge that any hypothesis has under these row weights."""

    @property
    def _precision(self) -> float:
        """The unit in the last place of the hypotheses."""
        return float(np.finfo(self.hypotheses.X.dtype).eps)
