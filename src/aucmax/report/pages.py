"""Reports of a comparison, and of one model on held-out rows."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy.stats import rankdata

from aucmax._core.censored_times import is_survival_target
from aucmax._core.validation import FloatArray
from aucmax._version import __version__
from aucmax.decisions.subgroups import GroupComparison, compare_groups
from aucmax.inference.results import p_value_text
from aucmax.model_selection.comparison import Comparison, ModelResult, verdict
from aucmax.model_selection.goals import Goal, choose_goal
from aucmax.model_selection.held_out import summarise_scores
from aucmax.model_selection.models import trained_ranges
from aucmax.report.document import Report
from aucmax.report.insights import (
    certificates_of,
    combination_of,
    cross_fitted_probabilities,
    importance_of,
)
from aucmax.report.review import describe_top
from aucmax.report.sections import (
    Section,
    calibration_section,
    groups_section,
    models_section,
    ranking_section,
    survival_section,
)
from aucmax.tables import Target, check_table, encode_target
from aucmax.tables.checks import TableNotice
from aucmax.tables.cross_fit import score_rows
from aucmax.tables.folds import split_rows
from aucmax.tables.frames import as_table, digest_table

_CROSS_FITTED = 'calibrate="auto" learned from the scores of the other folds'
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
    time_unit: str = "",
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
    time_unit : str, default=""
        The unit of censored times, such as "days".

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
    ...     machines.drop("failed"), machines["failed"], ["logistic"], cv=2
    ... )
    >>> report = report_comparison(found, title="Which machines will fail?")
    >>> report.contents['title']
    'Which machines will fail?'
    """
    target, goal, fold = comparison.target, comparison.goal, comparison.last_fold
    rows = sorted(
        comparison.results,
        key=lambda row: (row.problem is not None, -np.nan_to_num(row.main)),
    )
    names, best = [row.name for row in rows if row.problem is None], comparison.best
    contents: Section = {
        "title": title or _title("Which model ranks these rows best", target),
        "verdict": _verdict(comparison),
        "facts": _facts(comparison, time_unit),
        **models_section(rows, comparison.measure_titles, comparison.tests),
        "explanation": comparison.explain(),
        "glossary": _glossary(goal, rows[0].measures, _is_one_list(target)),
        "notices": [str(notice) for notice in comparison.notices],
        **_reproduction(reproduction, comparison.fingerprint),
    }
    if best is None or target.queries is not None:
        contents["no_rankings"] = _IN_QUERIES if best else contents["verdict"]
    elif _is_one_list(target):
        rankings = {name: _in_one_list(comparison, name) for name in names}
        labels = target.relevant == 1
        contents["verdict"] += f" {describe_top(labels, rankings[best])}"
        contents |= ranking_section(
            labels,
            rankings,
            score_unit=_POSITION,
            baselines=contents["baselines"],
            fpr_range=_shaded(goal, target),
        )
    if fold is None or best is None:
        return Report(contents)
    model = fold.models[best]
    is_test = comparison.scheme == "test"
    tested = "test rows" if is_test else "test rows of the last fold"
    contents |= {
        "importance": importance_of(model, fold.table, fold.target, goal, tested),
        "certificates": certificates_of(fold.models),
        **combination_of(model),
        "origin_of_parts": "the model of the last fold",
    }
    if target.is_survival:
        positions = {name: comparison.positions[name] for name in names}
        contents["survival"] = survival_section(target, positions, None, time_unit)
        return Report(contents)
    probabilities = cross_fitted_probabilities(
        comparison.scores[best], comparison.fold_numbers, target
    )
    if probabilities is not None:
        contents |= calibration_section(*probabilities, _CROSS_FITTED)
    return Report(contents)


def _is_one_list(target: Target) -> bool:
    """Return whether all rows are ranked in one list, with positives among them."""
    return target.queries is None and not target.is_survival


def _title(question: str, target: Target) -> str:
    return f"{question}{' by the time of their event' if target.is_survival else ''}?"


def _reproduction(steps: Mapping[str, str] | None, fingerprint: str) -> Section:
    """Return how to repeat the report; a command is shown as code."""
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    python = f"aucmax {__version__}, Python {platform.python_version()}"
    steps = {**(steps or {}), "fingerprint of the data": fingerprint}
    return {
        "command": steps.pop("command", None),
        "reproduction": {**steps, "versions": ", ".join([python, *packages])},
    }


