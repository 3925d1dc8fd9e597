"""Reports of a comparison, and of one model on held-out rows."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._version import __version__
from aucmax.inference.results import p_value_text
from aucmax.model_selection.comparison import Comparison, ModelResult
from aucmax.model_selection.goals import Goal
from aucmax.report.contents import ReportContents
from aucmax.report.document import Report
from aucmax.report.insights import (
    certificates_of,
    combination_of,
    cross_fitted_probabilities,
    importance_of,
    probabilities_of,
    survival_of_folds,
    survival_of_model,
)
from aucmax.report.review import describe_top
from aucmax.tables import Target
from aucmax.tables.frames import digest_table

_POSITION = "the share of negatives of the same fold that a row outranks"
_IN_QUERIES = (
    "Rows are ranked within their queries, so there is no single list of all rows to "
    "review from the top, and no ROC curve."
)
# far less than the effect of one row among millions
_MAX_STEP = 1e-9
# share of training rows above which the report warns: rows may be equal by chance
_MANY_KNOWN_ROWS = 0.2
_MAX_NAMES = 4  # in one sentence
_PACKAGES = ("numpy", "scipy", "scikit-learn", "lightgbm", "polars")


def report_comparison(
    comparison: Comparison,
    *,
    title: str | None = None,
    reproduction: Mapping[str, str] | None = None,
) -> Report:
    """Make a report of a comparison of models.

    The importance of columns is measured here, on test rows of the last fold.

    Parameters
    ----------
    comparison : Comparison
        The result of :func:`aucmax.model_selection.compare_models`.
    title : str, optional
        The heading.
    reproduction : mapping from str to str, optional
        How to repeat the comparison, such as "command" or "data".

    Returns
    -------
    aucmax.report.Report
        Call its ``save("page.html")`` or ``save("page.md")``.

    Examples
    --------
    >>> from aucmax.datasets import load_demo
    >>> from aucmax.model_selection import compare_models
    >>> from aucmax.report import report_comparison
    >>> machines = load_demo().head(1000)
    >>> found = compare_models(
    ...     machines.drop("failed"), machines["failed"], ["logistic"], n_folds=2
    ... )
    >>> report = report_comparison(found, title="Which machines will fail?")
    >>> report.contents.title
    'Which machines will fail?'
    """
    title = title or "Which model ranks these rows best?"
    return Report(_contents(comparison, title, reproduction or {}))


def _contents(
    comparison: Comparison, title: str, reproduction: Mapping[str, str]
) -> ReportContents:
    target, goal, fold = comparison.target, comparison.goal, comparison.last_fold
    rows = sorted(
        comparison.results,
        key=lambda row: (row.problem is not None, -np.nan_to_num(row.main)),
    )
    rankings = {
        row.name: _in_one_list(comparison, row.name)
        for row in rows
        if row.problem is None and target.queries is None and not target.is_survival
    }
    labels, best = target.relevant == 1, comparison.best
    verdict = _sentence(comparison)
    if rankings and best is not None:
        verdict += f" {describe_top(labels, rankings[best])}"
    insights: dict[str, Any] = {}
    if fold is not None and best is not None:
        model = fold.models[best]
        tested = "test rows"
        if comparison.scheme != "test":
            tested += " of the last fold"
        insights = {
            "importance": importance_of(model, fold.table, fold.target, goal, tested),
            "certificates": list(certificates_of(fold.models)),
            **combination_of(model),
            "origin_of_parts": "the model of the last fold",
        }
        if target.is_survival:
            ranked = [row.name for row in rows if row.problem is None]
            positions = {name: comparison.positions[name] for name in ranked}
            folds = comparison.fold_numbers
            insights["survival"] = survival_of_folds(target, positions, folds)
        else:
            insights["probabilities"] = cross_fitted_probabilities(
                comparison.scores[best], comparison.fold_numbers, target
            )
            insights["origin_of_probabilities"] = (
                'calibrate="auto" learned from the scores of the other folds'
            )
    return ReportContents(
        title=title,
        verdict=verdict,
        facts=_facts(comparison),
        measures=comparison.measure_titles,
        models=rows,
        tests=comparison.tests,
        explanation=comparison.explain(),
        glossary=_glossary(goal, rows[0].measures, bool(rankings)),
        labels=labels,
        rankings=rankings,
        score_unit=_POSITION,
        fpr_range=_shaded(goal, target),
        notices=[str(notice) for notice in comparison.notices],
        reproduction={
            **reproduction,
            "fingerprint of the data": comparison.fingerprint,
            "seed": str(comparison.random_state),
            "versions": _versions(),
        },
        no_rankings=_IN_QUERIES if target.queries is not None else verdict,
        **insights,
    )


def _in_one_list(comparison: Comparison, name: str) -> NDArray[np.float64]:
    """Return positions that tie only where scores of one fold tie.

    Positions also tie between folds, and between positives that no negative separates.
    The latter are ordered by their scores; ties between folds are broken at random.
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
    listed[order] = positions[order] + _MAX_STEP * within / order.size
    return listed


