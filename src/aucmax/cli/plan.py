"""``aucmax plan``: the sample size or the power of a study of areas."""

from typing import Any

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import flag, range_option, without_none
from aucmax.cli.output import Console, with_console

# names in Python, with default and help
_NUMBERS: dict[str, tuple[float | None, str]] = {
    "auc": (None, "AUC to detect, or partial AUC of a range."),
    "null": (None, "AUC to test against [default: 0.5]."),
    "auc_2": (None, "AUC of a second model to compare with."),
    "n_positive": (None, "Number of positive rows."),
    "power": (None, "Probability to detect the AUC."),
    "level": (None, "Two-sided level [default: 0.05, unless all else is given]."),
    "width": (None, "Width of the interval of an AUC, in place of a power."),
    "prevalence": (0.5, "Share of positive rows."),
    "correlation": (0.5, "Correlation of the scores of two models within a class."),
    "design_effect": (1.0, "Factor by which clusters enlarge the variance."),
}


def _numbers(command: Any) -> Any:
    for name, (default, help) in reversed(_NUMBERS.items()):
        kind = int if name == "n_positive" else float
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
        "aucmax plan --auc 0.75 --null 0.65 --n-positive 60 --prevalence 0.25",
        "aucmax plan --auc 0.85 --auc-2 0.8 --correlation 0.6 --power 0.9",
        "aucmax plan --n-positive 200 --power 0.8 --null 0.7",
        "aucmax plan --auc 0.8 --width 0.1 --prevalence 0.1",
    ],
)
@_numbers
@click.option(
    "--unpaired", is_flag=True, help="The two models are tested on different rows."
)
@range_option
@click.option(
    "--method",
    type=click.Choice(["delong", "obuchowski"]),
    default="delong",
    show_default=True,
    help="Variance of this program's tests, or published formulas (as pROC).",
)
@with_console
def plan(
    fpr_range: tuple[float, float] | None,
    unpaired: bool,
    console: Console,
    **options: Any,
) -> None:
    """Plan a study that measures an AUC, or compares two.

    Give all but one of --auc, --n-positive, --power and --level: the missing one is
    computed. Or give --auc and the --width of its interval. Prints a sentence for a
    protocol.
    """
    from aucmax.inference import plan_auc
    from aucmax.inference.results import to_plain

    is_given = (options[name] is not None for name in ("n_positive", "power", "auc"))
    if options["level"] is None and not all(is_given):
        options["level"] = 0.05
    options |= without_none(fpr_range=fpr_range)
    try:
        planned = plan_auc(paired=not unpaired, **options)
    except (TypeError, ValueError) as error:
        message = str(error).replace("n_positive", "--n-positive")
        raise click.UsageError(message) from error
    console.say(str(planned))
    console.print_json(to_plain(planned))
