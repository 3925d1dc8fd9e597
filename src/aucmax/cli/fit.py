"""``aucmax fit``: learn one model from a file and save it."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command, echo
from aucmax.cli.options import (
    data_argument,
    force_option,
    metric_option,
    missing_target_option,
    output_path,
    query_options,
    range_options,
    row_options,
    target_options,
    time_limit_option,
)
from aucmax.cli.output import Console, check_outputs, with_console
from aucmax.cli.reading import (
    QueryChoice,
    RowColumns,
    Source,
    drop_unknown,
    split_target,
)
from aucmax.cli.training import (
    fit_model,
    search_record,
    target_record,
)
from aucmax.model_selection import MODELS


@click.command(
    cls=Command,
    short_help="Find the best model, or fit a named one, and save it.",
    examples=[
        "aucmax fit patients.csv --target sick --output sick.aucmax",
        "aucmax fit patients.csv --target outcome --positive died -o m.aucmax",
        "aucmax fit a9a.svm.gz --fpr-range 0 0.05 --output a9a.aucmax",
        "aucmax fit clicks.csv --target clicked --qid search -o clicks.aucmax",
        "aucmax fit judged.svm --metric ndcg@5 -o search.aucmax",
        "aucmax fit a.csv --target y --model svm-auc --set C=10 -o m.aucmax",
        "aucmax fit a.csv --target y --model lightgbm --calibrate sigmoid -o m.aucmax",
        "aucmax fit large.csv --target y --checkpoint large.part -o large.aucmax",
        "aucmax fit 'part-*.parquet' --target y --model linear -o m.aucmax",
        "aucmax fit lung.csv --duration days --event died -o lung.aucmax",
    ],
)
@target_options
@missing_target_option
@query_options
@row_options
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    default="auto",
    metavar="NAME",
    help=f"Model to fit: {', '.join(MODELS)}; auto tries many and combines the best "
    "[default: auto].",
)
@time_limit_option("Seconds for the fit [default: 60 for auto, none for others].")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the model, such as n_estimators=500; may be repeated.",
)
@range_options
@metric_option
@click.option(
    "--calibrate",
    type=click.Choice(["auto", "sigmoid", "isotonic", "none"]),
    default="auto",
    show_default=True,
    help="How to turn scores into probabilities (for 'aucmax score --proba'); auto is "
    "isotonic with at least 1,000 rows per class, else sigmoid.",
)
@click.option(
    "--checkpoint",
    type=output_path,
    metavar="FILE",
    help="Store the models that auto has fitted in FILE: if the program is killed, the "
    "same command resumes from there. FILE is deleted when the model is saved.",
)
@click.option(
    "--output", "-o", type=output_path, required=True, help="File for the model."
)
@force_option
@data_argument
@with_console
def fit(
    data: Source,
    target: str | None,
    positive: str | None,
    drop: tuple[str, ...],
    missing_target: str,
    queries: QueryChoice,
    row_columns: RowColumns,
    model: str,
    time_limit: float | None,
    settings: tuple[str, ...],
    ranges: dict[str, Any],
    metric: str | None,
    calibrate: str,
    checkpoint: Path | None,
    output: Path,
    force: bool,
    console: Console,
) -> None:
    """Fit a model to DATA and save it with the encoding of its columns.

    By default it tries many models for a minute (--time-limit), combines the best, and
    estimates by cross-validation how well the result ranks new rows; with --model, it
    does so for one model. Ctrl-C ends the search and keeps the
    models found so far.

    DATA may be a folder or a quoted pattern; all rows are read into memory.

    auto, linear, svm-pauc and lambdamart-pauc can be trained for a range of the ROC
    curve (lambdamart-pauc with --fpr-range only). With queries, linear, svm and
    lambdamart models learn to rank the rows of each query; other models learn from all
    rows together. Levels of relevance (0, 1, 2, ...) in queries are ranked for NDCG@10.

    With --duration and --event, models learn from censored times and rank rows with
    early events high; --qid then names strata.
    """
    import aucmax
    from aucmax.model_selection.goals import choose_goal
    from aucmax.model_selection.models import named_candidate
    from aucmax.model_selection.typed_parameters import parse_parameters

    check_outputs([output], force, data.files)
    check_outputs([checkpoint], True, [*data.files, output])
    parameters = parse_parameters(named_candidate(model).estimator, settings, model)
    training = split_target(data.read(), data, target, drop, queries, row_columns)
    training = drop_unknown(training, missing_target, console)
    labels = training.encode([model], positive)
    goal = choose_goal(labels, metric, **ranges)
    is_binary = not (labels.is_graded or labels.is_survival)
    if not is_binary and calibrate not in ("auto", "none"):
        kind = "has more than two levels"
        raise click.UsageError(
            f"{training.target_name} {'is an event' if labels.is_survival else kind}, "
            "and probabilities are those of two classes; leave out --calibrate, or "
            "name --positive."
        )
    search: dict[str, Any] = {"calibrate": None if calibrate == "none" else calibrate}
    if time_limit is not None:
        search["time_limit"] = time_limit
    fitted = fit_model(
        model, training, labels, goal, console, parameters, search, checkpoint
    )
    place = console.write(output, partial(aucmax.save, fitted, overwrite=force))
    if checkpoint is not None and console.exit_code:
        echo(f"The checkpoint {checkpoint} is kept for another try.", err=True)
    elif checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    console.say(f"Fitted {model} on {training.describe(labels)}.")
    record = {
        "model": model,
        **target_record(training, labels),
        **search_record(fitted, console),
        **{name: list(ends) for name, ends in goal.ranges.items()},
        "parameters": parameters,
        "calibrate": fitted.calibrate if hasattr(fitted, "predict_proba") else None,
        "model_file": place,
    }
    if place:
        console.say(f"Saved to {place}. Next: aucmax evaluate {place} OTHER-DATA")
    console.give(record)
