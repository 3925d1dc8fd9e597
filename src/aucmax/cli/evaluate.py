"""``aucmax evaluate``: how well a saved model ranks other rows."""

from contextlib import suppress
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command, NothingRankedError
from aucmax.cli.options import (
    by_option,
    check_cut,
    cut_options,
    data_argument,
    flag,
    metric_option,
    model_argument,
    range_option,
    test_options,
    without_none,
)
from aucmax.cli.output import Console, with_console
from aucmax.cli.reading import Source, load_with_rows, take_column
from aucmax.cli.training import target_record

# share of training rows that calls for a note: rows may be equal by chance
_MANY_KNOWN_ROWS = 0.2


@click.command(
    cls=Command,
    short_help="Measure how well a model ranks other rows.",
    examples=[
        "aucmax evaluate sick.aucmax other-patients.csv",
        "aucmax evaluate sick.aucmax other-patients.csv --fpr-range 0 0.05 --json",
        "aucmax evaluate sick.aucmax other-patients.csv --recall 0.9",
        "aucmax evaluate sick.aucmax other-patients.csv --alerts 100",
        "aucmax evaluate sick.aucmax other.csv --fpr 0.01 --save-threshold",
        "aucmax evaluate sick.aucmax other.csv --costs 50 1",
        "aucmax evaluate sick.aucmax other-patients.csv --by sex",
        "aucmax evaluate clicks.aucmax other-clicks.csv --qid session",
    ],
)
@model_argument
@test_options
@range_option
@metric_option
@cut_options
@click.option(
    "--save-threshold",
    is_flag=True,
    help="Store the chosen threshold in the file MODEL, which is replaced: 'aucmax "
    "score' then adds a column alert.",
)
@by_option
@data_argument
@with_console
def evaluate(
    model: Path,
    source: Source,
    target: str | None,
    qid: str | None,
    sample_weight: str | None,
    fpr_range: tuple[float, float] | None,
    metric: str | None,
    save_threshold: bool,
    by: str | None,
    console: Console,
    **rules: float | None,
) -> None:
    """Measure how well MODEL ranks the rows of DATA, whose target is known.

    Prints the AUC with its 95% interval (DeLong), the partial AUC, and the true
    positives, misses and false alarms at a threshold, with 95% intervals for an equally
    large new sample. The threshold is the one that is stored in the model, or else its
    own (best balanced accuracy in training), unless you choose one by --recall, --fpr,
    --precision, --alerts, --costs, or --threshold. --save-threshold
    stores your choice in MODEL. Use rows that the model was not fitted to. With a
    range, or if the model was trained for one, the partial AUC comes first and has the
    interval.

    For a model with probabilities, it also prints their log loss, Brier score and
    calibration.

    A model that was fitted with --qid is evaluated within queries, by the same column
    unless you name another: means over the queries that have both classes. A model
    fitted to more than two levels is evaluated by MAUC and ordinal AUC, one fitted to
    censored times by Harrell's C, Uno's C and the AUC at quartiles of the event times.
    """
    import aucmax
    from aucmax.decisions import reliability
    from aucmax.model_selection.goals import choose_goal
    from aucmax.model_selection.held_out import summarise_scores
    from aucmax.model_selection.models import trained_ranges
    from aucmax.tables.row_drift import count_unlike, describe_unlike

    cut = check_cut(**rules)
    if save_threshold and not cut:
        raise click.UsageError(
            "--save-threshold needs a rule for the threshold, such as --fpr 0.01."
        )
    roles = {"target": target, "qid": qid, "sample_weight": sample_weight}
    fitted, test, truth = load_with_rows(model, source, roles, console)
    name = fitted.file_roles_["model"]
    scores = fitted.decision_function(test.rows)
    ranges = without_none(fpr_range=fpr_range) or trained_ranges(fitted)
    goal = choose_goal(truth, metric, **ranges)
    counts = count_unlike(fitted, test.rows, scores)
    console.notes(describe_unlike(fitted, [counts]))
    summary = summarise_scores(truth, scores, goal)
    if summary.problem is not None:
        raise NothingRankedError(
            f"{model} gives all {test.n_rows} rows of {source.path} the same score"
            f"{'' if truth.queries is None else ' within each query'}, so it ranks "
            "nothing there. Check that the columns are those of training."
        )
    survival = _measure_survival(truth, scores)
    point = _operating_point(fitted, truth, scores, cut)
    groups = None
    if by is not None:
        from aucmax.report.pages import group_rows

        column = take_column(test, by, source.path)
        cutoff = None if point is None else point.threshold
        groups = group_rows(truth, scores, column, cutoff)
    chances = None
    if hasattr(fitted, "predict_proba"):
        proba = fitted.predict_proba(test.rows)[:, 1]
        chances = reliability(truth.relevant, proba, sample_weight=truth.weights)
    known_share = fitted.share_of_known_rows(test.rows, truth)
    if known_share >= _MANY_KNOWN_ROWS:
        console.note(
            f"the model was fitted to about {known_share:.0%} of these rows, so the "
            "results are too optimistic; use other rows"
        )
    record = {
        "model": name,
        **target_record(test, truth),
        **summary.measures,
        f"{goal.metric}_interval": _interval(summary),
        **{name: one.to_frame().to_dicts() for name, one in survival.items()},
        "metric": goal.metric,
        "fpr_range": list(goal.fpr_range),
        "tpr_range": list(goal.tpr_range),
        "operating_point": None if point is None else point.to_dict(),
        "probabilities": None if chances is None else chances.to_dict(),
        "known_rows": None if isnan(known_share) else known_share,
        "by": None if groups is None else {"column": by, **groups.to_dict()},
    }
    console.say(f"{name} on {test.describe(truth)}")
    _print_measures(summary, truth, goal, survival, console)
    if point is not None:
        _print_point(point, fitted, not cut, console)
    if save_threshold:
        write = partial(aucmax.save, fitted.store_threshold(point), overwrite=True)
        line = "The threshold is stored in {}; 'aucmax score' adds a column alert."
        record["model_file"] = console.write(model, write, line)
    if chances is not None:
        console.say(f"\nProbabilities:\n{chances}")
    if groups is not None:
        console.say(f"\nBy column {by!r}:\n{groups}")
    console.print_json(record)


