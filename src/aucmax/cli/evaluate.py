"""``aucmax evaluate``: how well a saved model ranks other rows."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import (
    Data,
    QueryChoice,
    Source,
    data_argument,
    query_options,
    split_target,
)
from aucmax.cli.figures import draw_evaluation
from aucmax.cli.fit import target_record
from aucmax.cli.options import force_option, fpr_range_option, output_path
from aucmax.cli.outputs import check_figure_kind, check_outputs, save_figure
from aucmax.cli.program import Command
from aucmax.cli.score import load_model, text_columns

__all__ = ["evaluate"]


@click.command(
    cls=Command,
    short_help="Measure how well a model ranks other rows.",
    examples=[
        "aucmax evaluate sick.aucmax other-patients.csv",
        "aucmax evaluate sick.aucmax other-patients.csv --fpr-range 0 0.05 --json",
        "aucmax evaluate clicks.aucmax other-clicks.csv --qid session",
    ],
)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column with the true values [default: as at training].",
)
@query_options
@fpr_range_option
@click.option("--figure", type=output_path, help="Draw the ROC curve to this file.")
@force_option
@data_argument
@with_console
def evaluate(
    model: Path,
    data: Source,
    target: str | None,
    queries: QueryChoice,
    fpr_range: tuple[float, float],
    figure: Path | None,
    force: bool,
    console: Console,
) -> None:
    """Measure how well MODEL ranks the rows of DATA, whose target is known.

    Prints the AUC with its 95% interval (DeLong), the partial AUC, and the errors at
    the model's threshold. Use rows that the model was not fitted to.

    A model that was fitted with --qid is measured within queries, by the same column
    unless another is named: means over the queries that have both classes. One that was
    fitted to more than two levels is measured by MAUC and ordinal AUC.
    """
    check_figure_kind(figure)
    check_outputs([figure], force, [model, data.path])
    fitted = load_model(model)
    test = _split(data.read(text_columns(fitted)), data, fitted, target, queries)
    truth = test.match(fitted)
    scores = fitted.decision_function(test.rows)
    record = {
        "model": fitted.name,
        **target_record(test, truth),
        **_measure(truth, scores, fpr_range),
        **_count_errors(fitted, test, truth),
    }
    if figure is not None:
        save_figure(draw_evaluation(truth, scores, record), figure, force)
        record["figure"] = str(figure)
    console.say(f"{fitted.name} on {test.describe(truth)}")
    _print_measures(record, truth, console)
    _print_errors(record, console)
    console.give(record)


def _split(
    rows: Data, data: Source, model: Any, target: str | None, queries: QueryChoice
) -> Data:
    """Take off target and queries: the columns of training, unless others are named."""
    if rows.labels is not None:
        return split_target(rows, data, target, (), queries)
    column = queries.column or (None if queries.is_off else model.query_column)
    if queries.column is None and column not in (None, *rows.rows.columns):
        raise click.ClickException(
            f"{data.path} has no column {column!r}, which named the queries at "
            "training; name another with --qid, or rank all rows together with "
            "--no-qid."
        )
    return split_target(rows, data, target or model.target, (), QueryChoice(column))


def _measure(truth: Any, scores: Any, fpr_range: tuple[float, float]) -> dict[str, Any]:
    import numpy as np

    from aucmax import metrics
    from aucmax.comparison.measures import mean_interval, measure

    values = measure(truth, scores, fpr_range)
    main = next(iter(values))
    means = {name: float(np.nanmean(of_queries)) for name, of_queries in values.items()}
    interval: list[float] | None = None
    if truth.queries is None and main == "auc":
        delong = metrics.auc_interval(truth.labels, scores)
        interval = [float(delong.low), float(delong.high)]
    elif values[main].size > 1:
        interval = list(mean_interval(values[main])[1:])
    return {**means, f"{main}_interval": interval, "fpr_range": list(fpr_range)}


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


def _print_measures(record: dict[str, Any], truth: Any, console: Console) -> None:
    low, high = record["fpr_range"]
    meanings = {
        "mauc": "each level above 0 against all other rows",
        "ordinal_auc": "pairs of different levels in order; a perfect ranking has 1",
        "auc": "rows above the lowest level" if truth.is_graded else "",
        "partial_auc": f"false-positive rates {low:g} to {high:g}; a perfect ranking "
        "has 1",
    }
    for name, meaning in meanings.items():
        if name not in record:
            continue
        interval = record.get(f"{name}_interval")
        if interval is not None:
            meaning = f"95% interval {interval[0]:.4f} to {interval[1]:.4f}"
        title = name.replace("_", " ").replace("mauc", "MAUC").replace("auc", "AUC")
        remark = f"  ({meaning})" if meaning else ""
        console.say(f"{title:<12} {record[name]:.4f}{remark}")
    if truth.queries is not None:
        console.say(
            f"Means over {truth.n_usable_queries} queries; the interval is Student's t "
            "over them."
        )


def _print_errors(record: dict[str, Any], console: Console) -> None:
    if "true_positives" not in record:
        return
    console.say()
    console.table(
        ["at the model's threshold", "ranked positive", "ranked negative"],
        [
            [
                "positive",
                f"{record['true_positives']} found",
                f"{record['false_negatives']} missed",
            ],
            [
                "negative",
                f"{record['false_positives']} false alarms",
                f"{record['true_negatives']} passed",
            ],
        ],
    )
