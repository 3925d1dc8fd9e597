"""``aucmax plan``: the sample size or the power of a study of areas."""

from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import range_options
from aucmax.cli.output import Console, with_console
from aucmax.cli.reading import Source, require_column


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
@click.option("--auc", type=float, help="AUC to detect, or partial AUC of a range.")
@click.option("--null", type=float, help="AUC to test against [default: 0.5].")
@click.option("--auc-b", type=float, help="AUC of a second model to compare with.")
@click.option("--positives", "n_positive", type=int, help="Number of positive rows.")
@click.option("--power", type=float, help="Probability to detect the AUC.")
@click.option(
    "--level",
    type=float,
    help="Two-sided level of the test [default: 0.05, unless all else is given].",
)
@click.option(
    "--ratio",
    type=float,
    default=1.0,
    show_default=True,
    help="Negative rows per positive row.",
)
@click.option(
    "--correlation",
    type=float,
    default=0.5,
    show_default=True,
    help="Correlation of the scores of two models within a class.",
)
@click.option("--unpaired", is_flag=True, help="Two models have different rows.")
@click.option(
    "--design-effect",
    type=float,
    default=1.0,
    show_default=True,
    help="Factor by which clusters enlarge the variance.",
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
    console: Console,
    **options: Any,
) -> None:
    """Plan a study that measures an AUC, or compares two.

    Give all but one of --auc, --positives, --power and --level: the missing one is
    computed. Prints a sentence for a protocol.
    """
    from aucmax.metrics import plan_auc

    if level is None and None in (
        *(options[name] for name in ("n_positive", "power")),
        *(() if pilot else (options["auc"],)),
    ):
        level = 0.05
    if pilot is None and (target or score):
        raise click.UsageError("--target and --score describe the file of --pilot.")
    rows = None if pilot is None else _read_pilot(pilot, target, score)
    try:
        found = plan_auc(
            **options, **ranges, level=level, paired=not unpaired, pilot=rows
        )
    except ValueError as error:
        message = str(error).replace("n_positive", "--positives")
        raise click.UsageError(message) from error
    console.say(str(found))
    record = asdict(found).items()
    console.give(
        {k: None if isinstance(v, float) and isnan(v) else v for k, v in record}
    )


def _read_pilot(path: Path, target: str | None, scores: tuple[str, ...]) -> Any:
    """Return labels and scores of the pilot's table."""
    if target is None or len(scores) not in (1, 2):
        raise click.UsageError("--pilot needs --target and one or two of --score.")
    table = Source(path).read().rows
    for name in (target, *scores):
        require_column(name, getattr(table, "columns", ()), path)
    return tuple(table[name].to_numpy() for name in (target, *scores))
