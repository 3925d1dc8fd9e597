"""``aucmax score``: rank the rows of a file by a saved model."""

import json
from pathlib import Path
from typing import Any

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import Data, Source, data_argument
from aucmax.cli.options import force_option, output_path
from aucmax.cli.outputs import check_outputs
from aucmax.cli.program import Command

__all__ = ["load_model", "score", "text_columns"]


@click.command(
    cls=Command,
    short_help="Score new rows by a saved model.",
    examples=[
        "aucmax score sick.aucmax new-patients.csv > scores.csv",
        "aucmax score sick.aucmax new-patients.csv --keep key --output scores.csv",
        "aucmax score clicks.aucmax new-clicks.csv --keep search --keep page",
    ],
)
@click.argument("model", type=click.Path(path_type=Path))
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
    help="Copy a column, such as a key, next to the scores; may be repeated.",
)
@force_option
@data_argument
@with_console
def score(
    model: Path,
    data: Source,
    output: Path | None,
    keep: tuple[str, ...],
    force: bool,
    console: Console,
) -> None:
    """Score the rows of DATA by MODEL: higher scores rank higher.

    Columns are found by name; others, target and queries among them, are ignored. One
    line a row, in the order of DATA: the score, and the class by the model's threshold
    unless it ranks by more than two levels. Of queries, only scores of the same one
    compare; --keep puts their column (qid, in svmlight files) beside the scores.
    """
    check_outputs([output], force, [model, data.path])
    fitted = load_model(model)
    scores = _score_frame(fitted, data.read(text_columns(fitted)), keep, data.path)
    if output is not None:
        _write(scores, output, force)
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
            f"{path} holds a {type(model).__name__} without the preparation of a "
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


def _score_frame(model: Any, new: Data, keep: tuple[str, ...], path: Path) -> Any:
    import polars as pl

    from aucmax.tables._frames import near_names

    scored = {"score": model.decision_function(new.rows)}
    if model.has_threshold_:
        scored["prediction"] = model.predict(new.rows)
    columns = new.named_columns()
    for name in keep:
        if name not in columns:
            raise click.ClickException(
                f"{path} has no column {name!r}.{near_names(name, list(columns))}"
            )
    kept = {name: columns[name] for name in keep if name not in scored}
    return pl.DataFrame({**kept, **scored})


def _write(scores: Any, path: Path, force: bool) -> None:
    from aucmax._atomic import atomic_output

    kind = path.suffix.lower()
    with atomic_output(path, overwrite=force) as file:
        if kind == ".parquet":
            scores.write_parquet(file)
        elif kind == ".json":
            file.write(json.dumps(scores.to_dict(as_series=False)).encode())
        else:
            scores.write_csv(file, separator="\t" if kind == ".tsv" else ",")
