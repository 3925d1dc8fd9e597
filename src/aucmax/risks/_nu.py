"""The weight of the pairs or rows that count in a margin risk, checked."""

__all__ = ["LARGEST_EXCESS", "checked_nu"]

# In units of the weight of all: by which a sum of weights may miss the caller's, who
# may have added them up in another order.
LARGEST_EXCESS = 1e-9


def checked_nu(name: str, nu: float, counted: str, total: float) -> float:
    """Return nu, or the weight of all where rounding puts nu above it.

    The message calls the parameter `name`, and what has the weight `counted`.
    """
    if not 0.0 < nu <= total * (1.0 + LARGEST_EXCESS):
        raise ValueError(
            f"{name}, the weight of the {counted} that count, must be above 0 and at "
            f"most that of all {counted}, {total:.12g}, got {nu!r}; use epsilon times "
            f"the weight of all {counted} for a share epsilon of them."
        )
    return min(nu, total)
