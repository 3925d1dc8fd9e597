"""Importance of columns: the drop in AUC when the cells of one are shuffled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing

from aucmax._core.censored_times import is_survival_target, split_target
from aucmax._core.parameters import check_callable, check_integer, random_generator
from aucmax._core.validation import BoolArray, FloatArray, labels_among
from aucmax.inference.influence import Influence, area_influence, mean_influence
from aucmax.inference.intervals import two_sided_test
from aucmax.inference.results import Result, check_confidence
from aucmax.inference.survival import concordance_measure
from aucmax.inspection._rows import (
    read_scores,
    read_table,
    scores_with_column,
    used_columns,
)
from aucmax.metrics._steps import (
    BinaryRows,
    Box,
    box_size,
    check_box,
    check_two_classes,
)
from aucmax.metrics.metric_names import metric_title
from aucmax.tables import Target, encode_target
from aucmax.tables.cross_fit import sample_rows

# Rows to score per column by default: smaller tables are shuffled several times, at
# most as often as by scikit-learn.
_ROWS_PER_COLUMN = 5_000
_MAX_REPEATS = 5
_N_PRINTED = 10
_ROUNDING = 1e-12  # of a difference of equal effects


@dataclass(frozen=True, repr=False)
class Importances(Result):
    """Drop in AUC when a column is shuffled, the most important column first.

    Attributes
    ----------
    column : list of str
        Names of the columns.
    drop : ndarray of shape (n_columns,)
        Drop in AUC when the cells of the column are shuffled.
    low, high : ndarray of shape (n_columns,)
        Ends of its interval.
    metric : str
        "auc", "partial_auc" or, of censored times, "concordance".
    value : float
        The AUC of the model itself.
    n_repeats : int
        Number of shuffles per column.
    confidence_level : float
        Probability that each interval is meant to cover.

    See Also
    --------
    permutation_importance : Returns them, with an example.
    """

    column: list[str]
    drop: FloatArray
    low: FloatArray
    high: FloatArray
    metric: str
    value: float
    n_repeats: int
    confidence_level: float

    def __repr__(self) -> str:
        drops = zip(self.column, self.drop, self.low, self.high, strict=True)
        lines = [
            f"{name}: {drop:.4f} ({low:.4f} to {high:.4f})"
            for name, drop, low, high in islice(drops, _N_PRINTED)
        ]
        percent = f"{100 * self.confidence_level:g}%"
        title = f"drops of {metric_title(self.metric)} {self.value:.4f}"
        return "\n".join([f"{title} by column, with {percent} intervals", *lines])

    def _records(self) -> Any:
        names = ("column", "drop", "low", "high")
        return {name: getattr(self, name) for name in names}


def permutation_importance(
    model: object,
    X: object,
    y: ArrayLike | Target,
    *,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    columns: Sequence[str] | None = None,
    n_repeats: int | None = None,
    max_rows: int = 2500,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    random_state: int = 0,
    confidence_level: float = 0.95,
    progress: Callable[[str], object] | None = None,
) -> Importances:
    """Measure the drop in AUC, partial AUC or C index when each column is shuffled.

    Shuffling the cells of one column among the rows keeps its distribution and removes
    its information. Correlated columns can replace each other, so each alone may look
    unimportant. Use rows that the model was not fitted to.

    The interval is that of DeLong's paired test between the scores before and after,
    averaged over the repeats; with queries, Student's t over the differences of each
    query. It covers the drop on new rows, for this model.
    Costs one scoring of the rows and one sort per column and repeat.

    Parameters
    ----------
    model : estimator
        Any fitted model that scores rows.
    X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_columns)
        Raw rows, as the model takes them. Of a model of tables only the columns that it
        uses are tried.
    y : array-like of shape (n_rows,), or Target
        Labels, or events and times, as the model was fitted to.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    columns : sequence of str, default=None
        The columns to try; those of arrays are called ``x0``, ``x1``, ...
    n_repeats : int, default=None
        How often each column is shuffled; by default about 5,000 rows are scored per
        column, at most five times.
    max_rows : int, default=2500
        Number of rows of two classes drawn at random, if there are more; of the rarer
        class all, if they fit into half. Rows of queries and of censored times are all
        used.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), default=None
        The query of each row: cells are shuffled among all rows, and the area is the
        mean over the queries.
    random_state : int, default=0
        Seed of the shuffles, the same for all columns.
    confidence_level : float, default=0.95
        Probability that the interval is meant to cover.
    progress : callable, default=None
        Called with the name of each column that was shuffled.

    Returns
    -------
    Importances
        Columns with their drops and intervals, the largest drop first.

    See Also
    --------
    contributions : The columns that matter for single rows.
    aucmax.plots.ImportanceDisplay : A picture of it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucmax.inspection import permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> y = 2 * X[:, 1] + X[:, 2] > 1
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> permutation_importance(model, X[1000:], y[1000:]).column
    ['x1', 'x2', 'x0']
    """
    check_confidence(confidence_level)
    box = check_box(fpr_range, tpr_range)
    table, names = read_table(model, X)
    n_rows = table.shape[0]
    places = used_columns(model, names, columns)
    if n_repeats is None:
        n_repeats = min(max(_ROWS_PER_COLUMN // n_rows, 1), _MAX_REPEATS)
    check_integer("n_repeats", n_repeats)
    check_integer("max_rows", max_rows, 4)
    check_callable("progress", progress)
    metric = "auc" if box == (0.0, 1.0, 0.0, 1.0) else "partial_auc"
    if is_survival_target(y) or getattr(y, "is_survival", False):
        metric = "concordance"
        measure = _concordance(y, sample_weight, qid)
    else:
        rows = _labels(model, y, sample_weight, qid)
        if n_rows > max_rows and rows.queries.codes is None:
            kept = sample_rows(rows.is_positive, max_rows, random_state)
            table, weight = _safe_indexing(table, kept), rows.sample_weight
            weight = None if weight is None else weight[kept]
            rows = check_two_classes(rows.is_positive[kept], weight)
        measure = partial(_area, rows, box)
    start = measure(read_scores(model, table))
    generator = random_generator(random_state)
    orders = [generator.permutation(table.shape[0]) for _ in range(n_repeats)]
    drops = []
    for place in places:
        shuffled = map(measure, scores_with_column(model, table, place, orders))
        drops.append(_drop(start, list(shuffled), confidence_level))
        if progress is not None:
            progress(names[place])
    ends = np.array(drops).reshape(-1, 3)
    order = np.argsort(-ends[:, 0], kind="stable")
    column, (drop, low, high) = [names[places[k]] for k in order], ends[order].T
    options = metric, start.value, n_repeats, confidence_level
    return Importances(column, drop, low, high, *options)


def _concordance(
    y: object, sample_weight: ArrayLike | None, qid: ArrayLike | None
) -> Callable[..., Influence]:
    if isinstance(y, Target):
        sample_weight = y.weights if sample_weight is None else sample_weight
        qid, y = y.queries if qid is None else qid, y.survival
    return concordance_measure(*split_target(y), sample_weight, qid, None)


def _labels(
    model: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
) -> BinaryRows:
    """Check labels, as the model was fitted to them, with weights and queries."""
    if isinstance(y, Target) or hasattr(model, "grading_"):
        target = y
        if not isinstance(y, Target):
            target = encode_target(y, grading=model.grading_, qid=qid)
        weight = target.weights if sample_weight is None else sample_weight
        queries = target.queries if qid is None else qid
        return check_two_classes(target.relevant, weight, queries)
    classes = getattr(model, "classes_", None)
    if classes is not None and len(classes) == 2:
        labels: BoolArray = labels_among(classes, y, "y")
        return check_two_classes(labels, sample_weight, qid)
    return check_two_classes(y, sample_weight, qid)


def _area(rows: BinaryRows, box: Box, scores: FloatArray) -> Influence:
    """Return the area of one ranking, or the mean area of the queries."""
    task = rows.task(scores)
    if rows.queries.codes is None:
        return area_influence(task, box=box)
    areas = task.steps().areas(box) / box_size(box)
    return mean_influence(areas[~np.isnan(areas)])


def _drop(
    start: Influence, shuffled: Sequence[Influence], confidence_level: float
) -> tuple[float, float, float]:
    """Return the mean drop of the metric by shuffling, with its interval."""
    area = float(np.mean([one.value for one in shuffled]))
    effects = start.effects - sum(one.effects for one in shuffled) / len(shuffled)
    drop, error = start.value - area, float(np.linalg.norm(effects))
    if error < _ROUNDING:  # as of a column that the model does not use
        return drop, drop, drop
    # without the areas: the term for few errors, of equal models that might differ on
    # other rows, would make the intervals of all columns equally wide
    low, high, *_ = two_sided_test(drop, error, confidence_level, start.rows)
    return drop, low, high
