"""Reports of a comparison, and of one model on other rows.

:mod:`aucmax.model_selection` imports this package, so that its `Comparison`, `Goal` and
`ModelResult` are not imported here.
"""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._version import __version__
from aucmax.report.contents import NamedRanking, ReportContents, as_p_value
from aucmax.report.document import Report, table_as_html
from aucmax.report.insights import (
    certificates_of,
    cross_fitted_probabilities,
    importance_of,
    probabilities_of,
)
from aucmax.report.ranked_steps import found_among_first
from aucmax.tables import Target, digest_table

_POSITION = "position, the share of negatives that a row outranks"
_IN_QUERIES = (
    "Rows are ranked within their queries, so that there is no one list of all rows to "
    "open from the top, and no curve of it."
)
# far less than what one row of millions changes
_MAX_STEP = 1e-9
# share of rows of training, from which on it is said: rows may be alike by chance
_MANY_KNOWN_ROWS = 0.2
_MAX_NAMES = 4  # in one sentence
# what the numbers depend on most
_PACKAGES = ("numpy", "scipy", "scikit-learn", "lightgbm", "polars")


def comparison_table(comparison: Any) -> str:
    """Return the verdict and the table as HTML, for notebooks."""
    return table_as_html(_contents(comparison, "", None, with_insights=False))


def report_comparison(
    comparison: Any,
    *,
    title: str | None = None,
    reproduction: Mapping[str, str] | None = None,
) -> Report:
    """Make a report of a comparison: see :meth:`Comparison.report`."""
    title = title or "Which model ranks these rows best?"
    return Report(_contents(comparison, title, reproduction, with_insights=True))


def _contents(
    comparison: Any,
    title: str,
    reproduction: Mapping[str, str] | None,
    with_insights: bool,
) -> ReportContents:
    target, goal, fold = comparison.target, comparison.goal, comparison.last_fold
    rows = sorted(
        comparison.results,
        key=lambda row: (row.problem is not None, -np.nan_to_num(row.main)),
    )
    rankings = [
        NamedRanking(row.name, _in_one_list(comparison, row.name))
        for row in rows
        if row.problem is None and target.queries is None
    ]
    labels = target.relevant == 1
    verdict = _sentence(comparison)
    if rankings:
        verdict += f" {found_among_first(labels, rankings[0])}"
    insights: dict[str, Any] = {}
    if with_insights and fold is not None and comparison.best is not None:
        model = fold.models[comparison.best]
        is_fold = comparison.scheme != "test"
        tested = "test rows of the last fold" if is_fold else "test rows"
        insights = {
            "importance": importance_of(
                comparison.best, model, fold.table, fold.target, goal, tested
            ),
            "certificates": list(certificates_of(fold.models)),
            "probabilities": cross_fitted_probabilities(
                comparison.best,
                comparison.scores[comparison.best],
                comparison.fold_numbers,
                target,
            ),
            "origin_of_probabilities": 'as calibrate="auto" learns them from the '
            "scores of all other folds",
        }
    return ReportContents(
        title=title,
        verdict=verdict,
        facts=_facts(comparison),
        measures=comparison.measure_titles,
        baselines=[row.name for row in comparison.results if row.is_baseline],
        models=rows,
        tests=comparison.tests,
        explanation=comparison.explain(),
        labels=labels,
        rankings=rankings,
        scale=_POSITION,
        fpr_range=_shaded(goal),
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


def _in_one_list(comparison: Any, name: str) -> NDArray[np.float64]:
    """Return positions that tie where scores of one fold do, and nowhere else.

    Rows of different folds may have one position though no model ranks them equally, as
    have positives between the same two negatives. The latter are in the order of their
    scores; ties between folds are broken at random.
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


def _facts(comparison: Any) -> list[str]:
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


def _shaded(goal: Any) -> Sequence[float] | None:
    is_part = goal.metric == "partial_auc" and goal.fpr_range != (0.0, 1.0)
    return goal.fpr_range if is_part else None


def _versions() -> str:
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    return ", ".join(
        [f"aucmax {__version__}", f"Python {platform.python_version()}", *packages]
    )


def report_scores(
    result: Any,
    model: Any,
    rows: Any,
    table: Any,
    target: Target,
    scores: NDArray[np.float64],
    *,
    goal: Any,
    titles: Sequence[str],
    title: str | None = None,
    notices: Sequence[str] = (),
    found: Sequence[str] = (),
    reproduction: Mapping[str, str] | None = None,
) -> Report:
    """Make a report of one fitted model by its scores of other rows.

    `rows` are what the model takes, `table` the same as a table; `titles` are those of
    the measures of the result, and `found` is what checks of the table have found.
    """
    name, labels = result.name, target.relevant == 1
    rankings = [NamedRanking(name, scores)] if target.queries is None else []
    verdict = f"{name}: {_how_well(result, goal)}."
    if rankings:
        verdict += f" {found_among_first(labels, rankings[0])}"
    doubts = _rows_of_training(model, table, target)
    contents = ReportContents(
        title=title or f"How well does {name} rank these rows?",
        verdict=" ".join([verdict, *doubts]),
        facts=[_counts(target)],
        measures=titles,
        baselines=[],
        models=[result],
        explanation=[
            "Intervals by DeLong's variance."
            if target.queries is None and not target.is_graded
            else "Means, with intervals by Student's t."
        ],
        labels=labels,
        rankings=rankings,
        scale="the score of the model",
        fpr_range=_shaded(goal),
        probabilities=probabilities_of({name: model}, rows, target),
        importance=importance_of(name, model, rows, target, goal, "of these rows"),
        notices=[*notices, *doubts, *found],
        certificates=list(certificates_of({name: model})),
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


def _sentence(comparison: Any) -> str:
    """Return which model ranks best, how well, and whether that may be chance."""
    if comparison.best is None:
        return "No model ranks these rows: all of them have constant scores."
    best = next(r for r in comparison.results if r.name == comparison.best)
    text = _how_well(best, comparison.goal)
    return f"{best.name} ranks best: {text}. {_against(comparison)}".strip()


def _how_well(result: Any, goal: Any) -> str:
    value, low, high = result.main, result.low, result.high
    interval = f" (95% interval {low:.1%} to {high:.1%})" if low == low else ""
    if goal.metric == "auc":
        return f"it puts a positive above a negative in {value:.1%} of pairs{interval}"
    if goal.metric == "partial_auc":
        return (
            f"over {goal.part_in_words} it finds {value:.1%} of the positives on "
            f"average{interval}"
        )
    interval = f" (95% interval {low:.4f} to {high:.4f})" if low == low else ""
    return f"{goal.title} {value:.4f}{interval}"


def _against(comparison: Any) -> str:
    """Return what the tests between the best model and others show."""
    beaten: list[str] = []
    even: list[str] = []
    for test in comparison.tests:
        if comparison.best not in (test.model, test.baseline):
            continue
        is_own = test.model == comparison.best
        other = test.baseline if is_own else test.model
        named = f"{other} ({as_p_value(test.p_value)})"
        group = even if test.verdict == "no difference" else beaten
        if named not in group:
            group.append(named)
    parts = []
    if beaten:
        parts.append(f"It beats {_listed(beaten)}")
    if even:
        start = "but it" if beaten else "It"
        parts.append(f"{start} differs from {_listed(even)} by no more than chance")
    return ", ".join(parts) + "." if parts else ""


def _listed(names: list[str]) -> str:
    if len(names) > _MAX_NAMES:
        names = [*names[: _MAX_NAMES - 1], f"{len(names) - _MAX_NAMES + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
