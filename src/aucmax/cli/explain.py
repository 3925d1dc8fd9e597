"""``aucmax explain``: which columns a saved model's ranking depends on."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import (
    data_argument,
    given,
    model_argument,
    range_option,
    test_options,
)
from aucmax.cli.output import Console, with_console
from aucmax.cli.reading import Source, drop_unknown, read_known
from aucmax.cli.score import load_model

_BAR = 24
# Columns whose dependence is printed, and values of each.
_PRINTED = 3
_VALUES = 10
# Rows to compare single rows with, when their contributions are sampled.
_BACKGROUND_ROWS = 500
# Rows whose columns are shuffled.
_MAX_ROWS = 10_000


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
    data: Path,
    decimal: str | None,
    target: str | None,
    qid: str | None,
    weight: str | None,
    fpr_range: tuple[float, float] | None,
    row_numbers: tuple[int, ...],
    top_rows: int,
    top: int,
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
    from aucmax.inspection import contributions, permutation_importance
    from aucmax.inspection.dependence import rank_dependence
    from aucmax.model_selection.models import trained_ranges

    fitted = load_model(model)
    test = read_known(Source(data, decimal), fitted, target, qid, weight)
    for number in row_numbers:
        if number > test.n_rows:
            raise click.UsageError(
                f"there is no row {number}: {data} has {test.n_rows} rows."
            )
    table = test.rows
    if top_rows:
        order = (-fitted.decision_function(table)).argsort(kind="stable")
        highest = (order[:top_rows] + 1).tolist()
        row_numbers = tuple(dict.fromkeys((*row_numbers, *highest)))
    test = drop_unknown(test, console)
    truth = test.match(fitted.grading_)
    rows, truth = _some_rows(test.rows, truth)
    ranges = given(fpr_range=fpr_range) or trained_ranges(fitted)
    with console.progress(f"Shuffling the columns of {rows.shape[0]} rows", 1) as step:
        importances = permutation_importance(fitted, rows, truth, **ranges)
        step("done")
    n_drawn = top if console.as_json else min(top, _PRINTED)
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
    console.print_json(
        {
            "model": fitted.file_roles_["model"],
            "importance": importances.to_dict(),
            "dependence": [one.to_dict() for one in dependences],
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
        }
    )


def _some_rows(rows: Any, truth: Any) -> tuple[Any, Any]:
    """Draw rows at random, if there are too many."""
    import numpy as np

    if rows.shape[0] <= _MAX_ROWS:
        return rows, truth
    drawn = np.random.default_rng(0).choice(rows.shape[0], _MAX_ROWS, replace=False)
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
