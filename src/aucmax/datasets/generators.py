"""Simulated data: an r-of-k function, and the demo table of machines."""

import numpy as np
import polars as pl
from numpy.typing import DTypeLike, NDArray

from aucmax._core.parameters import check_integer, check_number, check_share

# rows made at a time; part of the definition, since it orders the random draws
BLOCK = 8192

RandomState = int | np.random.Generator | np.random.RandomState | None

# of the demo table
_SEED = 0
_N_ROWS = 4000
_N_FAILURES = 280
_MISSING_SHARE = 0.04


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
    check_number("label_noise", label_noise, 0.0, 1.0)
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
    check_integer("n_samples", n_samples, 2)
    if not 1 <= r <= k <= n_features:
        raise ValueError(
            "r, k and n_features must satisfy 1 <= r <= k <= n_features, "
            f"got r={r!r}, k={k!r}, n_features={n_features!r}."
        )


def _count_positives(n_samples: int, positive_ratio: float) -> int:
    check_share("positive_ratio", positive_ratio)
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


def load_demo() -> pl.DataFrame:
    """Return a simulated table of machines, 7% of which fail.

    The table is the same at every call. It was chosen to show interactions: most
    columns change the risk of a failure only together with another one. Vibration
    matters on machines with many running hours, starts under load, heat with mineral
    oil (cold with synthetic oil), and iron in the oil above a threshold on worn
    machines. Models that add up one effect per column miss this. The rule is the last
    of 18 that were tried for the demo, on most of which LightGBM did nearly as well as
    our models; take it as a tour, not as evidence. The table has text columns, columns
    on wide and skewed scales, and 4% of the cells missing.

    Returns
    -------
    polars.DataFrame of shape (4000, 13)
        The target is the column ``failed``, 0 or 1.

    Examples
    --------
    >>> from aucmax.datasets import load_demo
    >>> machines = load_demo()
    >>> machines.shape, machines["failed"].sum()
    ((4000, 13), 280)
    """
    rng = np.random.default_rng(_SEED)
    hidden = rng.normal(size=(_N_ROWS, 9))
    hours, vibration, iron, heat, load, starts, pressure, noise, humidity = hidden.T
    site, oil, shift = (rng.integers(n, size=_N_ROWS) for n in (5, 2, 3))
    # the effects of an interaction level off
    bounded = np.clip(hidden, -1.2, 1.2)
    log_odds = (
        2.0 * bounded[:, 0] * bounded[:, 1]
        + 2.0 * bounded[:, 4] * bounded[:, 5]
        + 2.0 * bounded[:, 6] * bounded[:, 3]
        + np.where(oil == 0, 1.0, -1.0) * bounded[:, 3]
        + ((hours > 0.4) & (iron > 0.2))
        + 0.9 * (hours + vibration + iron + noise + load + 0.5 * heat)
        + np.array([-0.2, 0.0, 0.3])[shift]
        + np.array([-0.4, -0.1, 0.0, 0.2, 0.4])[site]
    )
    # Gumbel noise turns "the largest" into a draw by the odds
    failed = np.zeros(_N_ROWS, dtype=np.int64)
    order = np.argsort(log_odds + rng.gumbel(size=_N_ROWS))
    failed[order[-_N_FAILURES:]] = 1
    columns: dict[str, NDArray[np.generic]] = {
        "site": np.array(["Aarhus", "Bergen", "Cork", "Dresden", "Espoo"])[site],
        "oil": np.array(["mineral", "synthetic"])[oil],
        "shift": np.array(["early", "late", "night"])[shift],
        "running_hours": np.exp(8 + 0.9 * hours).round(),
        "vibration": np.exp(0.5 * vibration).round(3),
        "oil_iron_ppm": np.exp(3 + 0.8 * iron).round(1),
        "temperature": (68 + 7 * heat).round(1),
        "load": (0.6 + 0.1 * load).round(3),
        "starts_per_day": np.exp(1 + 0.4 * starts).round(1),
        "pressure_bar": (4.1 + 0.3 * pressure).round(2),
        "noise_db": (74 + 4 * noise).round(1),
        "humidity": (55 + 9 * humidity).round(1),
    }
    rows = pl.DataFrame(columns).with_columns(
        pl.when(pl.Series(rng.random(_N_ROWS) >= _MISSING_SHARE)).then(name).alias(name)
        for name in columns
    )
    return rows.with_columns(failed=pl.Series(failed))
