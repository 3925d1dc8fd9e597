"""``aucmax fit``: learn one model from a file and save it."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import Source, data_argument, split_target, target_options
from aucmax.cli.options import force_option, output_path
from aucmax.cli.outputs import check_outputs
from aucmax.cli.program import Command
from aucmax.tabular.models import MODELS

__all__ = ["fit", "fit_model", "training_record"]


@click.command(
    cls=Command,
    short_help="Fit one model and save it.",
    examples=[
        "aucmax fit patients.csv --target sick --output sick.aucmax",
        "aucmax fit patients.csv --target outcome --positive died -o m.aucmax",
        "aucmax fit a9a.svm.gz --output a9a.aucmax",
    ],
)
@target_options
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    default=next(iter(MODELS)),
    show_default=True,
    help="Which model to fit.",
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
    model: str,
    output: Path,
    force: bool,
    console: Console,
) -> None:
    """Fit a model to DATA and save it with the preparation of its columns."""
    import aucmax

    check_outputs([output], force, [data.path])
    training = split_target(data.read(), data, target, drop)
    fitted = fit_model(model, training, positive, console)
    aucmax.save(fitted, output, overwrite=force)
    record = {**training_record(fitted), "model_file": str(output)}
    negative, top = fitted.classes_.tolist()
    console.say(
        f"Fitted {model} on {fitted.n_rows_} rows: {fitted.n_positive_} of them "
        f"positive ({training.describe_classes(negative, top)})."
    )
    console.say(f"Saved to {output}. Next: aucmax evaluate {output} OTHER-DATA")
    console.give(record)


def fit_model(name: str, training: Any, positive: str | None, console: Console) -> Any:
    """Fit a model by name; tell what became of the columns."""
    from aucmax.tabular import TableModel

    model = TableModel.by_name(name, positive=positive, target=training.target)
    with console.progress(f"Fitting {name} to {training.n_rows} rows", 1) as step:
        model.fit(training.rows, training.labels)
        step("done")
    describe_columns(model.encoder_, console)
    return model


def describe_columns(encoder: Any, console: Console) -> None:
    """Note the columns that are left out or need a word."""
    for name, reason in encoder.dropped_.items():
        console.note(f"column {name!r} is left out: {reason}")
    for notice in encoder.notices_:
        console.note(notice)


def training_record(model: Any) -> dict[str, Any]:
    """Facts about a fitted model, for JSON."""
    negative, positive = model.classes_.tolist()
    return {
        "model": model.name,
        "rows": model.n_rows_,
        "positive_rows": model.n_positive_,
        "target": model.target,
        "positive": positive,
        "negative": negative,
        "dropped_columns": model.encoder_.dropped_,
    }
