"""``aucmax evaluate``: how well a saved model ranks other rows."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command, NothingRankedError
from aucmax.cli.figures import save_curves
from aucmax.cli.options import (
    by_option,
    cut_options,
    data_argument,
    flag,
    force_option,
    metric_option,
    model_argument,
    output_path,
    prevalence_option,
    range_options,
    test_options,
)
from aucmax.cli.output import (
    PICTURES,
    Console,
    check_ending,
    check_outputs,
    with_console,
)
from aucmax.cli.reading import (
    ColumnRoles,
    Source,
    drop_unknown,
    split_known,
    take_column,
)
from aucmax.cli.score import known_columns, load_model, require_method
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
        "aucmax evaluate sick.aucmax other.csv --cost-missed 50 --cost-alarm 1",
        "aucmax evaluate sick.aucmax other-patients.csv --by sex",
        "aucmax evaluate clicks.aucmax other-clicks.csv --qid session",
    ],
)
@model_argument
@test_options
@range_options
@metric_option
@cut_options
@click.option(
    "--save-threshold",
    is_flag=True,
    help="Store the chosen threshold in the file MODEL, which is replaced: 'aucmax "
    "score' then adds a column alert.",
)
@prevalence_option
@by_option
@click.option("--figure", type=output_path, help="File for the ROC curve.")
@force_option
@data_argument
@with_console
def evaluate(
    model: Path,
    data: Source,
    roles: ColumnRoles,
    ranges: dict[str, Any],
    metric: str | None,
    cut: dict[str, float],
    save_threshold: bool,
    prevalence: float | None,
    by: str | None,
    figure: Path | None,
    force: bool,
    console: Console,
) -> None:
    """Measure how well MODEL ranks the rows of DATA, whose target is known.

    Prints the AUC with its 95% interval (DeLong), the partial AUC, and the true
    positives, misses and false alarms at a threshold, with 95% intervals for an equally
    large new sample. The threshold is the one that is stored in the model, or else its
    own (best balanced accuracy in training), unless you choose one by --recall, --fpr,
    --precision, --alerts, --alert-rate, both costs, or --threshold. --save-threshold
    stores your choice in MODEL. Use rows that the model was not fitted to. With a
    range, or if the model was trained for one, the partial AUC comes first and has the
    interval.

    For a model with probabilities ('aucmax fit --calibrate'), it also prints their log
    loss and Brier score, and a table of predicted and observed shares.

    A model that was fitted with --qid is evaluated within queries, by the same column
    unless you name another: means over the queries that have both classes. A model
    fitted to more than two levels is evaluated by MAUC and ordinal AUC, one fitted to
    censored times by Harrell's C, Uno's C and the AUC at quartiles of the event times.
    """
    import aucmax
    from aucmax.model_selection.fold_estimates import summarise_scores
    from aucmax.model_selection.goals import choose_goal
    from aucmax.model_selection.models import trained_ranges
    from aucmax.tables.row_drift import count_unlike, describe_unlike

    check_ending(figure, PICTURES)
    check_outputs([figure], force, [model, *data.files])
    fitted = load_model(model)
    name = fitted.file_roles_["model"]
    _check_options(fitted, model, cut, save_threshold, prevalence)
    rows = data.read(known_columns(fitted))
    test = drop_unknown(
        split_known(rows, data, fitted, roles), roles.missing_target, console
    )
    truth = test.match(fitted.grading_)
    _check_survival_options(truth, [*cut.values(), by, figure, prevalence])
    scores = fitted.decision_function(test.rows)
    goal = choose_goal(truth, metric, **(ranges or trained_ranges(fitted)))
    counts = count_unlike(fitted, test.rows, scores)
    console.notes(describe_unlike(fitted, [counts]))
    summary = summarise_scores(truth, scores, goal)
    if summary.problem is not None:
        raise NothingRankedError(
            f"{model} gives all {test.n_rows} rows of {data.path} the same score"
            f"{'' if truth.queries is None else ' within each query'}, so it ranks "
            "nothing there. Check that the columns are those of training."
        )
    survival = _measure_survival(truth, scores)
    point = _operating_point(fitted, truth, scores, cut)
    groups = None
    if by is not None:
        from aucmax.report.pages import group_rows

        column = take_column(test, by, data.path)
        cutoff = None if point is None else point.threshold
        groups = group_rows(truth, scores, column, cutoff)
    chances = None
    if hasattr(fitted, "predict_proba"):
        from aucmax.decisions import reliability

        chances = reliability(
            truth.relevant,
            fitted.predict_proba(test.rows, prevalence=prevalence)[:, 1],
            sample_weight=truth.weights,
        )
    known = fitted.share_of_known_rows(test.rows, truth)
    if known >= _MANY_KNOWN_ROWS:
        console.note(
            f"the model was fitted to about {known:.0%} of these rows, so the results "
            "are too optimistic; use other rows"
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
        "operating_point": None if point is None else point.as_dict(),
        "probabilities": None if chances is None else chances.as_dict(),
        "known_rows": None if isnan(known) else known,
        "by": None if groups is None else {"column": by, **groups.as_dict()},
    }
    if figure is not None:
        positions = {name: truth.positions(scores)}
        write = partial(
            save_curves,
            target=truth,
            scores=positions,
            results=[summary],
            goal=goal,
            overwrite=force,
        )
        record["figure"] = console.write(figure, write)
    console.say(f"{name} on {test.describe(truth)}")
    _print_measures(summary, truth, goal, survival, console)
    if point is not None:
        _print_point(point, fitted, not cut, console)
    if save_threshold:
        write = partial(aucmax.save, fitted.store_threshold(point), overwrite=True)
        line = "The threshold is stored in {}; 'aucmax score' adds a column alert."
        record["model_file"] = console.write(model, write, line)
    if chances is not None:
        _print_chances(chances, console)
    if groups is not None:
        console.say(f"\nBy column {by!r}:\n{groups}")
    console.give(record)


def _check_survival_options(truth: Any, options: Sequence[Any]) -> None:
    if truth.is_survival and any(option not in (None, False) for option in options):
        raise click.UsageError(
            "the model ranks by censored times, which have no threshold, groups of "
            "people, ROC curve or prevalence; leave out these options."
        )


def _measure_survival(truth: Any, scores: Any) -> dict[str, Any]:
    """Return Harrell's and Uno's C, and the AUC at quartiles of the event times."""
    if not truth.is_survival:
        return {}
    from aucmax.inference import concordance_interval, cumulative_dynamic_auc
    from aucmax.report.survival_view import event_quantiles

    rows, known = (
        (truth.labels, truth.durations, scores),
        {"sample_weight": truth.weights},
    )
    found: dict[str, Any] = {}
    for method in ("harrell", "uno"):
        options = {**known, "qid": truth.queries, "method": method}
        with suppress(ValueError):  # too few rows, or censored too early for Uno's C
            found[f"{method}_c"] = concordance_interval(*rows, **options)
    times = event_quantiles(truth, 3)
    with suppress(ValueError):
        if truth.queries is None and times.size:
            found["auc_at_times"] = cumulative_dynamic_auc(*rows, times, **known)
    return found


def _check_options(
    fitted: Any, path: Path, cut: Any, save_threshold: bool, prevalence: float | None
) -> None:
    if save_threshold and not cut:
        raise click.UsageError(
            "--save-threshold needs a rule for the threshold, such as --fpr 0.01."
        )
    if prevalence is not None:
        require_method(fitted, path)


def _interval(summary: Any) -> list[float] | None:
    return None if isnan(summary.low) else [summary.low, summary.high]


def _operating_point(model: Any, truth: Any, scores: Any, cut: dict[str, float]) -> Any:
    """Count errors at the model's threshold, or at one that is chosen here."""
    from aucmax.decisions import operating_point

    if model.decision_threshold_ is None:
        if cut:
            raise click.UsageError(
                "the model ranks by levels of relevance, between which there is no "
                f"threshold; leave out {flag(next(iter(cut)))}."
            )
        return None
    options = cut or {"threshold": model.decision_threshold_}
    weight = truth.weights
    return operating_point(truth.relevant, scores, sample_weight=weight, **options)


