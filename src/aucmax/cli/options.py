"""Arguments and options that several commands share."""

from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import click

from aucmax.cli.reading import ColumnRoles, QueryChoice, RowColumns, Source

Command: TypeAlias = Callable[..., None]
Option: TypeAlias = Callable[[Command], Command]


def _together(*options: Option) -> Option:
    """Return a decorator that adds options, the first on top in the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _combined(name: str, make: Callable[..., Any], **options: Option) -> Option:
    """Add options; the command gets what `make` returns for their values as `name`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*args: Any, **values: Any) -> None:
            own = {option: values.pop(option) for option in options}
            command(*args, **{name: make(**own)}, **values)

        return _together(*options.values())(wrapped)

    return decorate


def _given(**values: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def flag(name: str) -> str:
    """Return the option of a parameter."""
    return f"--{name.replace('_', '-')}"


output_path = click.Path(path_type=Path)
model_argument = click.argument("model", type=click.Path(path_type=Path))
report_option = click.option(
    "--report",
    type=output_path,
    metavar="PAGE",
    help="File for a report to share, .html or .md.",
)
force_option = click.option("--force", is_flag=True, help="Replace files that exist.")
prevalence_option = click.option(
    "--prevalence",
    type=float,
    metavar="SHARE",
    help="Share of positives where the model is used, if it differs from training.",
)
missing_target_option = click.option(
    "--missing-target",
    type=click.Choice(["drop", "error"]),
    default="drop",
    show_default=True,
    help="Drop rows without a target, or raise an error.",
)
by_option = click.option(
    "--by",
    metavar="COLUMN",
    help="Column of groups of people to compare: AUC within and between groups, recall "
    "and false positive rate.",
)
weight_option = click.option(
    "--weight",
    metavar="COLUMN",
    help="Column of row weights, for training and all metrics.",
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


def time_limit_option(help: str) -> Option:
    """Return ``--time-limit``; each command has its own default."""
    seconds = click.FloatRange(min=1)
    return click.option("--time-limit", type=seconds, metavar="SECONDS", help=help)


def limit_parameters(
    models: Collection[str], time_limit: float | None
) -> dict[str, Any]:
    """Return the parameters of auto; reject a limit without it."""
    if time_limit is None:
        return {}
    if "auto" not in models:
        raise click.UsageError("--time-limit applies to the model auto only.")
    return {"time_limit": time_limit}


def _limit_memory(ctx: click.Context, _: click.Parameter, gb: float | None) -> None:
    if gb is not None:
        from aucmax.datasets import max_memory

        ctx.with_resource(max_memory(1e9 * gb))


_max_memory_option = click.option(
    "--max-memory",
    type=click.FloatRange(min=0, min_open=True),
    metavar="GB",
    expose_value=False,
    is_eager=True,
    callback=_limit_memory,
    help="Largest memory for a file, in gigabytes [default: the free memory, or less "
    "for a small file].",
)

_source = _combined(
    "data",
    Source,
    path=click.argument("path", metavar="DATA", type=click.Path(path_type=Path)),
    format=click.option(
        "--format",
        type=click.Choice(
            ["csv", "tsv", "parquet", "feather", "jsonl", "excel", "svmlight"]
        ),
        help="Format of DATA [default: by its name].",
    ),
    separator=click.option(
        "--separator",
        metavar="CHARACTER",
        callback=lambda _, __, value: {"tab": "\t", "\\t": "\t"}.get(value, value),
        help="Column separator of .csv and .tsv files [default: detected in .csv, tab "
        "in .tsv].",
    ),
    decimal=click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal mark of .csv and .tsv files [default: that of the model's "
        "training file, else a point].",
    ),
    encoding=click.option(
        "--encoding",
        metavar="NAME",
        default="auto",
        help="Encoding of .csv and .tsv files, such as latin-1 [default: detected].",
    ),
    sheet=click.option(
        "--sheet",
        metavar="NAME",
        help="Sheet of a spreadsheet [default: the first].",
    ),
)


# the argument DATA with the options of its format; the command gets `data`
data_argument = _together(_source, _max_memory_option)

target_options = _together(
    click.option(
        "--target",
        metavar="COLUMN",
        help="Column to predict; svmlight files need none.",
    ),
    click.option(
        "--positive",
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
)


def _query_choice(qid: str | None, no_qid: bool) -> QueryChoice:
    if no_qid and qid is not None:
        raise click.UsageError("--no-qid contradicts --qid.")
    return QueryChoice(qid, no_qid)


query_options = _combined(
    "queries",
    _query_choice,
    qid=click.option(
        "--qid",
        metavar="COLUMN",
        help="Column with the query of each row: rows are ranked within their query. "
        "svmlight files have their own (qid:7).",
    ),
    no_qid=click.option(
        "--no-qid",
        is_flag=True,
        help="Rank all rows together even if there are queries.",
    ),
)

row_options = _combined(
    "row_columns",
    RowColumns,
    weight=weight_option,
    groups=click.option(
        "--groups",
        metavar="COLUMN",
        help="Column with the group of each row, such as a patient: all rows of a "
        "group are in the same fold.",
    ),
    time=click.option(
        "--time",
        metavar="COLUMN",
        help="Column with the time of each row, dates or numbers: models are tested on "
        "later rows than they learn from.",
    ),
    duration=click.option(
        "--duration",
        metavar="COLUMN",
        help="Column with the time until the event, or until the row was censored: "
        "models rank rows with early events high. Needs --event.",
    ),
    event=click.option(
        "--event",
        metavar="COLUMN",
        help="Column that is 1 where the event was observed and 0 where the row was "
        "censored; --positive names another code of the event.",
    ),
)

test_options = _combined(
    "roles",
    ColumnRoles,
    target=click.option(
        "--target",
        metavar="COLUMN",
        help="Column with the true values [default: the target of training].",
    ),
    missing_target=missing_target_option,
    queries=query_options,
    weight=weight_option,
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
    "alerts": ("N", "Flag the N highest-scored rows."),
    "alert_rate": ("SHARE", "Flag the highest-scored SHARE of the rows."),
    "cost_missed": ("COST", "Cost of a missed positive, with --cost-alarm."),
    "cost_alarm": ("COST", "Cost of a false alarm; the lowest total cost decides."),
    "threshold": ("SCORE", "Flag rows with a score above SCORE."),
}


def _cut(**values: float | None) -> dict[str, float]:
    cut, costs = _given(**values), {"cost_missed", "cost_alarm"}
    if len(cut.keys() & costs) == 1:
        raise click.UsageError("--cost-missed and --cost-alarm must be given together.")
    if len(cut) > 1 and cut.keys() != costs:
        flags = " and ".join(map(flag, cut))
        raise click.UsageError(f"give one rule for the threshold, not {flags}.")
    return cut


cut_options = _combined(
    "cut",
    _cut,
    **{
        name: click.option(flag(name), type=float, metavar=unit, help=help)
        for name, (unit, help) in CUTS.items()
    },
)


def _check_range(
    _: click.Context, __: click.Parameter, value: tuple[float, float] | None
) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = value
    if not 0 <= low < high <= 1:
        raise click.BadParameter(f"need 0 <= LOW < HIGH <= 1, got {low:g} {high:g}.")
    return value


def _range_option(name: str, help: str) -> Option:
    return click.option(
        name, nargs=2, type=float, metavar="LOW HIGH", callback=_check_range, help=help
    )


range_options = _combined(
    "ranges",
    _given,
    fpr_range=_range_option(
        "--fpr-range",
        "Range of false positive rates, such as 0 0.1 for the top of the list: the "
        "partial AUC over it is the metric.",
    ),
    tpr_range=_range_option(
        "--tpr-range", "Range of true positive rates (sensitivity)."
    ),
)