def _measure_survival(truth: Any, scores: Any) -> dict[str, Any]:
    """Return Harrell's and Uno's C, and the AUC at quartiles of the event times."""
    if not truth.is_survival:
        return {}
    from aucmax.inference import concordance_interval, cumulative_dynamic_auc
    from aucmax.report.sections import event_quantiles

    rows = truth.labels, truth.durations, scores
    weights = {"sample_weight": truth.weights}
    measured: dict[str, Any] = {}
    for method in ("harrell", "uno"):
        options = {**weights, "qid": truth.queries, "method": method}
        with suppress(ValueError):  # too few rows, or censored too early for Uno's C
            measured[f"{method}_c"] = concordance_interval(*rows, **options)
    times = event_quantiles(truth, 3)
    with suppress(ValueError):
        if truth.queries is None and times.size:
            measured["auc_at_times"] = cumulative_dynamic_auc(*rows, times, **weights)
    return measured


def _interval(summary: Any) -> list[float] | None:
    return None if isnan(summary.low) else [summary.low, summary.high]


def _operating_point(model: Any, truth: Any, scores: Any, cut: dict[str, Any]) -> Any:
    """Count errors at the model's threshold, or at one that is chosen here."""
    from aucmax.decisions import operating_point

    if model.decision_threshold_ is None:
        if cut:
            raise click.UsageError(
                "the model ranks by levels of relevance or censored times, between "
                f"which there is no threshold; leave out {flag(next(iter(cut)))}."
            )
        return None
    options = cut or {"threshold": model.decision_threshold_}
    weight = truth.weights
    return operating_point(truth.relevant, scores, sample_weight=weight, **options)


def _print_point(point: Any, model: Any, is_own: bool, console: Console) -> None:
    rule = "the model's own: best balanced accuracy" if is_own else point.rule
    if is_own and model.alert_threshold_ is not None:
        rule = f"stored in the model, chosen for {model.alert_point_['rule']}"
    cost = "" if point.cost is None else f" Cost {point.cost:g}."
    console.say(f"\nThreshold {point.threshold:.6g} ({rule}). {point}{cost}")


def _print_measures(
    summary: Any, truth: Any, goal: Any, survival: dict[str, object], console: Console
) -> None:
    from aucmax.metrics.metric_names import metric_title

    if survival:
        console.say("\n".join(f"{one!r}" for one in survival.values()))
        return
    relevant = "rows above the lowest level" if truth.is_graded else None
    meanings = {
        "auc": relevant,
        "partial_auc": f"{goal.part_in_words}; 1 for a perfect ranking",
        "mauc": "each level above 0 against all other rows",
        "ordinal_auc": "pairs of different levels in order; 1 for a perfect ranking",
        "map": relevant,
    }
    if ends := _interval(summary):
        interval = f"95% interval {ends[0]:.4f} to {ends[1]:.4f}"
        meanings[goal.metric] = (
            f"{interval}; {meanings[goal.metric]}"
            if goal.metric == "partial_auc"
            else interval
        )
    for name, value in summary.measures.items():
        remark = f"  ({meanings[name]})" if meanings.get(name) else ""
        console.say(f"{metric_title(name):<12} {value:.4f}{remark}")
    if truth.queries is not None:
        console.say(
            f"Means over {truth.n_usable_queries} queries; the interval is Student's t "
            "over them."
        )
