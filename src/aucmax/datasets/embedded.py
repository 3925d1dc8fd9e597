"""Tables that come with the package; nothing is downloaded."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

_SEED = 0
_N_ROWS = 4000
_N_FAILURES = 200
_N_MODELS = 40
_GAPS = 0.04
_FIRST_DAY = np.datetime64("2024-01-01")
_SITES = ("Aarhus", "Bergen", "Cork", "Dresden", "Espoo", "Faro", "Graz", "Hull")


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
