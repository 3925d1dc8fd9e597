"""``aucmax fit``: learn one model from a file and save it."""

import warnings
from pathlib import Path
from typing import Any

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import Data, QueryChoice, Source, split_target
from aucmax.cli.options import (
    data_argument,
    force_option,
    output_path,
    query_options,
    target_options,
)
from aucmax.cli.outputs import check_outputs
from aucmax.cli.program import Command
from aucmax.comparison import MODELS

__all__ = ["fit", "fit_model", "target_record"]


@click.command(
    cls=Command,
    short_help="Fit one model and save it.",
    examples=[
        "aucmax fit patients.csv --target sick --output sick.aucmax",
        "aucmax fit patients.csv --target outcome --positive died -o m.aucmax",
        "aucmax fit a9a.svm.gz --output a9a.aucmax",
        "aucmax fit clicks.csv --target clicked --qid search -o clicks.aucmax",
    ],
)
@target_options
@query_options
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    default=next(iter(MODELS)),
    show_default=True,
    metavar="NAME",
    help=f"Model to fit: {', '.join(MODELS)}.",
)
@click.option(
    "--output", "-o", type=output_path, required=True, help="Where to save the model."
)
@force_option
@data_argument
@with_console
def fit(
    data: Source,
    target: str | None,
    positive: str | None,
    drop: tuple[str, ...],
    queries: QueryChoice,
    model: str,
    output: Path,
    force: bool,
    console: Console,
) -> None:
    """Fit a model to DATA and save it with the preparation of its columns.

    With queries, the linear models, aucsvc, pauc and all kinds of lambdamart learn to
    rank the rows of each query; the other models learn from all rows together.
    """
    import aucmax

    check_outputs([output], force, [data.path])
    training = split_target(data.read(), data, target, drop, queries)
    goal = training.encode([model], positive)
    fitted = fit_model(model, training, goal, console)
    aucmax.save(fitted, output, overwrite=force)
    record = {
        "model": model,
        **target_record(training, goal),
        "dropped_columns": fitted.encoder_.dropped_,
        "model_file": str(output),
    }
    console.say(f"Fitted {model} on {training.describe(goal)}.")
    console.say(f"Saved to {output}. Next: aucmax evaluate {output} OTHER-DATA")
    console.give(record)


def fit_model(name: str, training: Data, goal: Any, console: Console) -> Any:
    """Fit a model by name; tell what became of the columns."""
    from aucmax.comparison import table_model
    from aucmax.exceptions import OneClassQueryWarning

    model = table_model(
        name,
        levels="learn" if MODELS[name].learns_levels else "relevant",
        target=training.target,
        query_column=training.query_column,
    )
    title = f"Fitting {name} to {training.n_rows} rows"
    with console.progress(title, 1) as step, warnings.catch_warnings():
        # the user is told how many queries have both classes
        warnings.simplefilter("ignore", OneClassQueryWarning)
        model.fit(training.rows, goal)
        step("done")
    scores = model.decision_function(training.rows)
    if scores.max() == scores.min():
        raise click.ClickException(
            f"{name} gives all {training.n_rows} rows the same score, so it ranks "
            "nothing and is not saved. Use --model linear or --model lambdamart, or "
            "check that the columns tell anything about the target."
        )
    describe_columns(model.encoder_, console)
    return model


def describe_columns(encoder: Any, console: Console) -> None:
    """Note the columns that are left out or need a word."""
    for name, reason in encoder.dropped_.items():
        console.note(f"column {name!r} is left out: {reason}")
    for notice in encoder.notices_:
        console.note(notice)


def target_record(data: Data, target: Any) -> dict[str, Any]:
    """Facts about what is ranked, for JSON."""
    return {**target.to_dict(), "target": data.target, "qid": data.query_column}
