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
    range_options,
    target_options,
)
from aucmax.cli.outputs import check_outputs
from aucmax.cli.program import Command, NothingRankedError
from aucmax.comparison import MODELS

__all__ = ["fit", "fit_model", "target_record"]


@click.command(
    cls=Command,
    short_help="Fit one model and save it.",
    examples=[
        "aucmax fit patients.csv --target sick --output sick.aucmax",
        "aucmax fit patients.csv --target outcome --positive died -o m.aucmax",
        "aucmax fit a9a.svm.gz --fpr-range 0 0.05 --output a9a.aucmax",
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
@range_options
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
    ranges: dict[str, Any],
    output: Path,
    force: bool,
    console: Console,
) -> None:
    """Fit a model to DATA and save it with the preparation of its columns.

    A range of the ROC curve is what linear, svm-pauc and lambdamart-pauc are trained
    for; the last takes --fpr-range alone. With queries, the linear model, both svm and
    all kinds of lambdamart learn to rank the rows of each query; the other models learn
    from all rows together.
    """
    import aucmax
    from aucmax.comparison import choose_aim

    check_outputs([output], force, [data.path])
    training = split_target(data.read(), data, target, drop, queries)
    goal = training.encode([model], positive)
    aim = choose_aim(goal, **ranges)
    if unused := aim.ranges.keys() & ranges.keys() - set(MODELS[model].ranges):
        options = " and ".join(f"--{name.replace('_', '-')}" for name in sorted(unused))
        raise click.UsageError(
            f"{model} cannot be trained for a part of the ROC curve by {options}; "
            "--model linear can."
        )
    fitted = fit_model(model, training, goal, aim, console)
    aucmax.save(fitted, output, overwrite=force)
    record = {
        "model": model,
        **target_record(training, goal),
        "dropped_columns": fitted.encoder_.dropped_,
        **{name: list(ends) for name, ends in aim.ranges.items()},
        "model_file": str(output),
    }
    console.say(f"Fitted {model} on {training.describe(goal)}.")
    console.say(f"Saved to {output}. Next: aucmax evaluate {output} OTHER-DATA")
    console.give(record)


def fit_model(name: str, training: Data, goal: Any, aim: Any, console: Console) -> Any:
    """Fit a model by name; tell what became of the columns."""
    from aucmax.comparison import has_constant_scores, table_model
    from aucmax.exceptions import ConstantScoresWarning, OneClassQueryWarning

    model = table_model(
        name,
        ranges=aim.ranges,
        levels="learn" if MODELS[name].learns_levels else "relevant",
        target=training.target,
        query_column=training.query_column,
    )
    title = f"Fitting {name} to {training.n_rows} rows"
    with console.progress(title, 1) as step, warnings.catch_warnings():
        # the user is told how many queries have both classes
        warnings.simplefilter("ignore", OneClassQueryWarning)
        # an error says so below, in terms of this program
        warnings.simplefilter("ignore", ConstantScoresWarning)
        model.fit(training.rows, goal)
        step("done")
    if has_constant_scores(goal, model.decision_function(training.rows)):
        raise NothingRankedError(
            f"{name} gives all {training.n_rows} rows the same score"
            f"{'' if goal.queries is None else ' within each query'}, so it ranks "
            f"nothing and is not saved. {_advice(name)}"
        )
    describe_columns(model.encoder_, console)
    return model


def _advice(name: str) -> str:
    """Say what to try in place of a model that ranks nothing."""
    others = [other for other in ("linear", "lambdamart") if other != name]
    advice = (
        f"Try --model {' or --model '.join(others)}, or check that the columns tell "
        "anything about the target."
    )
    if name == "svm-pauc":
        return (
            "Where the classes overlap, the hinge of a narrow range is smallest "
            f"without any weights. {advice}"
        )
    return advice


def describe_columns(encoder: Any, console: Console) -> None:
    """Note the columns that are left out or need a word."""
    for name, reason in encoder.dropped_.items():
        console.note(f"column {name!r} is left out: {reason}")
    for notice in encoder.notices_:
        console.note(notice)


def target_record(data: Data, target: Any) -> dict[str, Any]:
    """Facts about what is ranked, for JSON."""
    return {**target.to_dict(), "target": data.target, "qid": data.query_column}
