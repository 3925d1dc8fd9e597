"""Rows with censored times for the tests of models, reports and commands."""

import numpy as np
import polars as pl

from aucmax.metrics import survival_target


def censored_rows(seed, n_rows=300, censored=0.4):
    """Return a table and its events and times: two columns raise the risk, one not."""
    rng = np.random.default_rng(seed)
    x, z, noise = rng.normal(size=(3, n_rows))
    ward = rng.choice(["north", "south"], n_rows)
    hazard = np.exp(x + 0.7 * (ward == "north") - 0.5 * z)
    times = rng.exponential(1.0 / hazard)
    ends = rng.exponential(np.quantile(times, 1.0 - censored), n_rows) + 1e-3
    if not censored:
        ends[:] = np.inf
    table = pl.DataFrame({"x": x, "z": z, "noise": noise, "ward": ward})
    return table, survival_target(times <= ends, np.minimum(times, ends))


def literal_concordance(y, scores, strata=None):
    """Return Harrell's C, pair by pair."""
    strata = np.zeros(len(y)) if strata is None else strata
    concordant = comparable = 0.0
    for (event, time), score, stratum in zip(y, scores, strata, strict=True):
        later = (y["time"] > time) | ((y["time"] == time) & ~y["event"])
        later &= (strata == stratum) & event
        comparable += later.sum()
        concordant += (score > scores[later]).sum() + (score == scores[later]).sum() / 2
    return concordant / comparable
