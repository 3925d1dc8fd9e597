"""``aucmax compare``: find the model that ranks these rows best."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

import aucmax
from aucmax.cli.entry_point import Command, NothingRankedError, typed_command
from aucmax.cli.options import (
    check_model,
    data_argument,
    metric_option,
    range_option,
    time_limit_option,
    training_options,
    without_none,
)
from aucmax.cli.output import Console, check_outputs, make_folder, with_console
from aucmax.cli.reading import (
    Data,
    Source,
    drop_unknown,
    read_training,
    split_roles,
)
from aucmax.cli.training import fit_model, target_record
from aucmax.model_selection import MODELS
from aucmax.model_selection.models import (
    SURVIVAL_CANDIDATES,
    compared_models,
)


def results_of(stem: Path) -> dict[str, Path]:
    """Return the files of the results: the model and the report."""
    report = stem.with_name(f"{stem.name}-report.html")
    return {"model": stem.with_name(f"{stem.name}.aucmax"), "report": report}


def _parse_models(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    return tuple(dict.fromkeys(check_model(one.strip()) for one in value.split(",")))


@click.command(
    cls=Command,
    short_help="Cross-validate models against the baselines.",
    examples=[
        "aucmax compare patients.csv --target sick",
        "aucmax compare patients.csv --target sick --output-dir results",
        "aucmax compare patients.csv --target outcome --pos-label died --drop key",
        "aucmax compare a9a.svm.gz --fpr-range 0 0.05 --models linear,logistic",
        "aucmax compare visits.csv --target sick --groups patient --sample-weight cost",
        "aucmax compare loans.csv --target default --times granted",
        "aucmax compare known.csv --target sick --test others.csv",
        "aucmax compare patients.csv --target sick --models auto,linear,lightgbm",
        "aucmax compare clicks.csv --target clicked --qid search --metric ndcg",
        "aucmax compare lung.csv --duration days --target died",
    ],
)
@training_options
@click.option(
    "--test",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Test rows in the format of DATA: models learn from all of DATA and are "
    "tested on these.",
)
@click.option(
    "--models",
    metavar="NAMES",
    callback=_parse_models,
    help=f"Models to compare, separated by commas: {', '.join(MODELS)} [default: "
    f"auto,{','.join(compared_models())}; with a range also lambdamart-pauc, with "
    "queries also lambdarank].",
)
@time_limit_option("Seconds for auto, over all folds [default: 60].")
@click.option(
    "--cv",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Number of folds [default: 5; fewer for small classes, few queries or few "
    "groups].",
)
@range_option
@metric_option
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder for the best model and a report; created if missing, and files of an "
    "earlier comparison are replaced [default: write no files].",
)
@data_argument
@with_console
def compare(
    source: Source,
    pos_label: str | None,
    drop: tuple[str, ...],
    test: Path | None,
    models: tuple[str, ...] | None,
    time_limit: float | None,
    cv: int | None,
    fpr_range: tuple[float, float] | None,
    metric: str | None,
    output_dir: Path | None,
    console: Console,
    **roles: str | None,
) -> None:
    """Cross-validate models on DATA, all on the same folds, against the baselines.

    Prints the AUC of each model with its 95% interval (CI), the partial AUC, the
    seconds per fit, and whether the model beats each baseline by a paired test
    (DeLong). With --output-dir, saves the best model, fitted to all rows, and a report
    with the ROC curves. With --fpr-range, models are compared by the partial AUC, and
    trained for it if they support that. Rows without a target are left out.

    Notes list columns that look like leaks or identifiers, and count test rows with
    copies among the training rows.

    With queries (--qid, or qid: in an svmlight file), folds never split a query, and
    intervals and tests are over queries. Levels of relevance (0, 1, 2, ...) are
    compared by NDCG@10; without queries by MAUC, and --models must then name a model
    that learns levels, such as lambdarank. Models that do not learn levels learn which
    rows are above the lowest one.

    With --duration, models of censored times are compared by Harrell's C; name auto
    with --models to include it.
    """
    results = None
    if output_dir is not None:
        make_folder(output_dir)
        results = output_dir / source.stem
        inputs = [*source.files, *([] if test is None else [test])]
        check_outputs(results_of(results).values(), True, inputs)
    if test == source.path == Path("-"):
        raise click.UsageError("DATA and --test cannot both be standard input.")
    if test is not None and (cv or roles["groups"] or roles["times"]):
        raise click.UsageError(
            "--test names the test rows; leave out --cv, --groups and --times."
        )
    if time_limit is not None and "auto" not in (models or ("auto",)):
        raise click.UsageError("--time-limit applies to the model auto only.")
    data, test_data = read_training(source, roles, drop), None
    if test is not None:
        options = {"text_columns": data.text_columns, **data.read_options}
        rows = Source(test, source.options).read(**options)
        test_data = drop_unknown(split_roles(rows, test, roles, drop), console)
    ranges = without_none(fpr_range=fpr_range)
    if models is None and "duration" in data.values:
        models = SURVIVAL_CANDIDATES
    elif models is None:
        by_part = metric == "partial_auc" or bool(ranges)
        models = ("auto", *compared_models(by_part, "qid" in data.values))
    record = run_comparison(
        drop_unknown(data, console),
        models,
        console,
        pos_label=pos_label,
        results=results,
        command=typed_command(click.get_current_context()),
        source_name=source.path.name,
        test=test_data,
        cv=cv,
        metric=metric,
        time_limit=time_limit or 60.0,
        **ranges,
    )
    console.print_json(record)


def run_comparison(
    data: Data,
    models: Sequence[str],
    console: Console,
    *,
    pos_label: str | None,
    results: Path | None,
    command: str,
    source_name: str,
    time_limit: float | None,
    candidates: object = "default",
    test: Data | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compare, print, save; return the record for JSON.

    `candidates` are the models that auto tries, and `options` those of
    `compare_models`; `results` is the path of the files without their endings.
    """
    from aucmax._core.compiled import Loop
    from aucmax.model_selection import compare_models
    from aucmax.tables.checks import without_columns
    from aucmax.tables.folds import split_rows

    target = data.encode(models, pos_label)
    if test is None:
        n_folds = len(split_rows(target, options["cv"], 0))
        where, title = f"{n_folds} fold{'s' if n_folds > 1 else ''}", "Cross-validating"
    else:
        n_folds, where = 1, f"tested on {test.n_rows} other rows"
        title = f"Testing on {test.n_rows} rows"
        options["test"] = test.rows, test.match(target.grading)
    auto = {"models": candidates, "time_limit": time_limit and time_limit / n_folds}
    named = [("auto", auto) if name == "auto" else name for name in models]
    Loop(lambda: None).dispatcher()  # loads numba before the time of a fit is taken
    with console.progress(title, n_folds * len(models)) as step:
        comparison = compare_models(data.rows, target, named, progress=step, **options)
    console.say(f"{data.describe(target)}, {where}")
    assert comparison.last_fold is not None
    encoder = comparison.last_fold.encoder
    console.notes(encoder.notices_)
    console.notes(without_columns(comparison.notices, encoder.dropped_))
    console.say(f"\n{comparison}\n")
    if comparison.best is None:
        raise NothingRankedError(
            "no model ranks these rows: all of them have constant scores, so nothing "
            "is saved. Check that the columns are related to the target, or try others "
            "with --models."
        )
    record = {
        **comparison.to_dict(),
        **target_record(data, target),
        "test_rows": comparison.target.labels.size,
        "dropped_columns": encoder.dropped_,
    }
    if results is None:
        return record
    files = results_of(results)
    from aucmax.report import report_comparison

    page = report_comparison(
        comparison,
        title=f"Which model ranks best by {data.order}?",
        reproduction={"command": command, "data": source_name},
        time_unit=data.time_unit,
    )
    save_page = partial(page.save, overwrite=True)
    record["report"] = console.write(files["report"], save_page, "Report:     {}")
    parameters = auto if comparison.best == "auto" else {}
    model = fit_model(
        comparison.best, data, target, comparison.goal, console, parameters
    )
    write = partial(aucmax.save, model, overwrite=True)
    line = f"Best model: {{}} ({comparison.best}, fitted to all rows)"
    record["model_file"] = console.write(files["model"], write, line)
    record["dropped_columns"] = model.encoders_[0].dropped_
    return record
