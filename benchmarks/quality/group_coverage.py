"""How often intervals of differences between groups cover all at once, on drawn rows.

Protocol, fixed before the run. Three groups of 30 to 200 rows per class have normal
scores; their means, and so their areas, recalls and false positive rates at a
threshold, are equal, or differ by up to 0.2. :func:`aucmax.decisions.compare_groups`
compares all pairs. Each cell has 1,000 samples and counts how often all three intervals
of a measure cover at once (nominal 95 %), how often the interval of a single group
covers, and, where groups are equal, how often any adjusted p-value is below .05.
Targets are 93 to 97 % for single groups, at least 93 % for three differences at once,
and at most 6.5 % false alarms. All cells are reported.
"""

from typing import Any

import numpy as np
from scipy.special import ndtr

from aucmax.decisions import compare_groups
from benchmarks.report import Report

TITLE = "Coverage of differences between groups"
SEED = 17
N_SAMPLES = 1000
THRESHOLD = 0.8
#: rows per class and group, means of the positives, means of the negatives
CELLS = (
    ((30, 30, 30), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
    ((200, 60, 30), (1.2, 1.2, 1.2), (0.0, 0.0, 0.0)),
    ((100, 50, 30), (1.5, 1.0, 1.2), (0.0, 0.0, 0.4)),
    ((200, 100, 40), (2.0, 1.5, 1.2), (-0.4, 0.0, 0.2)),
)


def run(report: Report) -> None:
    rng = np.random.default_rng(SEED)
    for sizes, positive, negative in CELLS:
        gaps = np.subtract(positive, negative)
        truth: dict[str, Any] = {
            "auc": ndtr(gaps / np.sqrt(2.0)),
            "recall": ndtr(np.array(positive) - THRESHOLD),
            "fpr": ndtr(np.array(negative) - THRESHOLD),
        }
        codes = np.repeat([0, 1, 2, 0, 1, 2], [*sizes, *sizes])
        y = np.repeat([True, False], sum(sizes))
        means = np.where(y, np.array(positive)[codes], np.array(negative)[codes])
        held: dict[str, list[bool]] = {}
        for _ in range(N_SAMPLES):
            scores = means + rng.normal(size=y.size)
            found = compare_groups(
                y, scores, codes, threshold=THRESHOLD, all_pairs=True
            )
            for name, values in truth.items():
                own = [getattr(one, name) for one in found.groups]
                real = [values[int(one.group)] for one in found.groups]
                ends = zip(own, real, strict=True)
                held.setdefault(f"{name} of a group", []).extend(
                    one.low <= value <= one.high for one, value in ends
                )
                pairs = [one for one in found.differences if one.metric == name]
                held.setdefault(f"three differences of {name}", []).append(
                    all(
                        one.low
                        <= values[int(one.names[0])] - values[int(one.names[1])]
                        <= one.high
                        for one in pairs
                    )
                )
                if np.ptp(values) < 1e-12:
                    held.setdefault(f"false alarms, {name}", []).append(
                        any(one.p_value < 0.05 for one in pairs)
                    )
        for name, each in held.items():
            limits = {"at_least": 93.0}
            if name.startswith("false"):
                limits = {"at_most": 6.5}
            elif name.endswith("group"):
                limits["at_most"] = 97.0
            report.add(f"{sizes}: {name}", 100.0 * float(np.mean(each)), "%", **limits)
