"""``aucmax explain``: which columns a saved model's ranking depends on."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import (
    data_argument,
    force_option,
    model_argument,
    output_path,
    range_options,
    test_options,
)
from aucmax.cli.output import Console, check_outputs, make_folder, with_console
from aucmax.cli.reading import ColumnRoles, Source, drop_unknown, split_known
from aucmax.cli.score import known_columns, load_model

_BAR = 24
# Columns whose dependence is printed, and values of each.
_PRINTED = 3
_VALUES = 10
# Rows to compare single rows with, when their contributions are sampled.
_BACKGROUND_ROWS = 500


@click.command(
    cls=Command,
    short_help="Show which columns a model's ranking depends on.",
    examples=[
        "aucmax explain sick.aucmax other-patients.csv",
        "aucmax explain sick.aucmax other-patients.csv --fpr-range 0 0.1 --top 20",
        "aucmax explain sick.aucmax other-patients.csv --row 17 --row 18",
        "aucmax explain sick.aucmax other-patients.csv --top-rows 5",
        "aucmax explain sick.aucmax other-patients.csv --output-dir why --json",
    ],
)
@model_argument
@test_options
@range_options
@click.option(
    "--row",
    "row_numbers",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Show what each column adds to the score of row N of DATA, counted from 1; "
    "repeat for several.",
)
@click.option(
    "--top-rows",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the same for the N highest-scored rows.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of columns to show.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=2),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Largest number of rows to use; more are sampled at random.",
)
@click.option(
    "--output-dir",
    type=output_path,
    metavar="FOLDER",
    help="Folder for importance.csv, dependence.csv and contributions.csv.",
)
@force_option
@data_argument
@with_console
def explain(
    model: Path,
    data: Source,
    roles: ColumnRoles,
    ranges: dict[str, Any],
    row_numbers: tuple[int, ...],
    top_rows: int,
    top: int,
    max_rows: int,
    output_dir: Path | None,
    force: bool,
    console: Console,
) -> None:
    """Show which columns of DATA the ranking of MODEL depends on, and how.

    The importance of a column is the drop in AUC (with a range: partial AUC) when the
    column is shuffled, with a 95% interval; columns with the same information may each
    show little. For the most important columns it prints the mean rank of the rows with
    each value, from 0 (bottom) to 1 (top); for single rows (--row, --top-rows), what
    each column adds to their score. The scorecard of a model is printed, too. Use rows
    that the model was not fitted to.
    """
    from aucmax.inspection import (
        contributions,
        permutation_importance,
        rank_dependence,
    )
    from aucmax.model_selection.models import trained_ranges

    files = _files(output_dir, bool(row_numbers or top_rows))
    check_outputs(files.values(), force, [model, *data.files])
    fitted = load_model(model)
    test = split_known(data.read(known_columns(fitted)), data, fitted, roles)
    for number in row_numbers:
        if number > test.n_rows:
            raise click.UsageError(
                f"there is no row {number}: {data.path} has {test.n_rows} rows."
            )
    table = test.rows
    if top_rows:
        order = (-fitted.decision_function(table)).argsort(kind="stable")
        highest = (order[:top_rows] + 1).tolist()
        row_numbers = tuple(dict.fromkeys((*row_numbers, *highest)))
    test = drop_unknown(test, roles.missing_target, console)
    truth = test.match(fitted.grading_)
    rows, truth = _some_rows(test.rows, truth, max_rows)
    with console.progress(f"Shuffling the columns of {rows.shape[0]} rows", 1) as step:
        importances = permutation_importance(
            fitted, rows, truth, **(ranges or trained_ranges(fitted))
        )
        step("done")
    n_drawn = top if output_dir is not None or console.as_json else min(top, _PRINTED)
    dependences = [
        rank_dependence(fitted, rows, name, n_values=_VALUES)
        for name in importances.column[:n_drawn]
    ]
    background = rows[:_BACKGROUND_ROWS]
    parts = {
        number: contributions(fitted, table[number - 1 : number], background)
        for number in row_numbers
    }
    card = _scorecard(fitted)
    _print_importances(importances, top, console)
    for dependence in dependences[:_PRINTED]:
        _print_dependence(dependence, console)
    for number, part in parts.items():
        _print_contributions(part, number, table, top, console)
    if card is not None:
        console.say(f"\n{card}")
    _write(files, importances, dependences, parts, force, console)
    console.give(
        {
            "model": fitted.file_roles_["model"],
            "importance": importances.as_dict(),
            "dependence": [one.as_dict() for one in dependences],
            "contributions": [
                {
                    "row": number,
                    "score": float(part.scores[0]),
                    "expected": part.expected,
                    "method": part.method,
                    "columns": dict(part.top(0, len(part.column))),
                }
                for number, part in parts.items()
            ],
            "scorecard": None if card is None else str(card),
            "files": console.files,
        }
    )


def _files(folder: Path | None, has_rows: bool) -> dict[str, Path]:
    if folder is None:
        return {}
    make_folder(folder)
    names = ["importance", "dependence", *["contributions"] * has_rows]
    return {name: folder / f"{name}.csv" for name in names}


def _some_rows(rows: Any, truth: Any, max_rows: int) -> tuple[Any, Any]:
    """Draw rows at random, if there are too many."""
    import numpy as np

    if rows.shape[0] <= max_rows:
        return rows, truth
    drawn = np.random.default_rng(0).choice(rows.shape[0], max_rows, replace=False)
    drawn.sort()
    return rows[drawn], truth.take(drawn)


def _scorecard(model: Any) -> Any:
    """Return the scorecard of a model that has one, in the units of the table."""
    from aucmax.tables.encoder import encoder_and_estimator

    encoder, estimator = encoder_and_estimator(model)
    if encoder is None or not hasattr(estimator, "scorecard"):
        return None
    names = list(encoder.get_feature_names_out())
    return estimator.scorecard(feature_names=names).in_units(encoder.raw_value)


def _print_importances(found: Any, top: int, console: Console) -> None:
    from aucmax.model_selection.goals import title_of

    n_columns = len(found.column)
    console.say(
        f"{title_of(found.metric)} {found.value:.4f}; drop when a column is shuffled "
        "(95% interval):"
    )
    width = max(map(len, found.column[:top]), default=0)
    largest = max(float(found.drop[0]), 1e-12) if n_columns else 1.0
    for name, drop, low, high in zip(
        found.column[:top], found.drop, found.low, found.high, strict=False
    ):
        bar = "━" * round(_BAR * max(drop, 0.0) / largest)
        ends = f"({low:.4f} to {high:.4f})"
        console.say(f"  {name:<{width}}  {drop:>7.4f} {ends:<20} {bar}".rstrip())
    if n_columns > top:
        console.say(f"  ... and {n_columns - top} more columns (--top {n_columns})")


def _print_dependence(found: Any, console: Console) -> None:
    console.say(f"\nMean rank of the rows by {found.column} (1 is the top):")
    shown = ["(missing)" if value is None else _text(value) for value in found.values]
    width = max(map(len, shown))
    for value, rank in zip(shown, found.rank, strict=True):
        console.say(f"  {value:>{width}}  {rank:.2f} {'━' * round(_BAR * rank)}")


def _print_contributions(
    part: Any, number: int, table: Any, top: int, console: Console
) -> None:
    console.say(
        f"\nRow {number}: score {part.scores[0]:.4f}, mean {part.expected:.4f}; each "
        "column adds"
    )
    moved = part.top(0, top)
    width = max(len(name) for name, _ in moved)
    named = hasattr(table, "columns")
    for name, value in moved:
        cell = f"  ({_text(table[name][number - 1])})" if named else ""
        console.say(f"  {name:<{width}}  {value:>+9.4f}{cell}")


def _text(value: Any) -> str:
    if value is None:
        return "missing"
    text = f"{value:.5g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"


def _write(
    files: dict[str, Path],
    importances: Any,
    dependences: list[Any],
    parts: dict[int, Any],
    force: bool,
    console: Console,
) -> None:
    import polars as pl

    from aucmax.datasets import save_table

    if not files:
        return
    tables = {"importance": importances.frame()}
    frames = [
        one.frame().with_columns(
            pl.lit(one.column).alias("column"), pl.col("value").cast(pl.String)
        )
        for one in dependences
    ]
    dependence = pl.concat(frames)
    tables["dependence"] = dependence.select("column", "value", "rank", "low", "high")
    if parts:
        rows = [
            one.frame().with_columns(pl.lit(number).alias("row"))
            for number, one in parts.items()
        ]
        joined = pl.concat(rows)
        tables["contributions"] = joined.select("row", pl.exclude("row"))
    for name, table in tables.items():
        write = partial(save_table, table, overwrite=force)
        console.write(files[name], write, "Wrote {}.")
