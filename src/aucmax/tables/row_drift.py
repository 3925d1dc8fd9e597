"""Compare new rows with those of training: ranges, categories, share of alerts."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax.tables._columns import Category, Date, Number, parts_of
from aucmax.tables._scaling import binary_exponent
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.frames import as_table

Floats = NDArray[np.float64]

# rows that are compared
_SAMPLE = 50_000
# share of the cells of a column, unless chance explains more
_MANY_OUTSIDE = 0.05
# change of the share of alerts
_MANY_ALERTS = 0.5
# standard errors: no false alarm in a table of a hundred columns
_N_ERRORS = 4.0


def learn_ranges(encoder: TableEncoder, X: object) -> Floats:
    """Return a range of each column that trees see, and its share of cells outside.

    Ranges of numbers hold 99% of them. A category is outside if it is rare or new, and
    missing values always are. The share is the largest that chance explains: for
    numbers that of half of the rows outside the range of the others, and three
    standard errors.
    """
    cells = np.random.default_rng(0).permutation(_sample(encoder, X))
    some, rest = np.array_split(cells, 2)
    columns = [(one, part) for one in encoder._learned() for part in parts_of(one)]
    ranges = np.tile([[0.0], [0.0], [1.0]], len(columns))
    for k, (column, part) in enumerate(columns):
        if isinstance(column, Date) and " since " not in part.name:
            continue  # of which new rows have others
        if isinstance(part, Category):
            # the most frequent of many categories are less so in new rows
            ranges[1, k] = len(part.categories) - 1
            share = _largest_share(cells[:, k], *ranges[:2, k])
            ranges[2, k] = share + part.has_other * (1.0 - share) / 4.0
        elif isinstance(part, Number):
            ranges[:2, k] = _ends(cells[:, k])
            ranges[2, k] = _largest_share(rest[:, k], *_ends(some[:, k]))
    return ranges


def _sample(encoder: TableEncoder, X: object) -> Floats:
    if encoder.scales_ is not None:
        return np.empty((0, 0))
    table = as_table(X)
    cells: Floats = encoder.matrix(table[:: 1 + table.shape[0] // _SAMPLE], "trees")
    return cells


def _ends(values: Floats) -> Floats:
    filled = values[~np.isnan(values)]
    return np.quantile(filled if filled.size else [0.0], (0.005, 0.995))


def _largest_share(values: Floats, low: float, high: float) -> float:
    n = values.size + 1.0
    share = (values.size - ((values >= low) & (values <= high)).sum() + 1.0) / n
    return min(float(share + 3.0 * (share / n) ** 0.5), 1.0)


def count_unlike(model: Any, X: Any, scores: Floats) -> NDArray[np.int64]:
    """Count rows, alerts, rows that are compared, and in each column cells outside."""
    limit = model.alert_threshold_
    n_alerts = 0 if limit is None else np.count_nonzero(scores > limit)
    low, high, _ = model.ranges_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the scores have warned
        cells = _sample(model.encoders_[0], X) if low.size else np.empty((0, 0))
    outside = len(cells) - ((cells >= low) & (cells <= high)).sum(axis=0)
    return np.array([scores.size, n_alerts, len(cells), *outside])


def describe_unlike(model: Any, counts: Sequence[NDArray[np.int64]]) -> list[str]:
    """Return a line per column with many cells outside, and one on the alerts."""
    n_rows, n_alerts, n_compared, *outside = np.sum(counts, axis=0).tolist()
    lines = []
    parts, ranges = model.encoders_[0]._parts(), model.ranges_
    for part, n, (low, high, share) in zip(parts, outside, ranges.T):  # noqa: B905
        expected = n_compared * max(_MANY_OUTSIDE, share)
        if n > expected + _N_ERRORS * expected**0.5 + 2.0:
            usual = "frequent categories"
            if isinstance(part, Number):
                low, high = np.ldexp([low, high], binary_exponent(part.half_spread))
                usual = f"{low:g} to {high:g}"
            lines.append(
                f"column {part.name!r}: {n / n_compared:.0%} of the values are missing "
                f"or outside those of training ({usual})"
            )
    point = getattr(model, "alert_point_", None)
    if point and n_rows:
        n_known = sum(point[k] for k in ("tp", "fn", "fp", "tn"))
        share, stored = n_alerts / n_rows, point["alerts"] / n_known
        error = (max(share, stored) * (1.0 / n_rows + 1.0 / n_known)) ** 0.5
        if abs(share - stored) > max(_N_ERRORS * error, _MANY_ALERTS * stored):
            lines.append(
                f"{share:.1%} of the rows are alerts, but {stored:.1%} of those that "
                "the threshold was chosen by; check that they are alike"
            )
    return lines
