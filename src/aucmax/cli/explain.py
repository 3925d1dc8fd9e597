"""``aucmax explain``: which columns a saved model's ranking depends on."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import (
    data_argument,
    model_argument,
    range_option,
    test_options,
    without_none,
)
from aucmax.cli.output import Console, with_console
from aucmax.cli.reading import Source, load_model, load_with_rows, read_options

# Columns whose dependence is printed, and values of each.
_PRINTED = 3
_VALUES = 10
# Rows to compare single rows with, when their contributions are sampled.
_BACKGROUND_ROWS = 500
# Rows per class whose columns are shuffled; the AUC does not depend on class shares.
_MAX_ROWS_PER_CLASS = 1_000


@click.command(
    cls=Command,
    short_help="Show which columns a model's ranking depends on.",
    examples=[
        "aucmax explain sick.aucmax other-patients.csv",
        "aucmax explain sick.aucmax other-patients.csv --fpr-range 0 0.1 --top 20",
        "aucmax explain sick.aucmax other-patients.csv --row 17 --row 18",
        "aucmax explain sick.aucmax other-patients.csv --top-rows 5",
        "aucmax explain sick.aucmax other-patients.csv --json",
    ],
)
@model_argument
@test_options
@range_option
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
@data_argument
@with_console
def explain(
    model: Path,
    source: Source,
    fpr_range: tuple[float, float] | None,
    row_numbers: tuple[int, ...],
    top_rows: int,
    top: int,
    console: Console,
    **roles: str | None,
) -> None:
    """Show which columns of DATA the ranking of MODEL depends on, and how.

    The importance of a column is the drop in AUC (with a range: partial AUC) when the
    column is shuffled, with a 95% interval; columns with the same information may each
    show little. For the most important columns it prints the mean rank of the rows with
    each value, from 0 (bottom) to 1 (top). The scorecard of a model is printed, too.
    Use rows that the model was not fitted to.

    With --row or --top-rows it prints instead what each column adds to the score of
    these rows, compared with other rows of DATA, which then need no target.
    """
    if row_numbers or top_rows:
        _explain_rows(load_model(model), source, row_numbers, top_rows, top, console)
        return
    from aucmax.inspection import permutation_importance
    from aucmax.inspection.dependence import rank_dependence
    from aucmax.model_selection.models import trained_ranges
    from aucmax.tables.folds import sample_classes

    fitted, test, truth = load_with_rows(model, source, roles, console)
    sample = sample_classes(truth, _MAX_ROWS_PER_CLASS)
    rows, truth = test.rows[sample], truth.take(sample)
    ranges = without_none(fpr_range=fpr_range) or trained_ranges(fitted)
    title = f"Shuffling the columns of {rows.shape[0]} rows"
    columns = fitted.encoders_[0].columns_
    with console.progress(title, len(columns)) as step:
        importances = permutation_importance(
            fitted, rows, truth, n_repeats=1, progress=step, **ranges
        )
    n_drawn = top if console.as_json else min(top, _PRINTED)
    dependences = [
        rank_dependence(fitted, rows, name, n_values=_VALUES)
        for name in importances.column[:n_drawn]
    ]
    card = _scorecard(fitted)
    _print_importances(importances, top, console)
    for dependence in dependences[:_PRINTED]:
        console.say(f"\n{dependence}")
    if card is not None:
        console.say(f"\n{card}")
    console.print_json(
        {
            "model": fitted.file_roles_["model"],
            "importance": importances.to_dict(),
            "dependence": [one.to_dict() for one in dependences],
            "scorecard": None if card is None else str(card),
        }
    )


def _explain_rows(
    model: Any,
    source: Source,
    row_numbers: tuple[int, ...],
    top_rows: int,
    top: int,
    console: Console,
) -> None:
    """Print what each column adds to the scores of rows, counted from 1."""
    from aucmax.inspection import contributions

    data = source.read(**read_options(model))
    table = model.encoders_[0].frame(data.rows) if data.is_svmlight else data.rows
    for number in row_numbers:
        if number > data.n_rows:
            raise click.UsageError(
                f"there is no row {number}: {source.path} has {data.n_rows} rows."
            )
    if top_rows:
        order = (-model.decision_function(table)).argsort(kind="stable")
        highest = (order[:top_rows] + 1).tolist()
        row_numbers = tuple(dict.fromkeys((*row_numbers, *highest)))
    background = table[:: max(data.n_rows // _BACKGROUND_ROWS, 1)]
    records = []
    for number in row_numbers:
        part = contributions(model, table[number - 1 : number], background)
        _print_contributions(part, number, table, top, console)
        records.append(
            {
                "row": number,
                "score": float(part.scores[0]),
                "expected": part.expected,
                "method": part.method,
                "columns": dict(part.top(0, len(part.column))),
            }
        )
    record = {"model": model.file_roles_["model"], "contributions": records}
    console.print_json(record)


def _scorecard(model: object) -> Any:
    """Return the scorecard of a model that has one, in the units of the table."""
    from aucmax.tables.encoder import encoder_and_estimator

    encoder, estimator = encoder_and_estimator(model)
    if encoder is None or not hasattr(estimator, "scorecard"):
        return None
    names = list(encoder.get_feature_names_out())
    return estimator.scorecard(feature_names=names).in_units(encoder.raw_value)


def _print_importances(importances: Any, top: int, console: Console) -> None:
    from aucmax.metrics.metric_names import metric_title

    console.say(
        f"{metric_title(importances.metric)} {importances.value:.4f}; drop when a "
        "column is shuffled (95% interval):"
    )
    table = importances.to_frame().head(top)
    width = table["column"].str.len_chars().max()
    for name, drop, low, high in table.rows():
        console.say(f"  {name:<{width}}  {drop:>7.4f} ({low:.4f} to {high:.4f})")
    if (n_columns := len(importances.column)) > top:
        console.say(f"  ... and {n_columns - top} more columns (--top {n_columns})")


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


def _text(value: object) -> str:
    if value is None:
        return "missing"
    text = f"{value:.5g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"
