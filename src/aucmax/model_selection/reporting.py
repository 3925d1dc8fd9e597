"""Reports of a comparison, and of one model on other rows."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._version import __version__
from aucmax.model_selection.aim import MEASURES, WHOLE, Aim, choose_aim
from aucmax.model_selection.insights import (
    certificates_of,
    cross_fitted_probabilities,
    importance_of,
    probabilities_of,
)
from aucmax.model_selection.judges import summarise_scores
from aucmax.model_selection.models import trained_ranges
from aucmax.model_selection.results import Comparison, VersusBaseline
from aucmax.model_selection.splits import find_notices
from aucmax.model_selection.verdicts import sentence_of_comparison, sentence_of_model
from aucmax.report import Report
from aucmax.report.contents import Contents, ModelRow, Ranking, Verdict
from aucmax.report.document import table_as_html
from aucmax.report.ranked_steps import found_among_first
from aucmax.tables import (
    Target,
    as_table,
    digest_table,
    encode_target,
    match_target,
)
from aucmax.tables.table_model import score_rows

__all__ = ["comparison_table", "report_comparison", "report_model"]

_POSITION = "position, the share of negatives that a row outranks"
_IN_QUERIES = (
    "Rows are ranked within their queries, so that there is no one list of all rows to "
    "open from the top, and no curve of it."
)
# far less than what one row of millions changes
_LARGEST_STEP = 1e-9
# rows of few columns may be those of training by chance
_MANY_KNOWN_ROWS = 0.2
# what the numbers depend on most
_PACKAGES = ("numpy", "scipy", "scikit-learn", "lightgbm", "polars")


def comparison_table(comparison: Comparison) -> str:
    """Return the verdict and the table as HTML, for notebooks."""
    return table_as_html(_contents(comparison, "", None, with_insights=False))


def report_comparison(
    comparison: Comparison,
    *,
    title: str | None = None,
    reproduction: Mapping[str, str] | None = None,
) -> Report:
    """Make a report of a comparison: see :meth:`Comparison.report`."""
    title = title or "Which model ranks these rows best?"
    return Report(_contents(comparison, title, reproduction, with_insights=True))


def _contents(
    comparison: Comparison,
    title: str,
    reproduction: Mapping[str, str] | None,
    with_insights: bool,
) -> Contents:
    target, aim, fold = comparison.target, comparison.aim, comparison.last_fold
    rows = _model_rows(comparison)
    rankings = [
        Ranking(row.name, _in_one_list(comparison, row.name))
        for row in rows
        if row.problem is None and target.queries is None
    ]
    labels = target.relevant == 1
    verdict = sentence_of_comparison(comparison)
    if rankings:
        verdict += f" {found_among_first(labels, rankings[0])}"
    insights: dict[str, Any] = {}
    if with_insights and fold is not None and comparison.best is not None:
        model = fold.models[comparison.best]
        tested = "test rows of the last fold"
        if comparison.scheme == "test":
            tested = "test rows"
        insights = {
            "importance": importance_of(
                comparison.best, model, fold.table, fold.target, aim, tested
            ),
            "certificates": certificates_of(fold.models),
            "probabilities": cross_fitted_probabilities(
                comparison.best,
                comparison.scores[comparison.best],
                comparison.fold_numbers,
                target,
            ),
            "origin_of_probabilities": 'as calibrate="auto" learns them from the '
            "scores of all other folds",
        }
    return Contents(
        title=title,
        verdict=verdict,
        facts=_facts(comparison),
        measures=comparison.measure_titles,
        baselines=[row.name for row in comparison.results if row.is_baseline],
        models=rows,
        explanation=comparison.explain(),
        labels=labels,
        rankings=rankings,
        scale=_POSITION,
        fpr_range=_shaded(aim),
        notices=[str(notice) for notice in comparison.notices],
        reproduction={
            **(reproduction or {}),
            "fingerprint of the data": comparison.fingerprint,
            "seed": str(comparison.random_state),
            "versions": _versions(),
        },
        no_rankings=_IN_QUERIES if target.queries is not None else verdict,
        **insights,
    )


def _in_one_list(comparison: Comparison, name: str) -> NDArray[np.float64]:
    """Return positions that tie where scores of one fold do, and nowhere else.

    Rows of different folds have the same position though no model said that they are
    equal, and so have positives between the same two negatives. The latter are in the
    order of their scores; which fold comes first is decided by lot, place by place.
    """
    positions, scores = comparison.positions[name], comparison.scores[name]
    _, places = np.unique(positions, return_inverse=True)
    pairs, pair_of_row = np.unique(
        places * comparison.n_folds + comparison.fold_numbers, return_inverse=True
    )
    lots = np.random.default_rng(0).permutation(pairs.size)[pair_of_row]
    order = np.lexsort((scores, lots, places))
    is_new = np.ones(order.size, dtype=bool)
    is_new[1:] = (np.diff(lots[order]) != 0) | (np.diff(scores[order]) != 0)
    group = np.cumsum(is_new)
    starts = np.searchsorted(places[order], np.arange(places.max() + 1))
    within = group - group[starts][places[order]]
    listed = np.empty(order.size)
    listed[order] = positions[order] + _LARGEST_STEP * within / order.size
    return listed


def _model_rows(comparison: Comparison) -> list[ModelRow]:
    """Return the table, the best model first and those without measures last."""
    tests: dict[str, dict[str, Verdict]] = {}
    for test in comparison.tests:
        tests.setdefault(test.model, {})[test.baseline] = _verdict(test)
    ordered = sorted(
        comparison.results,
        key=lambda row: (row.problem is not None, -np.nan_to_num(row.main)),
    )
    return [
        ModelRow(
            name=row.name,
            is_baseline=row.is_baseline,
            measures=list(row.measures.values()),
            low=row.low,
            high=row.high,
            seconds=row.seconds,
            folds=row.folds,
            tests=tests.get(row.name, {}),
            problem=row.problem,
        )
        for row in ordered
    ]


def _verdict(test: VersusBaseline) -> Verdict:
    word = "even" if test.verdict == "no difference" else test.verdict
    return Verdict(word, test.p_value, test.difference, test.low, test.high)


def _facts(comparison: Comparison) -> list[str]:
    facts = [_counts(comparison.target)]
    ways = {
        "folds": f"Tested on {comparison.n_folds} folds at random",
        "groups": f"Tested on {comparison.n_folds} folds of whole groups",
        "times": f"Tested on {comparison.n_folds} folds, each later than what its "
        "models learned from",
        "test": "Tested on other rows than the models learned from",
    }
    facts.append(f"{ways[comparison.scheme]}: no row is scored by a model that saw it.")
    if comparison.target.weights is not None:
        facts.append("Measures count weights; lists of cases count rows.")
    return facts


def _counts(target: Target) -> str:
    text = f"{target.labels.size:,} rows, {target.n_positive:,} of them positive"
    if not target.is_graded:
        text += f" (where the target is {target.grading.positive!s})"
    if target.queries is not None:
        text += f", in {target.n_queries:,} queries"
    return f"{text}."


def _shaded(aim: Aim) -> Sequence[float] | None:
    is_part = aim.metric == "partial_auc" and aim.fpr_range != WHOLE
    return aim.fpr_range if is_part else None


def _versions() -> str:
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    return ", ".join(
        [f"aucmax {__version__}", f"Python {platform.python_version()}", *packages]
    )


def report_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None = None,
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
    qid: Any = None,
    name: str | None = None,
    title: str | None = None,
    notices: Sequence[str] = (),
    reproduction: Mapping[str, str] | None = None,
) -> Report:
    """Make a report of one fitted model on other rows.

    Parameters
    ----------
    model : estimator
        Fitted: a :class:`aucmax.tables.TableModel`, or any binary classifier that
        scores rows.
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Rows that it was not fitted to.
    y : array-like of shape (rows,), or Target
        Their labels.
    metric : str, optional
        What comes first: a key of :data:`aucmax.model_selection.MEASURES`.
    fpr_range, tpr_range : pair of float, optional
        The part of the ROC curve that counts; by default what the model was trained
        for.
    qid : array-like of shape (rows,), optional
        The query of each row, unless `y` is a target, which has its own.
    name : str, optional
        What to call the model.
    title : str, optional
        The heading.
    notices : sequence of str, optional
        What else to look at before the numbers are believed.
    reproduction : mapping from str to str, optional
        What someone needs to repeat it, such as "command" or "data".

    Returns
    -------
    aucmax.report.Report
        Call its ``save("page.html")`` or ``save("page.md")``.

    Examples
    --------
    >>> from aucmax.model_selection import report_model
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(max_iter=10_000).fit(X[:300], y[:300])
    >>> report_model(model, X[300:], y[300:]).contents.models[0].name
    'LogisticRegression'
    """
    table = as_table(X)
    target = _match(model, y, qid)
    name = name or getattr(model, "name", None) or type(model).__name__
    ranges = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    given = {key: ends for key, ends in ranges.items() if ends is not None}
    aim = choose_aim(target, metric, **(given or trained_ranges(model)))
    # a model of its own kind of tables gets these as they came
    asked = table if hasattr(model, "encoder_") else X
    scores = score_rows(model, asked)
    summary = summarise_scores(target, scores, aim)
    if summary.n_constant:
        raise ValueError(
            f"{name} gives all {target.labels.size} rows the same score, so it ranks "
            "nothing there. Check that the columns are those of training."
        )
    labels = target.relevant == 1
    rankings = [Ranking(name, scores)] if target.queries is None else []
    main = next(iter(summary.measures.values()))
    verdict = sentence_of_model(name, main, summary.low, summary.high, aim)
    if rankings:
        verdict += f" {found_among_first(labels, rankings[0])}"
    doubts = _rows_of_training(model, table, target)
    verdict = " ".join([verdict, *doubts])
    titles = {**MEASURES, "partial_auc": f"pAUC {aim.part}"}
    contents = Contents(
        title=title or f"How well does {name} rank these rows?",
        verdict=verdict,
        facts=[_counts(target)],
        measures=[titles[key] for key in summary.measures],
        baselines=[],
        models=[
            ModelRow(
                name=name,
                is_baseline=False,
                measures=list(summary.measures.values()),
                low=summary.low,
                high=summary.high,
            )
        ],
        explanation=[
            "Intervals by DeLong's variance."
            if target.queries is None and not target.is_graded
            else "Means, with intervals by Student's t."
        ],
        labels=labels,
        rankings=rankings,
        scale="the score of the model",
        fpr_range=_shaded(aim),
        probabilities=probabilities_of({name: model}, asked, target),
        importance=importance_of(name, model, asked, target, aim, "of these rows"),
        notices=[
            *notices,
            *doubts,
            *(str(one) for one in find_notices(table, target)),
        ],
        certificates=certificates_of({name: model}),
        reproduction={
            **(reproduction or {}),
            "fingerprint of the data": digest_table(table, target),
            "versions": _versions(),
        },
        no_rankings=_IN_QUERIES,
    )
    return Report(contents)


def _rows_of_training(model: Any, table: Any, target: Target) -> list[str]:
    """Say so where a model is tested on rows that it was fitted to."""
    if not hasattr(model, "share_of_known_rows"):
        return []
    known = model.share_of_known_rows(table, target)
    if not known >= _MANY_KNOWN_ROWS:
        return []
    return [
        f"About {known:.0%} of these rows are rows that the model was fitted to: the "
        "numbers are better than other rows will show."
    ]


def _match(model: Any, y: Any, qid: Any) -> Target:
    """Return the target by what its values meant when the model was fitted."""
    if isinstance(y, Target):
        return y
    if hasattr(model, "grading_"):
        return match_target(y, model.grading_, qid=qid)
    return encode_target(y, model.classes_[1], qid=qid)
