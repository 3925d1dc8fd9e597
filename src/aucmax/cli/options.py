"""Arguments and options that several commands share."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import click

from aucmax.cli.data import QueryChoice, Source

__all__ = [
    "data_argument",
    "force_option",
    "metric_option",
    "model_argument",
    "output_path",
    "query_options",
    "range_options",
    "target_options",
]

Command: TypeAlias = Callable[..., None]
Range: TypeAlias = tuple[float, float] | None

output_path = click.Path(path_type=Path)
model_argument = click.argument("model", type=click.Path(path_type=Path))
force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


def data_argument(command: Command) -> Command:
    """Add the argument DATA with the options of its format; the command gets `data`."""

    @click.argument("path", metavar="DATA", type=click.Path(path_type=Path))
    @click.option(
        "--format",
        type=click.Choice(["csv", "tsv", "parquet", "svmlight"]),
        help="Format of DATA, if its name does not tell.",
    )
    @click.option(
        "--separator",
        metavar="CHARACTER",
        callback=lambda _, __, value: {"tab": "\t", "\\t": "\t"}.get(value, value),
        help="Character between the columns of a text table [default: a comma in .csv, "
        "a tab in .tsv files].",
    )
    @wraps(command)
    def wrapped(
        *args: Any,
        path: Path,
        format: str | None,
        separator: str | None,
        **options: Any,
    ) -> None:
        command(*args, data=Source(path, format, separator), **options)

    return wrapped


def target_options(command: Command) -> Command:
    """Add ``--target``, ``--positive`` and ``--drop``."""
    for option in (
        click.option(
            "--drop",
            multiple=True,
            metavar="COLUMN",
            help="Column to leave out; may be repeated.",
        ),
        click.option(
            "--positive",
            metavar="VALUE",
            help="Value of the target to rank above all others [default: the larger of "
            "two numbers, the one of two texts that means yes (yes, true, positive, "
            "...), else the rarer].",
        ),
        click.option(
            "--target",
            metavar="COLUMN",
            help="Column to predict; svmlight files need none.",
        ),
    ):
        command = option(command)
    return command


def query_options(command: Command) -> Command:
    """Add ``--qid`` and ``--no-qid``; the command gets `queries`."""

    @click.option(
        "--qid",
        metavar="COLUMN",
        help="Column that names the query of each row: rows are ranked within their "
        "query. svmlight files bring their own (qid:7).",
    )
    @click.option(
        "--no-qid",
        is_flag=True,
        help="Rank all rows together even if there are queries.",
    )
    @wraps(command)
    def wrapped(*args: Any, qid: str | None, no_qid: bool, **options: Any) -> None:
        if no_qid and qid is not None:
            raise click.UsageError("--no-qid contradicts --qid.")
        command(*args, queries=QueryChoice(qid, no_qid), **options)

    return wrapped


def _check_range(
    _: click.Context, __: click.Parameter, value: tuple[float, float] | None
) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = value
    if not 0 <= low < high <= 1:
        raise click.BadParameter(f"need 0 <= LOW < HIGH <= 1, got {low:g} {high:g}.")
    return value


def _range_option(name: str, help: str) -> Callable[[Command], Command]:
    return click.option(
        name, nargs=2, type=float, metavar="LOW HIGH", callback=_check_range, help=help
    )


def range_options(command: Command) -> Command:
    """Add ``--fpr-range`` and ``--tpr-range``; the command gets `ranges`."""

    @_range_option(
        "--fpr-range",
        "Range of false-positive rates that counts, such as 0 0.1 for the top of the "
        "list: by its partial AUC models are trained, chosen and tested.",
    )
    @_range_option("--tpr-range", "Range of true-positive rates that counts, likewise.")
    @wraps(command)
    def wrapped(*args: Any, fpr_range: Range, tpr_range: Range, **options: Any) -> None:
        ranges = {"fpr_range": fpr_range, "tpr_range": tpr_range}
        given = {name: ends for name, ends in ranges.items() if ends is not None}
        command(*args, ranges=given, **options)

    return wrapped


metric_option = click.option(
    "--metric",
    metavar="NAME",
    help="What decides, and has interval and test: auc, partial_auc; with levels of "
    "relevance mauc, ordinal_auc; with queries ndcg, map [default: partial_auc if "
    "there is a range, else auc, or mauc].",
)
