"""Arguments and options that several commands share."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import click

Command: TypeAlias = Callable[..., None]
Option: TypeAlias = Callable[[Command], Command]


def _together(*options: Option) -> Option:
    """Return a decorator that adds options, the first on top in the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def without_none(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def flag(name: str) -> str:
    """Return the option of a parameter."""
    return f"--{name.replace('_', '-')}"


output_path = click.Path(path_type=Path)
model_argument = click.argument("model", type=click.Path(path_type=Path))
force_option = click.option("--force", is_flag=True, help="Replace files that exist.")
by_option = click.option(
    "--by",
    metavar="COLUMN",
    help="Column of groups of people to compare: AUC within and between groups, recall "
    "and false positive rate.",
)
metric_option = click.option(
    "--metric",
    metavar="NAME",
    help="Main metric, with interval and test: auc, partial_auc; for the top of "
    "the list average_precision, precision@100, recall@100, recall@fpr=0.01, "
    "recall@precision=0.9, precision@recall=0.8; gini, ks; with levels of "
    "relevance mauc, ordinal_auc; with queries ndcg (all ranks), ndcg@10 (or "
    "another number), map [default: partial_auc if there is a range, else auc; for "
    "levels ndcg@10 with queries, and mauc without].",
)


def _check_range(
    _: click.Context, __: click.Parameter, value: tuple[float, float] | None
) -> tuple[float, float] | None:
    from aucmax._core.parameters import check_range

    return value if value is None else check_range("fpr_range", value)


range_option = click.option(
    "--fpr-range",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    callback=_check_range,
    help="Range of false positive rates, such as 0 0.1 for the top of the list: the "
    "partial AUC over it is the metric.",
)


def check_model(name: str) -> str:
    """Return the name of a model of the list; reject any other."""
    from aucmax.model_selection.models import find_model

    try:
        find_model(name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return name


def time_limit_option(help: str) -> Option:
    """Return ``--time-limit``; each command has its own default."""
    seconds = click.FloatRange(min=1)
    return click.option("--time-limit", type=seconds, metavar="SECONDS", help=help)


# parameters of `load_table` for --read; a model stores those of its training file
_READ_PARAMETERS = ("decimal", "separator", "encoding", "sheet")


def _parse_read(
    _: click.Context, __: click.Parameter, settings: tuple[str, ...]
) -> dict[str, str]:
    options = {}
    for setting in settings:
        name, value = (*setting.split("=", 1), "")[:2]
        if not value or name not in _READ_PARAMETERS:
            raise click.BadParameter(
                f"need NAME=VALUE with one of {', '.join(_READ_PARAMETERS)}, got "
                f"{setting!r}."
            )
        options[name] = value.replace(r"\t", "\t")
    return options


def data_argument(command: Command) -> Command:
    """Add the argument DATA; the command gets a `source`."""

    @click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
    @click.option(
        "--read",
        "read_options",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_parse_read,
        help="How to read DATA: decimal=, for decimal commas, separator=^, "
        "encoding=cp1251, sheet=NAME; may be repeated [default: as the model's "
        "training file, else detected, with a decimal point].",
    )
    @wraps(command)
    def wrapped(
        *args: Any, data: Path, read_options: dict[str, str], **options: Any
    ) -> None:
        from aucmax.cli.reading import Source

        command(*args, source=Source(data, read_options), **options)

    return wrapped


_qid_option = click.option(
    "--qid",
    metavar="COLUMN",
    help="Column with the query of each row: rows are ranked within their query; with "
    "--duration, strata. svmlight files have their own (qid:7).",
)
_weight_option = click.option(
    "--sample-weight",
    metavar="COLUMN",
    help="Column of row weights, for training and all metrics.",
)

training_options = _together(
    click.option(
        "--target",
        metavar="COLUMN",
        help="Column to predict; svmlight files need none.",
    ),
    click.option(
        "--pos-label",
        metavar="VALUE",
        help="Value of the target that is positive [default: the larger of two "
        "numbers; of two strings the one that reads like an event (yes, positive, "
        "fraud, failed, ...), else the rarer].",
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="Column to drop; repeat for several.",
    ),
    _qid_option,
    _weight_option,
    click.option(
        "--groups",
        metavar="COLUMN",
        help="Column with the group of each row, such as a patient: all rows of a "
        "group are in the same fold.",
    ),
    click.option(
        "--times",
        metavar="COLUMN",
        help="Column with the time of each row, dates or numbers: models are tested on "
        "later rows than they learn from.",
    ),
    click.option(
        "--duration",
        metavar="COLUMN",
        help="Column with the time until the event, or until the row was censored: "
        "models rank rows with early events high. The target is then 1 where the event "
        "was observed and 0 where the row was censored; --pos-label names another code "
        "of the event.",
    ),
)

test_options = _together(
    click.option(
        "--target",
        metavar="COLUMN",
        help="Column with the true values [default: the target of training].",
    ),
    _qid_option,
    _weight_option,
)

# rules for a threshold, by their names in Python
CUTS = {
    "recall": (
        "SHARE",
        "Smallest set of alerts that finds at least SHARE of the positives.",
    ),
    "fpr": (
        "SHARE",
        "Largest set of alerts with a false positive rate of at most SHARE.",
    ),
    "precision": ("SHARE", "Largest set of alerts with a precision of at least SHARE."),
    "alerts": ("N", "Flag the N highest-scored rows; below 1, this share of them."),
    "costs": (
        "MISSED ALARM",
        "Costs of a miss and a false alarm; the least decides.",
    ),
    "threshold": ("SCORE", "Flag rows with a score above SCORE."),
}
cut_options = _together(
    *(
        click.option(
            flag(name), type=float, nargs=len(unit.split()), metavar=unit, help=help
        )
        for name, (unit, help) in CUTS.items()
    )
)


def check_cut(**values: Any) -> dict[str, Any]:
    """Return the rule for a threshold that was given; reject several."""
    cut = without_none(**values)
    if len(cut) > 1:
        flags = " and ".join(map(flag, cut))
        raise click.UsageError(f"give one rule for the threshold, not {flags}.")
    return cut
