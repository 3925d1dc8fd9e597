"""``aucmax score``: rank the rows of a file by a saved model."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command, echo
from aucmax.cli.options import (
    data_argument,
    force_option,
    model_argument,
    output_path,
)
from aucmax.cli.output import (
    TABLES,
    Console,
    check_ending,
    check_outputs,
    make_folder,
    with_console,
)
from aucmax.cli.reading import (
    Data,
    Source,
    load_model,
    read_options,
    require_column,
)

# spreadsheets read these cells as formulas, unless they are numbers
_FORMULA = r"^[=+\-@\t\r]"


@click.command(
    cls=Command,
    short_help="Score new rows with a saved model.",
    examples=[
        "aucmax score sick.aucmax new-patients.csv > scores.csv",
        "aucmax score sick.aucmax new-patients.csv --keep key --output scores.csv",
        "aucmax score sick.aucmax new-patients.csv --alerts 200 --output scores.csv",
        "aucmax score sick.aucmax new-patients.csv --proba --prevalence 0.01",
        "aucmax score clicks.aucmax new-clicks.csv --keep search --keep page",
        "aucmax score clicks.aucmax 'day-*.parquet' --output scores",
        "aucmax score lung.aucmax new-patients.csv --horizon 365",
    ],
)
@model_argument
@click.option(
    "--output",
    "-o",
    type=output_path,
    help="File for the scores (.csv, .tsv, .parquet), or, without an ending, a folder "
    "with one file per file of DATA [default: print the scores].",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column to copy to the output unchanged, such as a key; repeat for several.",
)
@click.option(
    "--proba",
    is_flag=True,
    help="Add the probability of the positive class; not for a model with queries.",
)
@click.option(
    "--safe-csv",
    is_flag=True,
    help="Put an apostrophe before cells and names that start with =, +, - or @, so "
    "that a spreadsheet does not read them as formulas.",
)
@click.option(
    "--prevalence",
    type=float,
    metavar="SHARE",
    help="Share of positives where the model is used, if it differs from training.",
)
@click.option(
    "--threshold",
    type=float,
    metavar="SCORE",
    help="Predict rows with a score above SCORE positive; 'aucmax evaluate' prints "
    "thresholds [default: the model's own].",
)
@click.option(
    "--alerts",
    type=click.IntRange(min=0),
    metavar="N",
    help="Add a column alert: 1 for exactly the N highest-scored rows of DATA; of rows "
    "with the same score, for the first.",
)
@click.option(
    "--horizon",
    type=float,
    metavar="TIME",
    help="Add the probability of an event by TIME; for auto, fitted to censored times.",
)
@force_option
@data_argument
@with_console
def score(
    model: Path,
    source: Source,
    output: Path | None,
    keep: tuple[str, ...],
    safe_csv: bool,
    alerts: int | None,
    force: bool,
    console: Console,
    **options: Any,
) -> None:
    """Score the rows of DATA with MODEL: higher scores rank higher.

    Columns are found by name; others, such as the target and the queries, are ignored.
    Prints one line per row, in the order of DATA: the score, and the predicted class
    unless the model ranks by more than two levels. The model's own threshold has the
    best balanced accuracy in training. A threshold that 'aucmax evaluate
    --save-threshold' has stored replaces it, and a column alert is 1 where the
    prediction is positive, else 0. Scores of a model with
    queries compare rows of the same query only; copy the column of the queries (qid in
    svmlight files) with --keep.
    """
    is_folder = output is not None and output.suffix == ""
    outputs = _part_names(output, source) if output and is_folder else []
    if not is_folder:
        check_ending(output, TABLES)
    from aucmax.tables.row_drift import describe_unlike

    inputs = [model, *source.files]
    check_outputs(outputs or [output], force, inputs, makes_folder=is_folder)
    fitted = load_model(model)
    _check_options(fitted, model, keep, alerts, **options)
    counts: list[Any] = []

    def score_file(path: Path) -> Iterator[Any]:
        part = source._replace(path=path)
        for data in part.blocks(keep, **read_options(fitted)):
            columns = data.named_columns()
            names = list(columns if isinstance(columns, dict) else columns.columns)
            for name in keep:
                require_column(name, names, path)
            yield _score(data, fitted, keep, counts, **options)

    frames: Iterator[Any] = (f for path in source.files for f in score_file(path))
    if is_folder:
        import polars as pl

        frames = (pl.concat(score_file(path)) for path in source.files)
    if alerts is not None:
        frames = _flag_highest(list(frames), alerts, console)
    if safe_csv:
        frames = map(_without_formulas, frames)
    if output is None:
        _print_scores(frames, console)
    else:
        n_rows, place = _save_scores(frames, outputs or [output], force, console)
        if len(outputs) > 1:
            console.say(f"Wrote {n_rows} scores to {len(outputs)} files in {output}.")
        console.print_json(
            {"rows": n_rows, "output": str(output) if is_folder else place}
        )
    console.notes(describe_unlike(fitted, counts))


def _check_options(
    fitted: Any,
    model: Path,
    keep: tuple[str, ...],
    alerts: int | None,
    proba: bool,
    prevalence: float | None,
    threshold: float | None,
    horizon: float | None,
) -> None:
    """Reject options that do not fit the model, before any row is read."""
    if prevalence is not None and not proba:
        raise click.UsageError("--prevalence applies to probabilities; add --proba.")
    if threshold is not None and alerts is not None:
        raise click.UsageError("--threshold and --alerts are two rules; use one.")
    if proba:
        require_method(fitted, model)
    if horizon is not None:
        require_method(fitted, model, "predict_event_probability")
    has_threshold = fitted.decision_threshold_ is not None
    if threshold is not None and not has_threshold:
        raise click.UsageError(
            f"{model} ranks by levels of relevance or censored times, between which "
            "there is no --threshold."
        )
    has_alerts = alerts is not None or fitted.alert_threshold_ is not None
    is_written = {
        "score": True,
        "probability": proba or horizon is not None,
        "prediction": has_threshold and alerts is None,
        "alert": has_alerts,
    }
    for name in keep:
        if is_written.get(name):
            raise click.UsageError(
                f"--keep {name}: the output has another column {name!r}; rename that "
                "of DATA, or join the scores by the order of the rows."
            )


def require_method(model: object, path: Path, method: str = "predict_proba") -> None:
    """Reject a model that has learned no probabilities."""
    try:
        getattr(model, method)
    except AttributeError as error:
        reason = str(error.__cause__ or error).rpartition(": ")[2]
        raise click.ClickException(
            f"the model in {path} has scores, but no probabilities: {reason}"
        ) from error


def _score(
    data: Data,
    model: Any,
    keep: tuple[str, ...],
    counts: list[object],
    proba: bool,
    prevalence: float | None,
    threshold: float | None,
    horizon: float | None,
) -> object:
    """Return a frame of the scores, after the columns to keep as they are written."""
    import polars as pl

    from aucmax.tables.row_drift import count_unlike

    columns = data.named_columns() if data.written is None else data.written
    rows = data.rows
    if data.is_svmlight:  # perhaps with more features, or fewer
        rows = model.encoders_[0].frame(rows)
    scored: dict[str, Any] = {"score": model.decision_function(rows)}
    counts.append(count_unlike(model, rows, scored["score"]))
    if proba:
        chances = model.predict_proba(rows, prevalence=prevalence)
        scored["probability"] = chances[:, 1]
    if horizon is not None:
        scored["probability"] = model.predict_event_probability(rows, horizon)
    cut = model.decision_threshold_ if threshold is None else threshold
    if cut is not None:
        is_positive = (scored["score"] > cut) * 1
        scored["prediction"] = model.classes_[is_positive]
        if model.alert_threshold_ is not None:
            scored["alert"] = is_positive
    return pl.DataFrame({**{name: columns[name] for name in keep}, **scored})


def _flag_highest(frames: list[Any], n_alerts: int, console: Console) -> Iterator[Any]:
    """Flag exactly the highest-scored rows of all frames, in place of predictions."""
    import numpy as np
    import polars as pl

    scores = np.concatenate([frame["score"] for frame in frames])
    order = np.argsort(-scores, kind="stable")
    if n_alerts > scores.size:
        console.note(f"DATA has {scores.size} rows, fewer than --alerts {n_alerts}")
    is_alert = np.zeros(scores.size, dtype=int)
    is_alert[order[:n_alerts]] = 1
    if 0 < n_alerts < scores.size:
        n_tied = int((scores[order[n_alerts:]] == scores[order[n_alerts - 1]]).sum())
        if n_tied:
            console.note(f"{n_tied} more rows have the score of the last alert")
    start = 0
    for frame in frames:
        alert = pl.Series("alert", is_alert[start : start + frame.height])
        yield frame.drop("prediction", "alert", strict=False).with_columns(alert)
        start += frame.height


def _without_formulas(frame: Any) -> Any:
    import polars as pl

    cells = pl.col(pl.String)
    is_number = cells.cast(pl.Float64, strict=False).is_not_null()
    quoted = cells.str.replace(_FORMULA, "'$0")
    return frame.with_columns(pl.when(is_number).then(cells).otherwise(quoted)).rename(
        lambda name: re.sub(_FORMULA, r"'\g<0>", name)
    )


def _print_scores(frames: Iterator[Any], console: Console) -> None:
    import polars as pl

    if console.as_json:
        console.print_json(pl.concat(frames).to_dict(as_series=False))
        return
    # piece by piece, so that a reader who has seen enough stops us early
    pieces = (piece for frame in frames for piece in frame.iter_slices(4096))
    for k, piece in enumerate(pieces):
        if not echo(piece.write_csv(include_header=k == 0), nl=False, is_raw=True):
            return


def _part_names(folder: Path, data: Source) -> list[Path]:
    """Name a file of scores for each file of rows."""
    files = data.files
    stems = [data._replace(path=file).stem for file in files]
    if len(set(stems)) < len(stems):  # of several folders
        stems = [f"{k:05d}-{stem}" for k, stem in enumerate(stems)]
    endings = [file.suffix if file.suffix in TABLES else ".parquet" for file in files]
    return [folder / f"{s}{e}" for s, e in zip(stems, endings, strict=True)]


def _save_scores(
    frames: Iterator[Any], outputs: list[Path], force: bool, console: Console
) -> tuple[int, str | None]:
    """Write one file, or one per part; return the number of rows, and where."""
    import polars as pl

    from aucmax.datasets import save_table

    make_folder(outputs[0].parent)
    if len(outputs) == 1:
        scores = pl.concat(frames)
        line = f"Wrote {scores.height} scores to {{}}."
        write = partial(save_table, scores, overwrite=force)
        return scores.height, console.write(outputs[0], write, line)
    n_rows = 0
    with console.progress(f"Scoring {len(outputs)} files", len(outputs)) as step:
        for frame, output in zip(frames, outputs, strict=True):
            save_table(frame, output, overwrite=force)
            console.files.append(str(output))
            n_rows += frame.height
            step(f"{output.name}: {frame.height} scores")
    return n_rows, None
