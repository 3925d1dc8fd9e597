r"""A scale for columns as people have them: heavy tails, 1e-150 next to 1e150.

With the centre c (the median) and the spread d (the median of the deviations
:math:`|x - c|` that are not zero), a value becomes

.. math:: z = (x - c) / d, \qquad q(z) = \begin{cases} z & |z| \le k \\
          \operatorname{sign}(z)\, k (1 + \ln(|z| / k)) & |z| > k \end{cases}

and then :math:`q(z)` is standardised. The knee k is three standard deviations of
normal data, so well-behaved columns are only shifted and scaled, while a far value
counts by its order of magnitude. Multiplying a column by any factor changes
nothing, and no finite input gives an infinity.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["binary_exponent", "squash", "to_unit_scale", "typical_spread", "unsquash"]

Floats = NDArray[np.float64]

# three standard deviations, counted in median absolute deviations of normal data
KNEE = 3 / 0.6744897501960817

# larger ratios (1e200 over 1e-200) overflow; their logarithm hardly moves past this
LARGEST = 1e300


def typical_spread(values: Floats, center: float) -> float:
    """Half the median of the nonzero deviations from `center`; 0 for a constant.

    Halves throughout: the difference of two large numbers may overflow, that of
    their halves cannot.
    """
    deviations = np.abs(values / 2 - center / 2)
    deviations = deviations[deviations > 0]
    return float(np.median(deviations)) if deviations.size else 0.0


def squash(values: Floats, center: float, half_spread: float | Floats) -> Floats:
    """Deviations from the centre in spreads, linear inside, logarithmic outside."""
    with np.errstate(over="ignore"):
        ratios = (values / 2 - center / 2) / half_spread
    ratios = np.clip(ratios, -LARGEST, LARGEST)
    far = np.abs(ratios) > KNEE
    ratios[far] = np.sign(ratios[far]) * KNEE * (1 + np.log(np.abs(ratios[far]) / KNEE))
    return ratios


def unsquash(squashed: Floats, center: float, half_spread: float | Floats) -> Floats:
    """Return the values that :func:`squash` brings there."""
    sizes = np.abs(squashed)
    with np.errstate(over="ignore"):
        far = KNEE * np.exp(np.maximum(sizes / KNEE - 1, 0.0))
        ratios = np.sign(squashed) * np.where(sizes > KNEE, far, sizes)
        values = 2 * (ratios * half_spread + center / 2)
    largest = np.finfo(np.float64).max
    return np.clip(values, -largest, largest)


def binary_exponent(half_spread: float) -> int:
    """Power of two near the spread; dividing by it brings a column near one."""
    return int(np.frexp(half_spread)[1])


def to_unit_scale(values: Floats, exponent: int | NDArray[np.int64]) -> Floats:
    """Multiply by ``2 ** -exponent``: exact, order kept, never infinite."""
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(values, np.negative(exponent))
    return np.clip(scaled, -LARGEST, LARGEST)
