"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path

import click

__all__ = ["check_fpr_range", "force_option", "fpr_range_option", "output_path"]

output_path = click.Path(path_type=Path)


def check_fpr_range(
    _: click.Context, __: click.Parameter, value: tuple[float, float]
) -> tuple[float, float]:
    """Refuse a range of false-positive rates that is none."""
    low, high = value
    if not 0 <= low < high <= 1:
        raise click.BadParameter(f"need 0 <= LOW < HIGH <= 1, got {low:g} {high:g}.")
    return value


def fpr_range_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--fpr-range``."""
    option: Callable[..., Callable[..., None]] = click.option(
        "--fpr-range",
        nargs=2,
        type=float,
        default=(0.0, 0.1),
        show_default=True,
        metavar="LOW HIGH",
        callback=check_fpr_range,
        help="False-positive rates over which the partial AUC is taken.",
    )
    return option(command)


def force_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Replace files that exist.")(
        command
    )
