"""How often intervals of net benefits and calibration cover, on drawn rows.

Protocol, fixed before the run. Rows have normal log-odds, and outcomes are drawn from
probabilities that these log-odds imply (calibrated), or from others (a slope of 0.6 or
1.6 and an intercept of 0.4). Sizes are 60 to 2,000 rows with base rates of 5 % to 50 %,
30 positives or more on average. Each cell has 4,000 samples, and counts how often a
nominal 95 % interval covers the truth, which is integrated numerically:

- net benefit and standardised net benefit, at thresholds of 0.02 to 0.8 with at least 5
  expected alerts;
- slope, intercept and calibration in the large.

The target is 93 to 97 % in every cell; the least and the largest coverage over the
thresholds are reported. Wilson's intervals, combined for net benefits, were chosen over
the influence of rows (78 to 96 % at high thresholds), and the sandwich over the model's
own variance (92 to 98 % in the large), on other cells with other seeds.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from aucmax.decisions import net_benefit, reliability
from benchmarks.report import Report

TITLE = "Coverage of net benefits and calibration"
SEED = 31
N_SAMPLES = 4000
THRESHOLDS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.65, 0.8])
#: rows, base rate and spread of the log-odds, slope and intercept of the outcomes
CELLS = (
    (60, 0.5, 1.5, 1.0, 0.0),
    (60, 0.5, 2.5, 1.6, 0.4),
    (100, 0.4, 1.0, 0.6, 0.4),
    (200, 0.2, 1.5, 1.0, 0.0),
    (300, 0.1, 2.0, 0.6, 0.4),
    (600, 0.06, 1.0, 1.6, 0.4),
    (2000, 0.05, 2.0, 1.0, 0.0),
)
_DEVIATES = ndtri((np.arange(40_000) + 0.5) / 40_000)


def _truth(base: float, spread: float, slope: float, shift: float) -> dict[str, Any]:
    """Return the mean of the log-odds, and what intervals should cover."""
    centre = brentq(
        lambda c: expit(shift + slope * (c + spread * _DEVIATES)).mean() - base, -30, 30
    )
    x = centre + spread * _DEVIATES
    predicted, real = expit(x), expit(shift + slope * x)
    above = predicted[:, None] > THRESHOLDS
    odds = THRESHOLDS / (1.0 - THRESHOLDS)
    benefit = (real @ above - odds * ((1.0 - real) @ above)) / x.size
    large = brentq(lambda a: expit(a + x).mean() - real.mean(), -10, 10)
    return {
        "centre": centre,
        "alerts": above.mean(axis=0),
        "benefit": benefit,
        "standardised": benefit / real.mean(),
        "slope": slope,
        "intercept": shift,
        "in_the_large": large,
    }


def run(report: Report) -> None:
    rng = np.random.default_rng(SEED)
    for n, base, spread, slope, shift in CELLS:
        truth = _truth(base, spread, slope, shift)
        held: dict[str, list[Any]] = {}
        for _ in range(N_SAMPLES):
            x = truth["centre"] + spread * rng.normal(size=n)
            y = rng.random(n) < expit(shift + slope * x)
            if not 2 <= y.sum() <= n - 2:
                continue
            p = expit(x)
            found = net_benefit(y, p, thresholds=THRESHOLDS)
            shares = found.standardised_low, found.standardised_high
            ends = {"benefit": (found.low, found.high), "standardised": shares}
            fitted = reliability(y, p)
            for name in ("slope", "intercept", "in_the_large"):
                ends[name] = getattr(fitted, f"{name}_interval")
            for name, (low, high) in ends.items():
                held.setdefault(name, []).append(
                    (low <= truth[name]) & (truth[name] <= high)
                )
        counted = n * truth["alerts"] >= 5.0
        for name, each in held.items():
            covered = 100.0 * np.mean(each, axis=0)
            if np.ndim(covered):
                covered = covered[counted]
            title = f"{n} rows, {base:.0%}, slope {slope:g}: {name}"
            for end in {float(np.min(covered)), float(np.max(covered))}:
                report.add(title, end, "%", at_least=93, at_most=97)
