"""The cuts of a bundle: lines below the risk, and their inner products."""

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import QuadraticRegularizer
from aucmax.risks.contract import Support
from aucmax.solvers.simplex_qp import minimize_on_simplex

_MAX_CUTS_WITH_IDLE_ONES = 120  # with more, a new cut replaces an idle one
_MAX_IDLE_STREAK = 10  # cuts added since a cut was used


class Cuts:
    r"""Lines :math:`R(w) \ge o_k + \langle a_k, w \rangle` with their Gram matrix.

    Cuts bound the risk alone, so a solve with another C can start from them. Beyond
    `capacity`, the one used longest ago is merged into another, so the lower bound
    never falls; beyond 120, idle cuts are dropped.
    """

    def __init__(
        self, n_parameters: int, capacity: int = 100, *, keep_sources: bool = False
    ) -> None:
        self.capacity = capacity
        self._rows = np.empty((0, n_parameters))  # grows ahead of what is in use
        self.offsets = np.empty(0)
        self._gram = np.empty((0, 0))  # of the first cuts; completed when asked for
        self.multipliers = np.empty(0)
        self.sources: list[FloatArray] | None = [] if keep_sources else None
        self._last_used = np.empty(0, dtype=np.int64)
        self._clock = 0

    @property
    def gradients(self) -> FloatArray:
        """Slopes of the cuts, shape (n_cuts, n_parameters)."""
        return self._rows[: len(self)]

    @property
    def gram(self) -> FloatArray:
        """Inner products of the slopes, each computed once."""
        n_computed, k = self._gram.shape[0], len(self)
        if n_computed < k:
            gram = np.empty((k, k))
            gram[:n_computed, :n_computed] = self._gram
            gram[n_computed:] = self.gradients[n_computed:] @ self.gradients.T
            gram[:n_computed, n_computed:] = gram[n_computed:, :n_computed].T
            self._gram = gram
        return self._gram

    def __len__(self) -> int:
        return self.offsets.size

    def resize(self, capacity: int) -> None:
        """Change how many cuts are kept."""
        self.capacity = capacity
        while len(self) > capacity:
            self._drop(int(np.argmin(self._last_used)))

    def add(self, gradient: FloatArray, support: Support) -> None:
        """Add one cut: a support of the risk, with its slope pulled back."""
        with np.errstate(over="ignore"):
            square = float(gradient @ gradient)
        if not np.isfinite(square):
            raise FloatingPointError("the square of a cut's slope overflows")
        self._clock += 1
        if len(self) >= min(_MAX_CUTS_WITH_IDLE_ONES, self.capacity):
            oldest = int(np.argmin(self._last_used))
            is_idle = self._last_used[oldest] < self._clock - _MAX_IDLE_STREAK
            if is_idle or len(self) >= self.capacity:
                self._drop(oldest)
        k = len(self)
        if k == self._rows.shape[0]:
            n_rows = min(max(8, k + k // 2), self.capacity)
            more = np.empty((n_rows - k, gradient.size))
            self._rows = np.concatenate([self._rows, more])
        self._rows[k] = gradient
        self.offsets = np.append(self.offsets, support.offset)
        self.multipliers = np.append(self.multipliers, 0.0 if k else 1.0)
        self._last_used = np.append(self._last_used, self._clock)
        if self.sources is not None:
            self.sources.append(support.subgradient)

    def mixed_source(self) -> FloatArray:
        """Return the slope over scores that the cuts' shares mix."""
        assert self.sources is not None
        mixed = np.zeros_like(self.sources[0])
        for share, source in zip(self.multipliers, self.sources, strict=True):
            mixed += share * source
        return mixed

    def values_at(self, parameters: FloatArray) -> FloatArray:
        """Return each plane's height at these parameters."""
        return self.offsets + self.gradients @ parameters

    def mixed(self, multipliers: FloatArray) -> FloatArray:
        """Return the gradient that dual variables of the planes mix."""
        return np.asarray(multipliers @ self.gradients)

    def set_multipliers(self, multipliers: FloatArray) -> None:
        """Keep the shares that a master problem found."""
        self.multipliers = multipliers
        self._last_used[multipliers > 0.0] = self._clock

    def minimize(
        self, regularizer: QuadraticRegularizer, C: float
    ) -> tuple[FloatArray, float]:
        r"""Return where the regularizer plus C times the highest cut is least, and it.

        With :math:`\Omega(w) = \frac{\kappa}{2} \|w\|^2` the dual over the shares
        :math:`\lambda` of the cuts, a small quadratic program over the simplex, is

        .. math:: \max_\lambda \; C \, o^T \lambda
                  - \frac{C^2}{2 \kappa} \Big\| \sum_k \lambda_k a_k \Big\|^2,
                  \qquad w = -\frac{C}{\kappa} \sum_k \lambda_k a_k .
        """
        factor = C / regularizer.curvature
        shares = minimize_on_simplex(factor * self.gram, self.offsets, self.multipliers)
        parameters = -factor * (shares @ self.gradients)
        bound = C * float(self.offsets @ shares) - regularizer.value(parameters)
        self.set_multipliers(shares)
        return parameters, bound

    def _drop(self, index: int) -> None:
        """Remove a cut; merge one that has a share, so the bound stays."""
        if self.multipliers[index] > 0.0 and len(self) > 1:
            others = self._last_used.copy()
            others[index] = np.iinfo(np.int64).max
            self._merge(index, int(np.argmin(others)))
        # the last one takes its place: one row moves instead of many
        last = len(self) - 1
        order = np.arange(last)
        if index < last:
            order[index] = last
            self._rows[index] = self._rows[last]
        n_computed = self._gram.shape[0]
        kept = order if n_computed == len(self) else order[: min(index, n_computed)]
        self._gram = self._gram[np.ix_(kept, kept)]
        if self.sources is not None:
            self.sources[index] = self.sources[-1]
            del self.sources[-1]
        self.offsets = self.offsets[order]
        self.multipliers = self.multipliers[order]
        self._last_used = self._last_used[order]

    def _merge(self, index: int, into: int) -> None:
        """Mix a cut into another one, as the shares mix them; the mixture is a cut."""
        share = self.multipliers[index] + self.multipliers[into]
        part = self.multipliers[index] / share
        self.multipliers[into] = share
        for values in (self._rows, self.offsets):
            values[into] += part * (values[index] - values[into])
        if self.sources is not None:
            gradient = self.sources[into]
            self.sources[into] = gradient + part * (self.sources[index] - gradient)
        self._gram = np.empty((0, 0))
