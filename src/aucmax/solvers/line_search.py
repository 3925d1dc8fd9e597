"""Steps to try along a line on which a convex function falls."""

from math import inf

_BESIDE_THE_KINK = 1e-9  # where the slope counts as the one at 0, often a kink


class LineSearch:
    """Find where a convex function along a line has nearly stopped falling.

    While the search `is_open`, the caller reports the slope at `length`. Between a
    falling and a rising end, the next trial is that of the Illinois variant of regula
    falsi. Without a `slope` at 0, the first trial is next to 0. A slope of at most
    `accuracy` times that at 0 ends the search.
    """

    def __init__(
        self,
        slope: float | None = None,
        *,
        longest: float = inf,
        accuracy: float = 0.2,
        max_evaluations: int = 10,
    ) -> None:
        self.length = _BESIDE_THE_KINK if slope is None else min(1.0, longest)
        self.is_open = True
        self._slope = slope
        self._longest = longest
        self._accuracy = accuracy
        self._n_left = max_evaluations
        self._low, self._low_slope = 0.0, slope or 0.0
        self._high, self._high_slope = inf, 0.0

    def report(self, here: float) -> None:
        """Choose the next length, given the slope at `length`."""
        if self._slope is None:
            self._slope = self._low_slope = here
            self.is_open = here < 0.0
            self.length = min(1.0, self._longest) if self.is_open else self.length
            return
        self._n_left -= 1
        is_close = abs(here) <= self._accuracy * abs(self._slope)
        is_longest = here < 0.0 and self.length >= self._longest
        self.is_open = not (is_close or is_longest or self._n_left == 0)
        if self.is_open:
            self.length = self._next(here)

    def _next(self, here: float) -> float:
        # the slope of an end that stays is halved, so that the other end moves
        if here < 0.0:
            self._low, self._low_slope = self.length, here
            self._high_slope /= 2.0
        else:
            self._high, self._high_slope = self.length, here
            self._low_slope /= 2.0
        if self._high == inf:
            return min(self._farther(here), self._longest)
        share = self._low_slope / (self._low_slope - self._high_slope)
        return self._low + share * (self._high - self._low)

    def _farther(self, here: float) -> float:
        """Extrapolate the slope to 0, within limits, before the first rise."""
        steepening = (here - (self._slope or 0.0)) / self.length
        reach = -here / steepening if steepening > 0.0 else 3.0 * self.length
        return self.length + min(max(reach, 0.5 * self.length), 9.0 * self.length)
