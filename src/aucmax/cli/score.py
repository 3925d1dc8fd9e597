"""``aucmax score``: rank the rows of a file by a saved model."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import Data, Source, require_column
from aucmax.cli.options import (
    data_argument,
    force_option,
    model_argument,
    output_path,
    prevalence_option,
)
from aucmax.cli.outputs import TABLES, check_ending, check_outputs
from aucmax.cli.program import Command

__all__ = ["load_model", "require_probabilities", "score", "text_columns"]


@click.command(
    cls=Command,
    short_help="Score new rows with a saved model.",
    examples=[
        "aucmax score sick.aucmax new-patients.csv > scores.csv",
        "aucmax score sick.aucmax new-patients.csv --keep key --output scores.csv",
        "aucmax score sick.aucmax new-patients.csv --proba --prevalence 0.01",
        "aucmax score clicks.aucmax new-clicks.csv --keep search --keep page",
    ],
)
@model_argument
@click.option(
    "--output",
    "-o",
    type=output_path,
    help="Where to write the scores (.csv, .tsv, .parquet) [default: print them].",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column to copy beside the scores, such as a key; may be repeated.",
)
@click.option(
    "--proba",
    is_flag=True,
    help="Add the probability of the positive class; the model must have been fitted "
    "with --calibrate.",
)
@prevalence_option
@click.option(
    "--threshold",
    type=float,
    metavar="SCORE",
    help="Scores above it are predicted positive, such as a threshold that 'aucmax "
    "evaluate' prints [default: the model's own].",
)
@force_option
@data_argument
@with_console
def score(
    model: Path,
    data: Source,
    output: Path | None,
    keep: tuple[str, ...],
    proba: bool,
    prevalence: float | None,
    threshold: float | None,
    force: bool,
    console: Console,
) -> None:
    """Score the rows of DATA with MODEL: higher scores rank higher.

    Columns are found by name; others, such as the target and the queries, are ignored.
    There is one line per row, in the order of DATA: the score, and the class by a
    threshold unless it ranks by more than two levels. The model's own threshold is that
    of the best balanced accuracy in training. A model of queries gives scores that
    compare rows of one query only; --keep puts the column of the queries (qid, in
    svmlight files) beside them.
    """
    from aucmax.datasets import save_table

    check_ending(output, TABLES)
    check_outputs([output], force, [model, data.path])
    fitted = load_model(model)
    if prevalence is not None and not proba:
        raise click.UsageError("--prevalence concerns probabilities; add --proba.")
    if proba:
        require_probabilities(fitted, model)
    new = data.read(text_columns(fitted))
    scored: dict[str, Any] = {"score": fitted.decision_function(new.rows)}
    if proba:
        scored["probability"] = fitted.predict_proba(new.rows, prevalence=prevalence)[
            :, 1
        ]
    if fitted.has_threshold_:
        cut = fitted.threshold_ if threshold is None else threshold
        scored["prediction"] = fitted.classes_[(scored["score"] > cut) * 1]
    elif threshold is not None:
        raise click.UsageError(
            f"{model} ranks by levels of relevance, between which there is no "
            "--threshold."
        )
    scores = _score_frame(scored, new, keep, data.path)
    if output is not None:
        save_table(scores, output, overwrite=force)
        console.say(f"Wrote {scores.height} scores to {output}.")
        console.give({"rows": scores.height, "output": str(output)})
    elif console.as_json:
        console.give(scores.to_dict(as_series=False))
    else:
        # piece by piece, so that a reader who has seen enough stops us early
        for k, piece in enumerate(scores.iter_slices(4096)):
            click.echo(piece.write_csv(include_header=k == 0), nl=False)


def load_model(path: Path) -> Any:
    """Load a model of the command line; refuse any other."""
    import aucmax

    model = aucmax.load(path)
    if not hasattr(model, "encoder_"):
        raise click.ClickException(
            f"the {type(model).__name__} in {path} cannot prepare the columns of a "
            "table; make a model with 'aucmax fit' or 'aucmax compare'."
        )
    return model


def text_columns(model: Any) -> list[str]:
    """Names of the columns that a model takes for texts."""
    return [
        column["name"]
        for column in model.encoder_.columns_
        if column["kind"] != "number"
    ]


def require_probabilities(model: Any, path: Path) -> None:
    """Refuse a model that has learned no probabilities."""
    if not hasattr(model, "predict_proba"):
        raise click.ClickException(
            f"the model in {path} has scores, but no probabilities; fit it again with "
            "--calibrate auto."
        )


def _score_frame(
    scored: dict[str, Any], new: Data, keep: tuple[str, ...], path: Path
) -> Any:
    import polars as pl

    columns = new.named_columns()
    for name in keep:
        require_column(name, list(columns), path)
    kept = {name: columns[name] for name in keep if name not in scored}
    return pl.DataFrame({**kept, **scored})
