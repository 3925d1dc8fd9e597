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

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Scales = dict[str, Floats]
# A fit takes this much per column, empty or not: its scales, weights and steps.
_MEMORY_OF_A_COLUMN = 200

# three standard deviations, counted in median absolute deviations of normal data
KNEE = 3 / 0.6744897501960817

# larger ratios (1e200 over 1e-200) overflow; their logarithm hardly moves past this
LARGEST = 1e300


def typical_spread(values: Floats, center: float) -> float:
    """Half the median of the nonzero deviations from `center`; 0 for a constant."""
    # halves throughout: the difference of two large numbers may overflow
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


def learn_scales(rows: sparse.csr_array) -> Scales:
    """Learn the typical size of each sparse feature where it is not zero."""
    # the centre is zero, so that the matrix stays sparse; a single large index makes as
    # many columns, so memory is checked first
    from aucmax.datasets.memory import require_memory

    source = f"a sparse matrix of {rows.shape[1]} columns"
    require_memory(source, _MEMORY_OF_A_COLUMN * rows.shape[1], rows.data.nbytes)
    columns = sparse.csc_array(rows)
    columns.eliminate_zeros()
    filled = np.diff(columns.indptr) > 0
    feature = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    half_spread, size = np.ones(columns.shape[1]), np.ones(columns.shape[1])
    half_spread[filled] = _medians(np.abs(columns.data) / 2, feature, columns.indptr)
    half_spread[half_spread == 0] = 1.0
    squashed = squash(columns.data, 0.0, half_spread[feature])
    squares = np.bincount(feature, squashed**2, minlength=columns.shape[1])
    size[filled] = np.sqrt(squares[filled] / np.diff(columns.indptr)[filled])
    size[size == 0] = 1.0
    return {"half_spread": half_spread, "size": size}


def _medians(values: Floats, group: NDArray[Any], starts: NDArray[Any]) -> Floats:
    """Lower median of each nonempty group; groups stand one after the other."""
    ordered = values[np.lexsort((values, group))]
    starts, ends = starts[:-1], starts[1:]
    middle = (starts + ends - 1) // 2
    return np.asarray(ordered[middle[ends > starts]])


def scale_sparse(rows: sparse.csr_array, scales: Scales) -> sparse.csr_array:
    """Squash and scale the stored values."""
    half_spread = scales["half_spread"][rows.indices]
    values = squash(rows.data, 0.0, half_spread)
    return _with_values(rows, values / scales["size"][rows.indices])


def sparse_to_unit_scale(rows: sparse.csr_array, scales: Scales) -> sparse.csr_array:
    """Multiply every feature by a power of two, for trees."""
    exponents = np.frexp(scales["half_spread"])[1].astype(np.int64)
    values = to_unit_scale(rows.data, exponents[rows.indices])
    return _with_values(rows, values)


def fit_width(rows: sparse.csr_array, n_features: int) -> sparse.csr_array:
    """Crop features beyond `n_features` or add empty ones up to it."""
    if rows.shape[1] > n_features:
        return sparse.csr_array(rows[:, :n_features])
    return sparse.csr_array(
        (rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], n_features)
    )


def _with_values(rows: sparse.csr_array, values: Floats) -> sparse.csr_array:
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
