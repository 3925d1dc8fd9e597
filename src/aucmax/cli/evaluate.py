"""``aucmax evaluate``: how well a saved model ranks other rows."""

from math import isnan
from pathlib import Path
from typing import Any

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import Data, QueryChoice, RowColumns, Source, split_target
from aucmax.cli.figures import draw_curves
from aucmax.cli.options import (
    data_argument,
    force_option,
    metric_option,
    missing_target_option,
    model_argument,
    output_path,
    query_options,
    range_options,
    weight_option,
)
from aucmax.cli.outputs import PICTURES, check_ending, check_outputs, save_figure
from aucmax.cli.program import Command, NothingRankedError
from aucmax.cli.score import load_model, text_columns
from aucmax.cli.training import target_record

__all__ = ["evaluate", "split_as_trained"]

_ERRORS = """
At the model's threshold:
  positive rows: {true_positives} found, {false_negatives} missed
  negative rows: {true_negatives} passed, {false_positives} false alarms"""


@click.command(
    cls=Command,
    short_help="Measure how well a model ranks other rows.",
    examples=[
        "aucmax evaluate sick.aucmax other-patients.csv",
        "aucmax evaluate sick.aucmax other-patients.csv --fpr-range 0 0.05 --json",
        "aucmax evaluate clicks.aucmax other-clicks.csv --qid session",
    ],
)
@model_argument
@click.option(
    "--target",
    metavar="COLUMN",
    help="Column with the true values [default: the target of training].",
)
@missing_target_option
@query_options
@weight_option
@range_options
@metric_option
@click.option("--figure", type=output_path, help="Where to draw the ROC curve.")
@force_option
@data_argument
@with_console
def evaluate(
    model: Path,
    data: Source,
    target: str | None,
    missing_target: str,
    queries: QueryChoice,
    weight: str | None,
    ranges: dict[str, Any],
    metric: str | None,
    figure: Path | None,
    force: bool,
    console: Console,
) -> None:
    """Measure how well MODEL ranks the rows of DATA, whose target is known.

    Prints the AUC with its 95% interval (DeLong), the partial AUC, and the errors at
    the model's threshold. Use rows that the model was not fitted to. With a range, or
    if the model was trained for one, the partial AUC comes first and has the interval.

    A model that was fitted with --qid is measured within queries, given by the same
    column unless another is named: means over the queries that have both classes. One
    that was fitted to more than two levels is measured by MAUC and ordinal AUC.
    """
    from aucmax.comparison import choose_aim, summarise_scores, trained_ranges

    check_ending(figure, PICTURES)
    check_outputs([figure], force, [model, data.path])
    fitted = load_model(model)
    rows = data.read(text_columns(fitted))
    test = split_as_trained(rows, data, fitted, target, queries, RowColumns(weight))
    if missing_target == "drop":
        test = test.without_gaps()
        console.note_rows_left_out(test)
    truth = test.match(fitted)
    scores = fitted.decision_function(test.rows)
    aim = choose_aim(truth, metric, **(ranges or trained_ranges(fitted)))
    summary = summarise_scores(truth, scores, aim)
    if summary.n_constant:
        raise NothingRankedError(
            f"{model} gives all {test.n_rows} rows of {data.path} the same score"
            f"{'' if truth.queries is None else ' within each query'}, so it ranks "
            "nothing there. Check that the columns are those of training."
        )
    errors = _count_errors(fitted, test, truth)
    record = {
        "model": fitted.name,
        **target_record(test, truth),
        **summary.measures,
        f"{aim.metric}_interval": _interval(summary),
        "metric": aim.metric,
        "fpr_range": list(aim.fpr_range),
        "tpr_range": list(aim.tpr_range),
        **errors,
    }
    if figure is not None:
        positions = {fitted.name or "the model": truth.positions(scores)}
        save_figure(draw_curves(truth, positions, [summary], aim), figure, force)
        record["figure"] = str(figure)
    console.say(f"{fitted.name or 'the model'} on {test.describe(truth)}")
    _print_measures(summary, truth, aim, console)
    if errors:
        console.say(_ERRORS.format(**errors))
    console.give(record)


def split_as_trained(
    rows: Data,
    data: Source,
    model: Any,
    target: str | None,
    queries: QueryChoice,
    row_columns: RowColumns,
) -> Data:
    """Take off target and queries: the columns of training, unless others are named."""
    if rows.labels is not None:
        return split_target(rows, data, target, (), queries, row_columns)
    column = queries.column or (None if queries.is_off else model.query_column)
    if queries.column is None and column not in (None, *rows.rows.columns):
        raise click.ClickException(
            f"{data.path} has no column {column!r}, which named the queries at "
            "training; name another with --qid, or rank all rows together with "
            "--no-qid."
        )
    wanted = target or model.target
    return split_target(rows, data, wanted, (), QueryChoice(column), row_columns)


def _interval(summary: Any) -> list[float] | None:
    return None if isnan(summary.low) else [summary.low, summary.high]


def _count_errors(model: Any, test: Data, truth: Any) -> dict[str, int]:
    if not model.has_threshold_:
        return {}
    is_flagged = model.predict(test.rows) == model.classes_[1]
    is_positive = truth.labels == 1
    return {
        "true_positives": int((is_flagged & is_positive).sum()),
        "false_positives": int((is_flagged & ~is_positive).sum()),
        "false_negatives": int((~is_flagged & is_positive).sum()),
        "true_negatives": int((~is_flagged & ~is_positive).sum()),
    }


def _print_measures(summary: Any, truth: Any, aim: Any, console: Console) -> None:
    from aucmax.comparison import MEASURES

    relevant = "rows above the lowest level" if truth.is_graded else None
    meanings = {
        "auc": relevant,
        "partial_auc": f"{aim.part_in_words}; 1 for a perfect ranking",
        "mauc": "each level above 0 against all other rows",
        "ordinal_auc": "pairs of different levels in order; 1 for a perfect ranking",
        "ndcg": "of the first 10 rows of each query",
        "map": relevant,
    }
    if ends := _interval(summary):
        interval = f"95% interval {ends[0]:.4f} to {ends[1]:.4f}"
        meanings[aim.metric] = (
            f"{interval}; {meanings[aim.metric]}"
            if aim.metric == "partial_auc"
            else interval
        )
    for name, value in summary.measures.items():
        remark = f"  ({meanings[name]})" if meanings[name] else ""
        console.say(f"{MEASURES[name]:<12} {value:.4f}{remark}")
    if truth.queries is not None:
        console.say(
            f"Means over {truth.n_usable_queries} queries; the interval is Student's t "
            "over them."
        )
