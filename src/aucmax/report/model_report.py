"""The report of one fitted model on test rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aucmax._core.censored_times import is_survival_target
from aucmax.decisions import compare_groups
from aucmax.model_selection.cross_validation import find_notices
from aucmax.model_selection.fold_estimates import summarise_scores
from aucmax.model_selection.goals import choose_goal
from aucmax.model_selection.models import trained_ranges
from aucmax.report.document import Report
from aucmax.report.pages import report_scores
from aucmax.tables import Target, encode_target
from aucmax.tables.cross_fit import score_rows
from aucmax.tables.frames import as_table
from aucmax.tables.target_encoding import match_target


def report_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None = None,
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
    qid: Any = None,
    by: Any = None,
    name: str | None = None,
    title: str | None = None,
    notices: Sequence[str] = (),
    reproduction: Mapping[str, str] | None = None,
) -> Report:
    """Make a report of one fitted model on test rows.

    Parameters
    ----------
    model : estimator
        Fitted: an :class:`aucmax.AutoRanker`, or any binary classifier that scores
        rows.
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Rows that it was not fitted to.
    y : array-like of shape (rows,), or Target
        Their labels.
    metric : str, optional
        The main metric, as in :func:`compare_models`.
    fpr_range, tpr_range : pair of float, optional
        The part of the ROC curve that counts; by default that of the training.
    qid : array-like of shape (rows,), optional
        The query of each row, unless `y` is a target, which has its own.
    by : str or array-like of shape (rows,), optional
        Groups of people to compare, as in :func:`aucmax.decisions.compare_groups`: the
        name of a column of X, or one value per row.
    name : str, optional
        Name of the model in the report.
    title : str, optional
        The heading.
    notices : sequence of str, optional
        Further notes for the reader.
    reproduction : mapping from str to str, optional
        How to repeat the report, such as "command" or "data".

    Returns
    -------
    aucmax.report.Report
        Call its ``save("page.html")`` or ``save("page.md")``.

    Examples
    --------
    >>> from aucmax.report import report_model
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(max_iter=10_000).fit(X[:300], y[:300])
    >>> report_model(model, X[300:], y[300:]).contents.models[0].name
    'LogisticRegression'
    """
    table = as_table(X)
    target = _match(model, y, qid)
    name = name or type(model).__name__
    ranges = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    given = {key: ends for key, ends in ranges.items() if ends is not None}
    goal = choose_goal(target, metric, **(given or trained_ranges(model)))
    scores = score_rows(model, X)
    result = summarise_scores(target, scores, goal, name)
    if result.problem is not None:
        raise ValueError(
            f"{name} gives all {target.labels.size} rows the same score, so it ranks "
            "nothing. Check that the columns are those of training."
        )
    groups = None
    if by is not None:
        column = by if isinstance(by, str) else getattr(by, "name", None)
        if isinstance(by, str) and by not in getattr(table, "columns", ()):
            raise ValueError(f"X has no column {by!r} to group rows by.")
        values = table[by] if isinstance(by, str) else by
        threshold = getattr(model, "decision_threshold_", None)
        groups = column, group_rows(target, scores, values, threshold)
    return report_scores(
        replace(result, folds=()),
        model,
        X,
        table,
        target,
        scores,
        goal=goal,
        titles=goal.titles(result.measures),
        title=title,
        notices=notices,
        found=[str(one) for one in find_notices(table, target)],
        reproduction=reproduction,
        groups=groups,
    )


def group_rows(target: Target, scores: Any, by: Any, threshold: float | None) -> Any:
    """Compare groups of rows; reject levels and queries."""
    if target.is_graded or target.queries is not None or target.is_survival:
        raise ValueError(
            "groups are compared by two classes in one ranking; there are levels, "
            "queries or censored times here."
        )
    rows: Any = {"threshold": threshold, "sample_weight": target.weights}
    return compare_groups(target.relevant, scores, by, **rows)


def _match(model: Any, y: Any, qid: Any) -> Target:
    """Return the target, its values read as in the training of the model."""
    if isinstance(y, Target):
        return y
    if is_survival_target(y):
        return encode_target(y, qid=qid)
    if hasattr(model, "grading_"):
        return match_target(y, model.grading_, qid=qid)
    return encode_target(y, model.classes_[1], qid=qid)