def _facts(comparison: Comparison) -> list[str]:
    facts = [count_rows(comparison.target)]
    tests = {
        "folds": f"{comparison.n_folds} random folds",
        "groups": f"{comparison.n_folds} folds of whole groups",
        "times": f"{comparison.n_folds} folds, each later than its training rows",
        "test": "separate test rows",
    }
    facts.append(
        f"Tested on {tests[comparison.scheme]}: no row is scored by a model that was "
        "fitted to it."
    )
    if comparison.target.weights is not None:
        facts.append("Measures use row weights; counts of cases do not.")
    return facts


def _glossary(goal: Goal, names: Iterable[str], has_list: bool) -> dict[str, str]:
    """Return one sentence on each measure that readers may not know."""
    area = "of the area under this part of the ROC curve that is covered"
    if goal.tpr_range == (0.0, 1.0):
        area = "of the positives found (mean sensitivity)"
    known = {
        "auc": (
            "AUC",
            "the probability that a random positive scores higher than a random "
            "negative: 0.5 by chance, 1 at best (also called c-statistic).",
        ),
        "partial_auc": (
            f"pAUC {goal.part}",
            f"the share {area} at {goal.part_in_words}: 1 at best.",
        ),
        "concordance": (
            "C index",
            "the probability that of two rows the one with the earlier event scores "
            "higher (Harrell's C): 0.5 by chance, 1 at best.",
        ),
    }
    sentences = dict(known[name] for name in names if name in known)
    if has_list:
        sentences["Lift"] = (
            "how many times as many positives are among the reviewed cases as among "
            "the same number of random cases."
        )
    return sentences


def count_rows(target: Target) -> str:
    """Return a sentence on the numbers of rows."""
    text = f"{target.labels.size:,} rows, {target.n_positive:,} of them positive"
    if target.durations is not None:
        text = text.replace("positive", "with an event")
        text += f", observed for up to {target.durations.max():g}"
        if target.queries is not None:
            text += f", in {target.n_queries:,} strata"
        return f"{text}."
    if not target.is_graded:
        text += f" (target = {target.grading.positive!s})"
    if target.queries is not None:
        text += f", in {target.n_queries:,} queries"
    return f"{text}."


def _shaded(goal: Goal, target: Target) -> Sequence[float] | None:
    """Return the range of the partial AUC, unless that is the whole curve."""
    is_whole = target.is_graded or tuple(goal.fpr_range) == (0.0, 1.0)
    return None if is_whole else goal.fpr_range


def _versions() -> str:
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    return ", ".join(
        [f"aucmax {__version__}", f"Python {platform.python_version()}", *packages]
    )