def _in_one_list(comparison: Comparison, name: str) -> FloatArray:
    """Return positions that tie only where scores of one fold tie.

    Positions also tie between folds, and between positives that no negative separates:
    rows are then ordered by the place of their score in the fold, and by fold.
    """
    positions, scores = comparison.positions[name].copy(), comparison.scores[name]
    for k, fold in enumerate(np.unique(comparison.fold_numbers)):
        rows = comparison.fold_numbers == fold
        places = rankdata(scores[rows], "dense") + k / comparison.n_folds
        positions[rows] += _MAX_STEP * places / scores.size
    return positions


def _facts(comparison: Comparison, time_unit: str) -> list[str]:
    tests = {
        "folds": f"{comparison.n_folds} random folds",
        "groups": f"{comparison.n_folds} folds of whole groups",
        "times": f"{comparison.n_folds} folds, each later than its training rows",
        "test": "separate test rows",
    }
    facts = [
        count_rows(comparison.target, time_unit),
        f"Tested on {tests[comparison.scheme]}: no row is scored by a model that was "
        "fitted to it.",
    ]
    if comparison.target.weights is not None:
        facts.append("Measures use row weights; counts of cases do not.")
    return facts


def _glossary(goal: Goal, names: Iterable[str], has_list: bool) -> dict[str, str]:
    """Return one sentence on each measure that readers may not know."""
    area = "of the area under this part of the ROC curve that is covered"
    if goal.tpr_range == (0.0, 1.0):
        area = "of the positives found (mean sensitivity)"
    definitions = {
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
    sentences = dict(definitions[n] for n in names if n in definitions)
    if has_list:
        sentences["Lift"] = (
            "how many times as many positives are among the reviewed cases as among "
            "the same number of random cases."
        )
    return sentences


def count_rows(target: Target, time_unit: str = "") -> str:
    """Return a sentence on the numbers of rows."""
    text = f"{target.labels.size:,} rows, {target.n_positive:,} of them positive"
    if target.durations is not None:
        text = text.replace("positive", "with an event")
        text += f", observed for up to {target.durations.max():g} {time_unit}".rstrip()
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


def report_model(
    model: object,
    X: object,
    y: object,
    *,
    metric: str | None = None,
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
    qid: object = None,
    by: object = None,
    name: str | None = None,
    title: str | None = None,
    notices: Sequence[str] = (),
    reproduction: Mapping[str, str] | None = None,
    time_unit: str = "",
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
    time_unit : str, default=""
        The unit of censored times, such as "days".

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
    >>> report_model(model, X[300:], y[300:]).contents['best']
    'LogisticRegression'
    """
    table = as_table(X)
    target = _match(model, y, qid)
    name = name or type(model).__name__
    ranges = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    ranges = {key: ends for key, ends in ranges.items() if ends is not None}
    goal = choose_goal(target, metric, **(ranges or trained_ranges(model)))
    scores = score_rows(model, X)
    result = summarise_scores(target, scores, goal, name)
    if result.problem is not None:
        raise ValueError(
            f"{name} gives all {target.labels.size} rows the same score, so it ranks "
            "nothing. Check that the columns are those of training."
        )
    verdict = f"{name}: {_measured(result, goal)}."
    doubts = _rows_of_training(model, table, target)
    method = "Means, with intervals by Student's t."
    contents: Section = {
        "title": title or _title(f"How well does {name} rank these rows", target),
        "facts": [count_rows(target, time_unit)],
        **models_section([replace(result, folds=())], goal.titles(result.measures)),
        "glossary": _glossary(goal, result.measures, _is_one_list(target)),
        "notices": [*notices, *doubts, *map(str, _find_notices(table, target))],
        "importance": importance_of(model, X, target, goal, "of these rows"),
        **combination_of(model),
        "certificates": certificates_of({name: model}),
        "no_rankings": _IN_QUERIES,
        **_reproduction(reproduction, digest_table(table, target)),
    }
    if by is not None:
        column = by if isinstance(by, str) else getattr(by, "name", None)
        if isinstance(by, str) and by not in getattr(table, "columns", ()):
            raise ValueError(f"X has no column {by!r} to group rows by.")
        groups = table[by] if isinstance(by, str) else by
        threshold = getattr(model, "decision_threshold_", None)
        compared = group_rows(target, scores, groups, threshold)
        contents["groups"] = groups_section(compared, column)
    is_binary = not (target.is_graded or target.is_survival)
    if is_binary and hasattr(model, "predict_proba"):
        chances = np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
        contents |= calibration_section(target.relevant == 1, chances)
    if target.is_survival:
        method = "Intervals by influence functions."
        predict = getattr(model, "predict_event_probability", None)
        predict = predict and partial(predict, X)
        contents["survival"] = survival_section(
            target, {name: scores}, predict, time_unit
        )
    elif target.queries is None:
        if not target.is_graded:
            method = "Intervals from DeLong's variance, on the logit scale."
        labels = target.relevant == 1
        verdict += f" {describe_top(labels, scores)}"
        stored = getattr(model, "alert_threshold_", None)
        contents |= ranking_section(
            labels,
            {name: scores},
            score_unit="the score of the model",
            fpr_range=_shaded(goal, target),
            start_depth=None if stored is None else int((scores > stored).sum()),
        )
    contents["explanation"] = [method]
    return Report(contents | {"verdict": " ".join([verdict, *doubts])})


def group_rows(
    target: Target, scores: FloatArray, by: Any, threshold: float | None
) -> GroupComparison:
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
        return encode_target(y, grading=model.grading_, qid=qid)
    return encode_target(y, model.classes_[1], qid=qid)


def _rows_of_training(model: object, table: object, target: Target) -> list[str]:
    """Warn if a model is tested on rows that it was fitted to."""
    if not hasattr(model, "share_of_known_rows"):
        return []
    share = model.share_of_known_rows(table, target)
    if not share >= _MANY_KNOWN_ROWS:
        return []
    return [
        f"The model was fitted to about {share:.0%} of these rows: expect worse "
        "numbers on new rows."
    ]


def _verdict(comparison: Comparison) -> str:
    """Return which model ranks best, how well, and whether the tests confirm it."""
    if comparison.best is None:
        return "No model ranks these rows: all scores are constant."
    best = next(r for r in comparison.results if r.name == comparison.best)
    well = _measured(best, comparison.goal)
    if len(comparison.results) == 1:
        return f"{best.name}: {well}."
    return f"{best.name} ranks best: {well}. {_against(comparison)}".strip()


def _measured(result: ModelResult, goal: Goal) -> str:
    value, low, high = result.main, result.low, result.high
    if goal.metric == "partial_auc" and goal.tpr_range == (0.0, 1.0):
        interval = f" (95% interval {low:.1%} to {high:.1%})" if low == low else ""
        return f"mean sensitivity {value:.1%}{interval} at {goal.part_in_words}"
    interval = f" (95% interval {low:.3f} to {high:.3f})" if low == low else ""
    part = f" over {goal.part_in_words}" if goal.metric == "partial_auc" else ""
    return f"{goal.title} {value:.3f}{interval}{part}"


def _against(comparison: Comparison) -> str:
    """Return a sentence on the tests between the best model and others."""
    tests = {
        (test.names or ("", ""))[test.names[0] == comparison.best]: test
        for test in comparison.tests
        if test.names and comparison.best in test.names
    }
    shown = {name: f"{name} ({p_value_text(t.p_value)})" for name, t in tests.items()}
    even = [name for name, test in tests.items() if verdict(test) == "no difference"]
    beaten = [text for name, text in shown.items() if name not in even]
    sentences = {
        "It beats": beaten,
        "It does not differ significantly from": [shown[name] for name in even],
    }
    return " ".join(f"{start} {_listed(t)}." for start, t in sentences.items() if t)


def _listed(names: list[str]) -> str:
    if len(names) > _MAX_NAMES:
        names = [*names[: _MAX_NAMES - 1], f"{len(names) - _MAX_NAMES + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _find_notices(table: object, target: Target) -> list[TableNotice]:
    """Find probable leaks and identifiers; none if the rows allow no folds."""
    try:
        return check_table(table, target, split_rows(target, None, 0))
    except ValueError:
        return []
