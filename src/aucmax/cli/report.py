"""``aucmax report``: one page on how well a saved model ranks other rows."""

from functools import partial
from pathlib import Path

import click

from aucmax.cli.entry_point import Command, typed_command
from aucmax.cli.options import (
    by_option,
    data_argument,
    force_option,
    metric_option,
    model_argument,
    output_path,
    range_option,
    test_options,
    without_none,
)
from aucmax.cli.output import (
    REPORTS,
    Console,
    check_ending,
    check_outputs,
    with_console,
)
from aucmax.cli.reading import Source, load_with_rows, take_column


@click.command(
    cls=Command,
    short_help="Write a report on a model, one HTML page.",
    examples=[
        "aucmax report sick.aucmax other-patients.csv",
        "aucmax report sick.aucmax other-patients.csv --title 'Sick in spring'",
        "aucmax report sick.aucmax other-patients.csv --output sick.md",
        "aucmax report sick.aucmax other-patients.csv --by sex",
    ],
)
@model_argument
@click.option(
    "--output",
    "-o",
    type=output_path,
    help="File for the page, .html or .md [default: MODEL-report.html].",
)
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@test_options
@range_option
@metric_option
@by_option
@force_option
@data_argument
@with_console
def report(
    model: Path,
    source: Source,
    output: Path | None,
    title: str | None,
    fpr_range: tuple[float, float] | None,
    metric: str | None,
    by: str | None,
    force: bool,
    console: Console,
    **roles: str | None,
) -> None:
    """Write a report on how well MODEL ranks the rows of DATA, whose target is known.

    One file that needs no network: the verdict, the ROC curve, the positives found per
    number of cases reviewed, calibration, the importance of the columns, checks of the
    data, and the steps to reproduce it. Use rows that the model was not fitted to.
    """
    from aucmax.report import report_model

    output = output or Path(f"{model.stem}-report.html")
    check_ending(output, REPORTS)
    check_outputs([output], force, [model, *source.files])
    fitted, test, truth = load_with_rows(model, source, roles, console)
    name = fitted.file_roles_["model"]
    page = report_model(
        fitted,
        test.rows,
        truth,
        metric=metric,
        by=take_column(test, by, source.path),
        **without_none(fpr_range=fpr_range),
        name=name,
        title=title or f"How well does {name} rank by {test.order}?",
        reproduction={
            "command": typed_command(click.get_current_context()),
            "model": model.name,
            "data": source.path.name,
        },
        time_unit=test.time_unit,
    )
    console.say(page.contents["verdict"])
    place = console.write(output, partial(page.save, overwrite=force), "Report: {}")
    console.print_json({"report": place, "verdict": page.contents["verdict"]})