def _print_point(point: Any, model: Any, is_own: bool, console: Console) -> None:
    def count(name: str, word: str) -> str:
        low, high = point.intervals[name]
        value = getattr(point, name)
        shown = f"{value:.2f}" if isinstance(value, float) else f"{value}"
        return f"{shown} {word} ({low:.0f} to {high:.0f})"

    def rate(name: str, word: str) -> str:
        low, high = point.intervals[name]
        value = getattr(point, name)
        shown = "none" if isnan(value) else f"{value:.1%}"
        return f"{word} {shown} ({low:.1%} to {high:.1%})"

    rule = "the model's own: best balanced accuracy in training"
    if model.alert_threshold_ is not None:
        rule = f"stored in the model, chosen for {model.alert_point_['rule']}"
    console.say(
        f"\nAt the threshold {point.threshold:.6g} ({rule if is_own else point.rule}):"
    )
    console.say(f"  all rows:      {count('n_alerts', 'alerts')}")
    console.say(
        f"  positive rows: {count('found', 'found')}, {count('missed', 'missed')}"
    )
    console.say(
        f"  negative rows: {count('passed', 'passed')}, "
        f"{count('false_alarms', 'false alarms')}"
    )
    console.say(
        f"  {rate('recall', 'recall')}, {rate('fpr', 'false positive rate')}, "
        f"{rate('precision', 'precision')}"
    )
    if point.cost is not None:
        console.say(f"  cost {point.cost:g}")
    console.say("In brackets: 95% intervals for an equally large new sample.")


def _print_chances(found: Any, console: Console) -> None:
    console.say(
        f"\nProbabilities: log loss {found.log_loss:.4f}, Brier score "
        f"{found.brier_score:.4f}; mean {found.mean_probability:.2%}, share "
        f"of positives {found.base_rate:.2%}"
    )
    ideal = {"slope": 1, "intercept": 0, "in_the_large": 0}
    shown = [
        f"{name.replace('_', ' ')} {value:.2f} ({low:.2f} to {high:.2f}; ideal {good})"
        for name, good in ideal.items()
        if not isnan(value := getattr(found, name))
        for low, high in [getattr(found, f"{name}_interval")]
    ]
    if shown:
        console.say(f"calibration {', '.join(shown)}")
    console.say("predicted observed  (95% interval)       rows")
    for predicted, share, low, high, n_rows in zip(
        found.probability, found.share, found.low, found.high, found.n_rows, strict=True
    ):
        ends = f"({low:.1%} to {high:.1%})"
        console.say(f"  {predicted:>7.1%}   {share:>7.1%}  {ends:<18} {n_rows:>6}")


def _print_measures(
    summary: Any, truth: Any, goal: Any, survival: dict[str, Any], console: Console
) -> None:
    from aucmax.model_selection.goals import title_of

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
        console.say(f"{title_of(name):<12} {value:.4f}{remark}")
    if truth.queries is not None:
        console.say(
            f"Means over {truth.n_usable_queries} queries; the interval is Student's t "
            "over them."
        )
