"""``aucmax plan``: the sample size or the power of a study of areas."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import flag, range_options
from aucmax.cli.output import Console, with_console
from aucmax.cli.reading import Source, require_column

# names in Python, with default and help
_NUMBERS: dict[str, tuple[float | None, str]] = {
    "auc": (None, "AUC to detect, or partial AUC of a range."),
    "null": (None, "AUC to test against [default: 0.5]."),
    "auc_b": (None, "AUC of a second model to compare with."),
    "positives": (None, "Number of positive rows."),
    "power": (None, "Probability to detect the AUC."),
    "level": (None, "Two-sided level [default: 0.05, unless all else is given]."),
    "ratio": (1.0, "Negative rows per positive row."),
    "correlation": (0.5, "Correlation of the scores of two models within a class."),
    "design_effect": (1.0, "Factor by which clusters enlarge the variance."),
}


def _numbers(command: Any) -> Any:
    for name, (default, help) in reversed(_NUMBERS.items()):
        kind = int if name == "positives" else float
        shown = default is not None
        command = click.option(
            flag(name), type=kind, default=default, show_default=shown, help=help
        )(command)
    return command


@click.command(
    cls=Command,
    short_help="Plan the sample size or the power of a study.",
    examples=[
        "aucmax plan --auc 0.75 --null 0.65 --power 0.8",
        "aucmax plan --auc 0.75 --null 0.65 --positives 60 --ratio 3",
        "aucmax plan --auc 0.85 --auc-b 0.8 --correlation 0.6 --power 0.9",
        "aucmax plan --positives 200 --power 0.8 --null 0.7",
        "aucmax plan --power 0.8 --pilot scores.csv --target sick --score a --score b",
    ],
)
@_numbers
@click.option(
    "--unpaired", is_flag=True, help="The two models are tested on different rows."
)
@range_options
@click.option(
    "--method",
    type=click.Choice(["delong", "obuchowski"]),
    default="delong",
    show_default=True,
    help="Variance of this program's tests, or published formulas (as pROC).",
)
@click.option(
    "--pilot",
    type=click.Path(path_type=Path),
    metavar="DATA",
    help="Table of a pilot study, with --target and --score.",
)
@click.option("--target", metavar="COLUMN", help="Column of labels of the pilot.")
@click.option(
    "--score",
    multiple=True,
    metavar="COLUMN",
    help="Column of scores of the pilot; repeat for a second model.",
)
@with_console
def plan(
    ranges: dict[str, Any],
    unpaired: bool,
    pilot: Path | None,
    target: str | None,
    score: tuple[str, ...],
    level: float | None,
    positives: int | None,
    console: Console,
    **options: Any,
) -> None:
    """Plan a study that measures an AUC, or compares two.

    Give all but one of --auc, --positives, --power and --level: the missing one is
    computed. Prints a sentence for a protocol.
    """
    from aucmax.metrics import plan_auc
    from aucmax.metrics.results import to_plain

    area = options["auc"] if pilot is None else 1.0  # a pilot has one
    if level is None and None in (positives, options["power"], area):
        level = 0.05
    if pilot is None and (target or score):
        raise click.UsageError("--target and --score describe the file of --pilot.")
    rows = None if pilot is None else _read_pilot(pilot, target, score)
    try:
        found = plan_auc(
            **options,
            **ranges,
            n_positive=positives,
            level=level,
            paired=not unpaired,
            pilot=rows,
        )
    except (TypeError, ValueError) as error:
        message = str(error).replace("n_positive", "--positives")
        raise click.UsageError(message) from error
    console.say(str(found))
    console.give(to_plain(found))


def _read_pilot(path: Path, target: str | None, scores: tuple[str, ...]) -> Any:
    """Return labels and scores of the pilot's table."""
    if target is None or len(scores) not in (1, 2):
        raise click.UsageError("--pilot needs --target and one or two of --score.")
    table = Source(path).read().rows
    for name in (target, *scores):
        require_column(name, getattr(table, "columns", ()), path)
    return tuple(table[name].to_numpy() for name in (target, *scores))
