"""``aucmax fit``: learn one model from a file and save it."""

import re
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import (
    check_model,
    data_argument,
    force_option,
    metric_option,
    output_path,
    range_option,
    time_limit_option,
    training_options,
    without_none,
)
from aucmax.cli.output import Console, check_outputs, with_console
from aucmax.cli.reading import Source, drop_unknown, read_training
from aucmax.cli.training import (
    check_for_onnx,
    fit_model,
    search_record,
    target_record,
)
from aucmax.model_selection import MODELS


def _parse_model(
    _: click.Context, __: click.Parameter, value: str
) -> tuple[str, list[str]]:
    """Return a name and its parameters, which follow it after a colon."""
    name, _colon, settings = value.partition(":")
    # a comma may also be within a value
    return check_model(name), re.split(
        r",(?=[A-Za-z_]+=)", settings
    ) if settings else []


@click.command(
    cls=Command,
    short_help="Find the best model, or fit a named one, and save it.",
    examples=[
        "aucmax fit patients.csv --target sick --output sick.aucmax",
        "aucmax fit patients.csv --target outcome --pos-label died -o m.aucmax",
        "aucmax fit a9a.svm.gz --fpr-range 0 0.05 --output a9a.aucmax",
        "aucmax fit clicks.csv --target clicked --qid search -o clicks.aucmax",
        "aucmax fit judged.svm --metric ndcg@5 -o search.aucmax",
        "aucmax fit a.csv --target y --model svm-auc:C=10,tol=1e-4 -o m.aucmax",
        "aucmax fit 'part-*.parquet' --target y --model linear -o m.aucmax",
        "aucmax fit lung.csv --duration days --target died -o lung.aucmax",
    ],
)
@training_options
@click.option(
    "--model",
    default="auto",
    metavar="NAME",
    callback=_parse_model,
    help=f"Model to fit: {', '.join(MODELS)}; auto tries many and combines the best. "
    "Parameters may follow, as in lambdamart:n_estimators=500,num_leaves=8 [default: "
    "auto].",
)
@time_limit_option("Seconds for the fit [default: 60 for auto, none for others].")
@range_option
@metric_option
@click.option(
    "--output", "-o", type=output_path, required=True, help="File for the model."
)
@click.option(
    "--for-onnx",
    is_flag=True,
    help="Fit only what 'aucmax export --to onnx' can convert; reject columns of dates "
    "before the fit.",
)
@force_option
@data_argument
@with_console
def fit(
    source: Source,
    pos_label: str | None,
    drop: tuple[str, ...],
    model: tuple[str, list[str]],
    time_limit: float | None,
    fpr_range: tuple[float, float] | None,
    metric: str | None,
    output: Path,
    for_onnx: bool,
    force: bool,
    console: Console,
    **roles: str | None,
) -> None:
    """Fit a model to DATA and save it with the encoding of its columns.

    By default it tries many models for a minute (--time-limit), combines the best, and
    estimates by cross-validation how well the result ranks new rows; with --model, it
    does so for one model. Ctrl-C ends the search and keeps the models fitted so far.

    DATA may be a folder or a quoted pattern; all rows are read into memory. Rows
    without a target are left out.

    auto, linear, svm-pauc and lambdamart-pauc can be trained for a range of the ROC
    curve. With queries, linear, svm and lambdamart models learn to rank the rows of
    each query; other models learn from all rows together. Levels of relevance (0, 1, 2,
    ...) in queries are ranked for NDCG@10.

    With --duration, models learn from censored times and rank rows with early events
    high; --qid then names strata.
    """
    import aucmax
    from aucmax.model_selection.goals import choose_goal
    from aucmax.model_selection.models import named_candidate
    from aucmax.model_selection.typed_parameters import parse_parameters

    check_outputs([output], force, source.files)
    name, settings = model
    parameters = parse_parameters(named_candidate(name).estimator, settings, name)
    training = drop_unknown(read_training(source, roles, drop), console)
    labels = training.encode([name], pos_label)
    with suppress(ValueError):  # not in the main thread
        # a search that is killed keeps the models so far, as with Ctrl-C
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    goal = choose_goal(labels, metric, **without_none(fpr_range=fpr_range))
    if for_onnx:
        parameters |= check_for_onnx(name, training.rows, labels, goal)
    limit = without_none(time_limit=time_limit)
    fitted = fit_model(name, training, labels, goal, console, parameters, limit)
    place = console.write(output, partial(aucmax.save, fitted, overwrite=force))
    console.say(f"Fitted {name} on {training.describe(labels)}.")
    record: dict[str, Any] = {
        "model": name,
        **target_record(training, labels),
        **search_record(fitted, console),
        **{name: list(ends) for name, ends in goal.ranges.items()},
        "parameters": parameters,
        "calibrate": fitted.calibrate if hasattr(fitted, "predict_proba") else None,
        "model_file": place,
    }
    if place:
        console.say(f"Saved to {place}. Next: aucmax evaluate {place} OTHER-DATA")
    console.print_json(record)
