"""Partial dependence of the rank on a column."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from aucmax._core.parameters import check_integer, random_generator
from aucmax._core.validation import FloatArray, IntArray
from aucmax.inference.results import Result
from aucmax.inspection._rows import (
    read_scores,
    read_table,
    scores_with_column,
    used_columns,
)
from aucmax.tables.frames import as_table

_MANY_ROWS = 0.2  # share that is printed: such a value is several quantiles of a number


@dataclass(frozen=True, repr=False)
class RankDependence(Result):
    """Mean rank of the rows as a function of one column.

    Attributes
    ----------
    column : str
        Name of the column.
    values : list
        Values of the column: numbers ascending, strings by how often they occur; None
        stands for a missing value and comes last.
    rank : ndarray of shape (n_values,)
        Mean rank of all rows with this value in place of their own, from 0, below all
        rows, to 1, above all.
    low, high : ndarray of shape (n_values,)
        Lower and upper quartile of the ranks.
    share : ndarray of shape (n_values,)
        Share of the rows that have this value.
    is_ordered : bool
        Whether the values are numbers or times, and not strings.
    """

    column: str
    values: list[Any]
    rank: FloatArray
    low: FloatArray
    high: FloatArray
    share: FloatArray
    is_ordered: bool

    def __repr__(self) -> str:
        parts = []
        for value, rank, share in zip(self.values, self.rank, self.share, strict=True):
            shown = f"{value:.4g}" if isinstance(value, float) else value
            rows = f" ({share:.0%} of the rows)" if share >= _MANY_ROWS else ""
            parts.append(f"{rank:.2f} at {shown}{rows}")
        return f"mean rank by {self.column}: {', '.join(parts)}"

    def _records(self) -> Any:
        import polars as pl

        ranks = {name: getattr(self, name) for name in ("rank", "low", "high", "share")}
        return {"value": pl.Series(self.values, strict=False), **ranks}


def rank_dependence(
    model: object,
    X: object,
    column: str,
    *,
    n_values: int = 20,
    max_rows: int = 1000,
    random_state: int = 0,
) -> RankDependence:
    """Compute the mean rank of the rows as a function of one column.

    For each of some values of the column, all rows get it in place of their own, are
    scored, and placed among the unchanged rows: 0.8 is above 80 % of them (ties by one
    half). That mean is the partial dependence of the rank, which unlike that of the
    score compares across models. It does not ask whether the value ever occurs together
    with the other cells of a row. Costs one scoring of `max_rows` rows per value.

    Parameters
    ----------
    model : estimator
        Any fitted model that scores rows.
    X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_columns)
        Raw rows, as the model takes them.
    column : str
        Name of a column; those of arrays are called ``x0``, ``x1``, ...
    n_values : int, default=20
        Maximum number of values: quantiles of numbers, or the most frequent strings.
    max_rows : int, default=1000
        Number of rows drawn at random, if there are more.
    random_state : int, default=0
        Seed of the draw.

    Returns
    -------
    RankDependence
        Values, and the mean rank for each.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucmax.inspection.dependence import rank_dependence
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = LogisticRegression().fit(X, 2 * X[:, 1] + X[:, 2] > 1)
    >>> found = rank_dependence(model, X, "x1", n_values=3)
    >>> found.rank.round(1).tolist()
    [0.2, 0.5, 0.8]
    """
    check_integer("n_values", n_values)
    check_integer("max_rows", max_rows)
    table, names = read_table(model, X)
    n_rows = table.shape[0]
    (place,) = used_columns(model, names, [column])
    cells = _safe_indexing(table, [place], axis=1)
    cells = as_table(cells.toarray() if hasattr(cells, "toarray") else cells)
    holders, values, share, is_ordered = _examples(cells.to_series(0), n_values)
    n_ranked = min(n_rows, max_rows)
    if n_rows > max_rows:
        generator = random_generator(random_state)
        drawn = generator.choice(n_rows, max_rows, replace=False)
        # rows that hold the values come last, and are not ranked
        table = _safe_indexing(table, np.concatenate((drawn, holders)))
        holders = np.arange(max_rows, max_rows + holders.size)
    sorted_scores = np.sort(read_scores(model, table)[:n_ranked])
    ranks = np.empty((holders.size, n_ranked))
    draws = [np.full(table.shape[0], holder) for holder in holders]
    for k, scores in enumerate(scores_with_column(model, table, place, draws)):
        ends = [
            np.searchsorted(sorted_scores, scores[:n_ranked], side)
            for side in ("left", "right")
        ]
        ranks[k] = 0.5 * (ends[0] + ends[1]) / n_ranked
    low, high = np.quantile(ranks, [0.25, 0.75], axis=1)
    mean = ranks.mean(axis=1)
    return RankDependence(column, values, mean, low, high, share, is_ordered)


def _examples(
    series: Any, n_values: int
) -> tuple[IntArray, list[Any], FloatArray, bool]:
    """Return rows that hold different values of a column, the values, and shares."""
    import polars as pl

    named = pl.DataFrame(
        {"value": series.alias("value"), "row": np.arange(len(series))}
    )
    is_ordered = series.dtype.is_numeric() or series.dtype.is_temporal()
    if series.dtype.is_float():
        named = named.with_columns(pl.col("value").fill_nan(None))
    counted = named.group_by("value").agg(pl.col("row").first(), pl.len().alias("n"))
    gap = counted.filter(pl.col("value").is_null())
    counted = counted.filter(pl.col("value").is_not_null())
    if is_ordered:
        counted = counted.sort("value")
        if counted.height > n_values:
            wanted = (np.arange(n_values) + 0.5) / n_values
            # the value of each quantile of the rows
            below = np.cumsum(counted["n"].to_numpy()) / counted["n"].sum()
            counted = counted[np.unique(np.searchsorted(below, wanted))]
    else:
        counted = counted.sort(["n", "row"], descending=[True, False]).head(n_values)
    kept = pl.concat([counted, gap])
    shares = kept["n"].to_numpy() / len(series)
    return kept["row"].to_numpy(), kept["value"].to_list(), shares, is_ordered
