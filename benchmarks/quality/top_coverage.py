r"""How often intervals of metrics of the top of a list cover, on simulated rows.

Protocol, fixed before the run. Rows are independent draws of a population with a given
share of positives, so that the number of positives varies, too. The rules of
:func:`aucmax.metrics.metric_interval` (Student's t on the logit scale with at least 4
degrees of freedom; Wilson's interval below 5 expected errors; order statistics of the
negatives for a false positive rate) were chosen with other seeds on normal scores of
equal and unequal variances, exponential scores and Student's t with 3 degrees of
freedom. This run judges them on another seed; the logistic distribution, positives that
mix two normal ones, and normal scores in steps of a quarter (ties) had no part in the
choice.

- average precision: true values of .1, .3, .6, .9 and .97 (at least twice the share of
  positives), shares of .02, .1 and .3, on average 20, 50, 200 and 1,000 positives; 300
  draws per cell. The target is 92 to 98 % with at least 5 expected errors, p min(AP, 1
  - AP), and at least 92 % with fewer. Heavy tails (Student's t with 3 degrees of
  freedom, negatives of which 3 % are eight times as wide) are reported separately,
  without a target: one negative at the top changes the precision at all positives.
- differences of average precision: two models of equal value with correlation .5 and .9
  within the class, share .1, and 20, 50 and 200 positives; 400 draws. Tests at 5 %
  should reject in at most 8 %.
- the other metrics: normal scores and exponential ones, shifts of 1 and 2.5, 400 rows
  with a tenth of positives, and 2,000 rows with a twentieth and three tenths; 400 draws
  for rates by order statistics, 100 draws of 200 resamples for the bootstrap. The
  target is 92 %. True values come from 4 million rows.
- paired bootstrap tests: recall at a false positive rate of .1 and precision at 100,
  two equal models of 1,000 rows with correlation .5, a tenth positive; 200 draws of 200
  resamples. Tests at 5 % should reject in at most 8 %.

Each share of 300 draws has a standard error of 1.3 % where 95 % cover, so that the
least and the largest of many cells are more extreme than the true ones; all cells are
printed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from aucmax.metrics import compare_auc, metric_interval
from aucmax.metrics.metric_names import parse_metric
from benchmarks.quality.interval_coverage import TwoNormals
from benchmarks.report import Report

TITLE = "Coverage at the top of a list"
SEED = 20_337
N_DRAWS, N_PAIRED, N_RATES, N_RESAMPLED, N_TESTED, N_RESAMPLES = (
    300, 400, 400, 100, 200, 200,
)  # fmt: skip
PRECISIONS = (0.1, 0.3, 0.6, 0.9, 0.97)
SHARES = (0.02, 0.1, 0.3)
POSITIVES = (20, 50, 200, 1000)
STEP = 0.25
BY_RULE = ("recall@fpr=0.01", "recall@fpr=0.1", "ks")
BY_BOOTSTRAP = (
    "precision@100",
    "recall@100",
    "lift@100",
    "recall@precision=0.8",
    "precision@recall=0.5",
)
_GRID = (np.arange(50_000) + 0.5) / 50_000
_NORMAL = stats.norm()

#: negatives and positives before the shift, and whether scores are rounded
DISTRIBUTIONS: dict[str, tuple[Any, Any, bool]] = {
    "normal": (_NORMAL, _NORMAL, False),
    "normal, positives twice as wide": (_NORMAL, stats.norm(scale=2.0), False),
    "exponential": (stats.expon(), stats.expon(), False),
    "logistic": (stats.logistic(), stats.logistic(), False),
    "positives of two normals": (_NORMAL, TwoNormals(0.2, 0.5, 3.0), False),
    "steps": (_NORMAL, _NORMAL, True),
}
HEAVY: dict[str, tuple[Any, Any, bool]] = {
    "Student's t3": (stats.t(3), stats.t(3), False),
    "outliers": (TwoNormals(0.03, 1.0, 8.0), _NORMAL, False),
}


def average_precision(kind: tuple[Any, Any, bool], shift: float, share: float) -> float:
    """Return the value of the population."""
    negative, positive, is_rounded = kind
    if is_rounded:
        cuts = STEP * (np.arange(200, -200, -1) - 0.5)
        tpr, fpr = positive.sf(cuts - shift), negative.sf(cuts)
        gained = np.diff(tpr, prepend=0.0)
    else:
        tpr, gained = _GRID, 1.0 / _GRID.size
        fpr = negative.sf(positive.isf(_GRID) + shift)
    found, alarms = share * tpr, (1.0 - share) * fpr
    precision = found / np.maximum(found + alarms, 1e-300)
    return float((gained * precision).sum())


def shift_for(kind: tuple[Any, Any, bool], value: float, share: float) -> float | None:
    """Return the shift with this average precision, if there is one."""

    def excess(shift: float) -> float:
        return average_precision(kind, shift, share) - value

    if excess(-10.0) > 0.0 or excess(60.0) < 0.0:
        return None
    return float(brentq(excess, -10.0, 60.0))


def labels(rng: Any, m: int, share: float) -> Any:
    """Return random labels; an interval needs two rows of each class."""
    while True:
        y = rng.random(m) < share
        if 2 <= np.count_nonzero(y) <= m - 2:
            return y


def draw(
    kind: tuple[Any, Any, bool], shift: float, share: float, m: int, rng: Any
) -> tuple[Any, Any]:
    """Return labels and scores of independent rows."""
    negative, positive, is_rounded = kind
    y = labels(rng, m, share)
    scores = np.empty(m)
    for rows, of, gain in ((y, positive, shift), (~y, negative, 0.0)):
        scores[rows] = of.ppf(rng.random(np.count_nonzero(rows))) + gain
    return y, STEP * np.round(scores / STEP) if is_rounded else scores


def cells(
    kinds: dict[str, tuple[Any, Any, bool]],
) -> Iterator[tuple[str, float, float, int, list[bool], float]]:
    """Yield what each cell of average precision has covered, and the mean width."""
    for name, kind in kinds.items():
        for share in SHARES:
            for value in PRECISIONS:
                shift = shift_for(kind, value, share) if value >= 2 * share else None
                if shift is None:
                    continue
                for n_positive in POSITIVES:
                    rng = np.random.default_rng(
                        [SEED, n_positive, int(1000 * share), int(1000 * value)]
                    )
                    covered, widths = [], []
                    for _ in range(N_DRAWS):
                        y, scores = draw(
                            kind, shift, share, int(n_positive / share), rng
                        )
                        found = metric_interval(y, scores, "average_precision")
                        covered.append(found.low <= value <= found.high)
                        widths.append(found.high - found.low)
                    yield (
                        name,
                        share,
                        value,
                        n_positive,
                        covered,
                        float(np.mean(widths)),
                    )


def precisions(report: Report) -> None:
    """Count for average precision."""
    kept: dict[str, list[float]] = {"many": [], "few": [], "heavy": []}
    for kinds in (DISTRIBUTIONS, HEAVY):
        for name, share, value, n_positive, covered, width in cells(kinds):
            percent = 100.0 * float(np.mean(covered))
            is_few = n_positive * min(value, 1.0 - value) < 5.0 - 1e-9
            part = "heavy" if kinds is HEAVY else "few" if is_few else "many"
            kept[part].append(percent)
            print(
                f"{name}, share {share:g}, AP {value:g}, {n_positive} positives: "
                f"{percent:.1f} %, width {width:.3f}", flush=True,
            )  # fmt: skip
    titles = {"many": "5 errors or more", "few": "fewer errors", "heavy": "heavy tails"}
    targets = {"many": {"at_least": 92}, "few": {"at_least": 92}, "heavy": {}}
    for part, each in kept.items():
        title = f"average precision, {titles[part]}, {len(each)} cells"
        report.add(f"{title}: least coverage", min(each), "%", **targets[part])
        most = {"at_most": 98} if part == "many" else {}
        report.add(f"{title}: largest coverage", max(each), "%", **most)
        report.add(f"{title}: mean coverage", float(np.mean(each)), "%")
        inside = np.mean([92.0 <= one <= 98.0 for one in each])
        report.add(f"{title}: cells of 92 to 98 %", 100.0 * float(inside), "%")


def pair(rng: Any, m: int, shift: float, share: float, correlation: float) -> Any:
    """Return labels and two correlated normal scores."""
    y = labels(rng, m, share)
    first, other = rng.normal(size=(2, m))
    second = correlation * first + np.sqrt(1.0 - correlation**2) * other
    return y, first + shift * y, second + shift * y


def differences(report: Report) -> None:
    """Count for differences of equal models."""
    for value in (0.3, 0.6, 0.9):
        shift = shift_for(DISTRIBUTIONS["normal"], value, 0.1)
        for correlation in (0.5, 0.9):
            for n_positive in (20, 50, 200):
                rng = np.random.default_rng([SEED + 1, n_positive])
                rejected = []
                for _ in range(N_PAIRED):
                    rows = pair(rng, 10 * n_positive, shift, 0.1, correlation)
                    found = compare_auc(*rows, metric="average_precision")
                    rejected.append(found.p_value < 0.05)
                name = f"equal AP {value:g}, r {correlation:g}, {n_positive} positives"
                report.add(name, 100.0 * float(np.mean(rejected)), "%", at_most=8)


def others(report: Report) -> None:
    """Count for rates and for metrics by the bootstrap."""
    least: dict[str, list[float]] = {}
    for name in ("normal", "exponential"):
        for shift in (1.0, 2.5):
            for m, share in ((400, 0.1), (2000, 0.05), (2000, 0.3)):
                rng = np.random.default_rng([SEED + 2, m, int(100 * share)])
                kind = DISTRIBUTIONS[name]
                y, scores = draw(kind, shift, share, 4_000_000, rng)
                held: dict[str, list[bool]] = {}
                truth = {}
                for metric in (*BY_RULE, *BY_BOOTSTRAP):
                    named = parse_metric(metric).of_share(4_000_000 / m)
                    truth[metric] = named.function(y, scores)
                for k in range(N_RATES):
                    y, scores = draw(kind, shift, share, m, rng)
                    for metric in (*BY_RULE, *BY_BOOTSTRAP * (k < N_RESAMPLED)):
                        found = metric_interval(
                            y, scores, metric, n_resamples=N_RESAMPLES, random_state=k
                        )
                        held.setdefault(metric, []).append(
                            found.low <= truth[metric] <= found.high
                        )
                for metric, each in held.items():
                    percent = 100.0 * float(np.mean(each))
                    least.setdefault(metric, []).append(percent)
                    print(
                        f"{metric} {truth[metric]:.3f}: {name}, shift {shift:g}, {m} "
                        f"rows, share {share:g}: {percent:.1f} %", flush=True,
                    )  # fmt: skip
    for metric, each in least.items():
        report.add(f"{metric}: least coverage", min(each), "%", at_least=92)
        report.add(f"{metric}: mean coverage", float(np.mean(each)), "%")


def tests(report: Report) -> None:
    """Count how often the paired bootstrap tells equal models apart."""
    for metric in ("recall@fpr=0.1", "precision@100"):
        rng = np.random.default_rng(SEED + 3)
        rejected = []
        for k in range(N_TESTED):
            y, a, b = pair(rng, 1000, 1.5, 0.1, 0.5)
            options: Any = {"n_resamples": N_RESAMPLES, "random_state": k}
            found = compare_auc(y, a, b, metric=metric, **options)
            rejected.append(found.p_value < 0.05)
        name = f"equal models by {metric}: rejected at 5 %"
        report.add(name, 100.0 * float(np.mean(rejected)), "%", at_most=8)


def run(report: Report) -> None:
    for part in (precisions, differences, others, tests):
        part(report)