def report_scores(
    result: ModelResult,
    model: Any,
    rows: Any,
    table: Any,
    target: Target,
    scores: NDArray[np.float64],
    *,
    goal: Goal,
    titles: Sequence[str],
    title: str | None = None,
    notices: Sequence[str] = (),
    found: Sequence[str] = (),
    reproduction: Mapping[str, str] | None = None,
    groups: tuple[str | None, Any] | None = None,
) -> Report:
    """Make a report of one fitted model from its scores of held-out rows.

    `rows` is the input of the model and `table` the same as a table; `titles` name the
    measures of the result, and `found` holds the results of the table's checks.
    """
    name, labels = result.name, target.relevant == 1
    is_listed = target.queries is None and not target.is_survival
    rankings = {name: scores} if is_listed else {}
    verdict = f"{name}: {_how_well(result, goal)}."
    if rankings:
        verdict += f" {describe_top(labels, scores)}"
    doubts = _rows_of_training(model, table, target)
    contents = ReportContents(
        title=title or f"How well does {name} rank these rows?",
        verdict=" ".join([verdict, *doubts]),
        facts=[count_rows(target)],
        measures=titles,
        models=[result],
        explanation=[
            "Intervals by influence functions."
            if target.is_survival
            else "Intervals by DeLong's method."
            if target.queries is None and not target.is_graded
            else "Means, with intervals by Student's t."
        ],
        glossary=_glossary(goal, result.measures, bool(rankings)),
        labels=labels,
        rankings=rankings,
        score_unit="the score of the model",
        fpr_range=_shaded(goal, target),
        probabilities=probabilities_of(model, rows, target),
        survival=survival_of_model(model, rows, target, name, scores),
        importance=importance_of(model, rows, target, goal, "of these rows"),
        **combination_of(model),
        notices=[*notices, *doubts, *found],
        certificates=list(certificates_of({name: model})),
        reproduction={
            **(reproduction or {}),
            "fingerprint of the data": digest_table(table, target),
            "versions": _versions(),
        },
        no_rankings=_IN_QUERIES,
        groups=groups,
    )
    return Report(contents)


def _rows_of_training(model: Any, table: Any, target: Target) -> list[str]:
    """Warn if a model is tested on rows that it was fitted to."""
    if not hasattr(model, "share_of_known_rows"):
        return []
    known = model.share_of_known_rows(table, target)
    if not known >= _MANY_KNOWN_ROWS:
        return []
    return [
        f"The model was fitted to about {known:.0%} of these rows: expect worse "
        "numbers on new rows."
    ]


def _sentence(comparison: Comparison) -> str:
    """Return which model ranks best, how well, and whether the tests confirm it."""
    if comparison.best is None:
        return "No model ranks these rows: all scores are constant."
    best = next(r for r in comparison.results if r.name == comparison.best)
    well = _how_well(best, comparison.goal)
    if len(comparison.results) == 1:
        return f"{best.name}: {well}."
    return f"{best.name} ranks best: {well}. {_against(comparison)}".strip()


def _how_well(result: ModelResult, goal: Goal) -> str:
    value, low, high = result.main, result.low, result.high
    if goal.metric == "partial_auc" and goal.tpr_range == (0.0, 1.0):
        interval = f" (95% interval {low:.1%} to {high:.1%})" if low == low else ""
        return f"mean sensitivity {value:.1%}{interval} at {goal.part_in_words}"
    interval = f" (95% interval {low:.3f} to {high:.3f})" if low == low else ""
    part = f" over {goal.part_in_words}" if goal.metric == "partial_auc" else ""
    return f"{goal.title} {value:.3f}{interval}{part}"


def _against(comparison: Comparison) -> str:
    """Return a sentence on the tests between the best model and others."""
    beaten: list[str] = []
    even: list[str] = []
    for test in comparison.tests:
        if comparison.best not in (test.model, test.baseline):
            continue
        is_own = test.model == comparison.best
        other = test.baseline if is_own else test.model
        named = f"{other} ({p_value_text(test.p_value)})"
        group = even if test.verdict == "no difference" else beaten
        if named not in group:
            group.append(named)
    parts = []
    if beaten:
        parts.append(f"It beats {_listed(beaten)}")
    if even:
        start = "but does" if beaten else "It does"
        parts.append(f"{start} not differ significantly from {_listed(even)}")
    return ", ".join(parts) + "." if parts else ""


def _listed(names: list[str]) -> str:
    if len(names) > _MAX_NAMES:
        names = [*names[: _MAX_NAMES - 1], f"{len(names) - _MAX_NAMES + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
