# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled loop over the coordinates of a quadratic function."""

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def sweep(H, diagonal, x, slope, price, n_sweeps):
    """Minimise a priced quadratic along each coordinate, keeping its `slope`."""
    n = x.size
    for _ in range(n_sweeps):
        for j in range(n):
            pull = diagonal[j] * x[j] - slope[j]
            if pull > price:
                new = (pull - price) / diagonal[j]
            elif pull < -price:
                new = (pull + price) / diagonal[j]
            else:
                new = 0.0
            move = new - x[j]
            if move != 0.0:
                x[j] = new
                for i in range(n):
                    slope[i] += move * H[j, i]
