"""One data set, any margin risk: maximise the margin over weighted hypotheses."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses import FeatureEnsemble, Hypotheses, StumpEnsemble
from aucmax.margin.limits import Limits, zero_floor
from aucmax.margin.objective import MarginObjective
from aucmax.margin.sizes import ClassSizes
from aucmax.risks import InstanceMargin
from aucmax.risks.contract import Risk
from aucmax.solvers import StoppingRule
from aucmax.solvers.cuts import Cuts

__all__ = ["MarginProblem", "MarginResult"]


@dataclass
class MarginResult:
    """The weights of the largest margin found, and its certificate.

    `row_weights` are the dual solution: shares of the rows, of sum 1/2 over the
    positives and -1/2 over the negatives, under which no hypothesis has an edge above
    `margin` + `gap`. The gap need not be within the tolerance where a solve ended
    early, even if only because the margin was already enough; `margin` and `gap` are
    right all the same.
    """

    weights: FloatArray  # one for each hypothesis of the problem
    scores: FloatArray  # of the rows
    margin: float
    gap: float  # the largest margin of all is at most `margin` + `gap`
    converged: bool  # whether the gap is within the tolerance
    row_weights: FloatArray | None = field(default=None, repr=False)
    cuts: Cuts | None = field(default=None, repr=False)


class MarginProblem(ABC):
    """What a formulation needs: the data, and the optimum of any margin risk on it.

    Only the `usable` hypotheses may have weight: all if not given. `limits` ends all
    solves together. Gaps are relative to the margin, or to the `floor` where it is
    nearer to 0.
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
        bound = mean_margin.bind(labels, sample_weight)
        self._objective = MarginObjective(hypotheses, bound, usable)

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
        """Find the weights of the largest margin, minus the risk, from `start` on.

        keep_row_weights  the dual solution is needed, too; while the solve lasts, it
                          costs the memory of one number per row and cut
        reuse_cuts        the cuts of `start` lie below this risk as well, as its row
                          weights are allowed here
        looseness         how many times the tolerance the gap may be
        enough            the margin at which the solve ends
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
        self._objective.risk = risk.bind(self.labels, self.sample_weight)
        return self._objective

    @abstractmethod
    def _largest_edge(self, row_weights: FloatArray) -> float:
        """Return the largest edge that any hypothesis has under these row weights."""

    @property
    def _precision(self) -> float:
        """The unit in the last place of the hypotheses."""
        return float(np.finfo(self.hypotheses.X.dtype).eps)
