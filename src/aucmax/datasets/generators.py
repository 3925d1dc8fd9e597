"""Simulated data: an r-of-k function, and the demo table of machines."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

if TYPE_CHECKING:
    import polars as pl

# rows made at a time; part of the definition, since it orders the random draws
BLOCK = 8192

RandomState = int | np.random.Generator | np.random.RandomState | None

# of the demo table
_SEED = 0
_N_ROWS = 4000
_N_FAILURES = 200
_N_MODELS = 40
_GAPS = 0.04
_FIRST_DAY = np.datetime64("2024-01-01")
_SITES = ("Aarhus", "Bergen", "Cork", "Dresden", "Espoo", "Faro", "Graz", "Hull")


def make_r_of_k(
    n_samples: int = 1000,
    n_features: int = 100,
    *,
    r: int = 8,
    k: int = 30,
    positive_ratio: float = 0.5,
    label_noise: float = 0.0,
    shuffle: bool = True,
    dtype: DTypeLike = np.float64,
    random_state: RandomState = None,
) -> tuple[NDArray[np.number], NDArray[np.int64]]:
    r"""Draw rows labelled by an r-of-k threshold function.

    Features are -1 or +1. A row is positive if at least r of the k relevant features
    are +1, that is, with A the set of these:

    .. math:: f(x) = \operatorname{sign}\Big(\sum_{j \in A} x_j + k - 2r + 1\Big)

    Within each class the rows are uniform: first the number of relevant features that
    are +1 is drawn from its distribution given the class, then which they are, then
    the other features. No row is rejected, so any r and k take the same time,
    O(n_samples * n_features).

    Parameters
    ----------
    n_samples : int
        The number of rows.
    n_features : int
        The number of columns.
    r : int
        How many relevant features must be +1, from 1 to k.
    k : int
        The number of relevant features, at most n_features.
    positive_ratio : float
        The share of positives before noise, strictly between 0 and 1. Exactly
        ``round(positive_ratio * n_samples)`` rows obey the rule.
    label_noise : float
        The probability, for each row by itself, that its label is turned round; from 0
        to 1. It moves the share of positives towards one half.
    shuffle : bool
        If True, the relevant features are spread over random columns; if False, they
        are the first k.
    dtype : data type
        The type of X; float32 or int8 save memory.
    random_state : int, Generator, RandomState or None
        An int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features, -1 or +1.
    y : ndarray of shape (n_samples,)
        The labels, 0 or 1, in random order.

    References
    ----------
    .. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC
       maximization to 1-norm soft margin optimization. ALT 2011, section 5.1.

    Examples
    --------
    >>> from aucmax.datasets import make_r_of_k
    >>> X, y = make_r_of_k(200, 20, r=3, k=5, positive_ratio=0.1, random_state=0)
    >>> X.shape, int(y.sum())
    ((200, 20), 20)
    """
    _check(n_samples, n_features, r, k)
    n_positive = _count_positives(n_samples, positive_ratio)
    if not 0 <= label_noise <= 1:
        raise ValueError(f"label_noise must be from 0 to 1, got {label_noise!r}.")
    rng = as_generator(random_state)
    y = np.zeros(n_samples, dtype=np.int64)
    y[:n_positive] = 1
    rng.shuffle(y)
    n_true = _draw_counts(rng, y, r, k)
    columns = rng.permutation(n_features) if shuffle else np.arange(n_features)
    X = np.empty((n_samples, n_features), dtype=dtype)
    for start in range(0, n_samples, BLOCK):
        rows = slice(start, start + BLOCK)
        X[rows] = _draw_rows(rng, n_true[rows], k, n_features)[:, columns]
    flipped = rng.random(n_samples) < label_noise
    y[flipped] = 1 - y[flipped]
    return X, y


def _check(n_samples: int, n_features: int, r: int, k: int) -> None:
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, got {n_samples!r}.")
    if not 1 <= r <= k <= n_features:
        raise ValueError(
            "r, k and n_features must satisfy 1 <= r <= k <= n_features, "
            f"got r={r!r}, k={k!r}, n_features={n_features!r}."
        )


def _count_positives(n_samples: int, positive_ratio: float) -> int:
    if not 0 < positive_ratio < 1:
        raise ValueError(
            f"positive_ratio must be between 0 and 1, got {positive_ratio!r}."
        )
    n_positive = round(positive_ratio * n_samples)
    if not 0 < n_positive < n_samples:
        raise ValueError(
            f"positive_ratio={positive_ratio!r} of {n_samples} rows leaves a class "
            "empty; draw more rows or choose a ratio nearer to one half."
        )
    return n_positive


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator itself, or one seeded by what is given."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def _draw_counts(
    rng: np.random.Generator, y: NDArray[np.int64], r: int, k: int
) -> NDArray[np.int64]:
    """Draw how many relevant features are +1, given the class of each row."""
    from scipy.special import gammaln

    counts = np.arange(k + 1)
    log_share = -gammaln(counts + 1) - gammaln(k - counts + 1)
    n_true = np.empty(y.size, dtype=np.int64)
    for label, possible in ((0, counts[:r]), (1, counts[r:])):
        # of fair coins, but relative to the likeliest count, so that nothing underflows
        share = np.exp(log_share[possible] - log_share[possible].max())
        mine = y == label
        n_true[mine] = rng.choice(possible, size=mine.sum(), p=share / share.sum())
    return n_true


def _draw_rows(
    rng: np.random.Generator, n_true: NDArray[np.int64], k: int, n_features: int
) -> NDArray[np.int8]:
    """Draw rows of -1 and +1 with n_true ones among the first k features of each."""
    rows = np.empty((n_true.size, n_features), dtype=np.int8)
    left = n_true.astype(np.float64)
    for j in range(k):
        # each of the k - j places left is as likely as the others to get one of `left`
        chosen = rng.random(left.size) * (k - j) < left
        rows[:, j] = chosen
        left -= chosen
    rows[:, k:] = rng.integers(0, 2, size=rows[:, k:].shape, dtype=np.int8)
    return 2 * rows - 1


def load_demo() -> "pl.DataFrame":
    """Return a simulated table of machines, 5% of which fail.

    Made up, and the same at every call: 4000 rows, drawn so that each column moves the
    log-odds of a failure by a fixed amount, and the 200 machines drawn by these odds
    fail. So a linear model is at home here, which favours it over trees, and the many
    rare values favour strong regularisation: a tour, not evidence. The table has
    what real ones have: text columns (one with 40 values, most of them rare), dates as
    text, columns on wide and skewed scales, and 4% of the cells missing.

    Returns
    -------
    polars.DataFrame of shape (4000, 13)
        The target is the column ``failed``, 0 or 1.

    Examples
    --------
    >>> from aucmax.datasets import load_demo
    >>> machines = load_demo()
    >>> machines.shape, machines["failed"].sum()
    ((4000, 13), 200)
    """
    import polars as pl

    rng = np.random.default_rng(_SEED)
    hidden = rng.normal(size=(_N_ROWS, 8))
    site = rng.integers(len(_SITES), size=_N_ROWS)
    model = np.minimum(rng.geometric(0.08, size=_N_ROWS), _N_MODELS) - 1
    shift = rng.integers(3, size=_N_ROWS)
    days = rng.integers(700, size=_N_ROWS)
    odds = (
        hidden @ np.array([1.0, 0.85, 0.7, 0.55, 0.55, 0.4, 0.3, 0.0])
        + rng.normal(scale=0.55, size=len(_SITES))[site]
        + rng.normal(scale=0.55, size=_N_MODELS)[model]
        + np.array([-0.4, 0.0, 0.55])[shift]
        - 0.0014 * days
    )
    # Gumbel noise turns "the largest" into a draw by the odds
    failed = np.zeros(_N_ROWS, dtype=np.int64)
    failed[np.argsort(odds + rng.gumbel(size=_N_ROWS))[-_N_FAILURES:]] = 1
    return pl.DataFrame(
        [
            _with_gaps(rng, "site", np.array(_SITES)[site]),
            _with_gaps(rng, "model", np.array([f"M-{i + 1:03d}" for i in model])),
            _with_gaps(rng, "shift", np.array(["early", "late", "night"])[shift]),
            _with_gaps(rng, "last_service", (_FIRST_DAY + days).astype(str)),
            _with_gaps(rng, "running_hours", np.exp(8 + 0.9 * hidden[:, 0]).round()),
            _with_gaps(rng, "vibration", np.exp(0.5 * hidden[:, 1]).round(3)),
            _with_gaps(rng, "oil_iron_ppm", np.exp(3 + 0.8 * hidden[:, 2]).round(1)),
            _with_gaps(rng, "temperature", (68 + 7 * hidden[:, 3]).round(1)),
            _with_gaps(rng, "load", (0.6 + 0.1 * hidden[:, 4]).round(3)),
            _with_gaps(rng, "starts", np.exp(5 + 0.6 * hidden[:, 5]).round()),
            _with_gaps(rng, "pressure_pa", (4.1e5 + 3e4 * hidden[:, 6]).round(-2)),
            _with_gaps(rng, "humidity", (55 + 9 * hidden[:, 7]).round(1)),
            pl.Series("failed", failed),
        ]
    )


def _with_gaps(
    rng: np.random.Generator, name: str, values: NDArray[np.generic]
) -> "pl.Series":
    """Return a column with some cells missing, whatever the row holds."""
    import polars as pl

    return pl.Series(name, values).set(pl.Series(rng.random(values.size) < _GAPS), None)
