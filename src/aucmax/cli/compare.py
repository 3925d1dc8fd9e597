"""``aucmax compare``: find the model that ranks these rows best."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from aucmax.cli.entry_point import Command, NothingRankedError, typed_command
from aucmax.cli.figures import save_curves
from aucmax.cli.options import (
    data_argument,
    force_option,
    limit_parameters,
    metric_option,
    missing_target_option,
    output_path,
    query_options,
    range_options,
    report_option,
    row_options,
    target_options,
    time_limit_option,
)
from aucmax.cli.output import (
    PICTURES,
    REPORTS,
    Console,
    check_ending,
    check_outputs,
    make_folder,
    with_console,
)
from aucmax.cli.reading import (
    Data,
    QueryChoice,
    RowColumns,
    Source,
    drop_unknown,
    split_target,
)
from aucmax.cli.training import (
    describe_columns,
    fit_model,
    note_others,
    target_record,
)
from aucmax.model_selection import MODELS
from aucmax.model_selection.models import (
    SURVIVAL_CANDIDATES,
    compared_models,
    find_model,
)


class ComparisonTask(NamedTuple):
    """The settings of a comparison and the files of its results."""

    models: tuple[str, ...] | None
    n_folds: int | None
    ranges: dict[str, Any]
    metric: str | None
    seed: int
    positive: str | None
    model_file: Path | None
    figure: Path | None
    force: bool
    test: Data | None = None
    time_limit: float | None = 60.0  # seconds of auto, over all folds
    candidates: Any = "default"  # models that auto tries
    report: Path | None = None
    source: str = ""  # what the report calls the data
    command: str = ""  # what it says to type

    def models_for(self, data: Data) -> tuple[str, ...]:
        """Return the models named, or those that suit the data."""
        if data.durations is not None:
            return self.models or SURVIVAL_CANDIDATES
        by_part = self.metric == "partial_auc" or bool(self.ranges)
        others = compared_models(by_part, data.queries is not None)
        return self.models or ("auto", *others)


def _parse_models(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
    for name in names:
        try:
            find_model(name)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return names


@click.command(
    cls=Command,
    short_help="Cross-validate models against the baselines.",
    examples=[
        "aucmax compare patients.csv --target sick",
        "aucmax compare patients.csv --target sick --report sick.html",
        "aucmax compare patients.csv --target outcome --positive died --drop key",
        "aucmax compare a9a.svm.gz --fpr-range 0 0.05 --models linear,logistic",
        "aucmax compare visits.csv --target sick --groups patient --weight cost",
        "aucmax compare loans.csv --target default --time granted",
        "aucmax compare known.csv --target sick --test others.csv",
        "aucmax compare patients.csv --target sick --models auto,linear,lightgbm",
        "aucmax compare clicks.csv --target clicked --qid search --metric ndcg",
        "aucmax compare lung.csv --duration days --event died",
    ],
)
@target_options
@missing_target_option
@query_options
@row_options
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
    "--folds",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Number of folds [default: 5; fewer for small classes, few queries or few "
    "groups].",
)
@range_options
@metric_option
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**32 - 1),
    metavar="NUMBER",
    default=0,
    show_default=True,
    help="Random seed of the folds.",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder for the results; created if missing [default: the current folder].",
)
@click.option(
    "--model-out",
    type=output_path,
    help="Where to save the best model [default: DATA.aucmax in the folder].",
)
@click.option(
    "--figure",
    type=output_path,
    help="Where to draw the ROC curves [default: DATA-roc.png in the folder].",
)
@report_option
@click.option("--no-save", is_flag=True, help="Write no files.")
@force_option
@data_argument
@with_console
def compare(
    data: Source,
    target: str | None,
    positive: str | None,
    drop: tuple[str, ...],
    missing_target: str,
    queries: QueryChoice,
    row_columns: RowColumns,
    test: Path | None,
    models: tuple[str, ...] | None,
    time_limit: float | None,
    folds: int | None,
    ranges: dict[str, Any],
    metric: str | None,
    seed: int,
    output_dir: Path,
    model_out: Path | None,
    figure: Path | None,
    report: Path | None,
    no_save: bool,
    force: bool,
    console: Console,
) -> None:
    """Cross-validate models on DATA, all on the same folds, against the baselines.

    Prints the AUC of each model with its 95% interval (CI), the partial AUC, the
    seconds per fit, and whether the model beats each baseline by a paired test
    (DeLong). Saves the best model, fitted to all rows, and a figure of the ROC curves.
    With --fpr-range or --tpr-range, models are compared by the partial AUC, and trained
    for it if they support that.

    Notes list columns that look like leaks or identifiers, and count test rows with
    copies among the training rows.

    With queries (--qid, or qid: in an svmlight file), folds never split a query, and
    intervals and tests are over queries. Levels of relevance (0, 1, 2, ...) are
    compared by NDCG@10; without queries by MAUC, and --models must then name a model
    that learns levels, such as lambdarank. Models that do not learn levels learn which
    rows are above the lowest one.

    With --duration and --event, models of censored times are compared by Harrell's C;
    name auto with --models to include it.
    """
    is_default = figure is None
    if not no_save:
        make_folder(output_dir)
        model_out = model_out or output_dir / f"{data.stem}.aucmax"
        figure = figure or output_dir / f"{data.stem}-roc.png"
    elif model_out or figure or report:
        raise click.UsageError(
            "--no-save contradicts --model-out, --figure and --report."
        )
    check_ending(figure, PICTURES)
    check_ending(report, REPORTS)
    inputs = [*data.files, *([] if test is None else [test])]
    check_outputs([model_out, figure, report], force, inputs)
    if test == data.path == Path("-"):
        raise click.UsageError("DATA and --test cannot both be standard input.")
    if test is not None and (folds or row_columns.groups or row_columns.time):
        raise click.UsageError(
            "--test names the test rows; leave out --folds, --groups and --time."
        )
    known = split_target(data.read(), data, target, drop, queries, row_columns)
    other = None
    if test is not None:
        source = data._replace(path=test)
        rows = source.read(known.known_columns)
        other = split_target(rows, source, target, drop, queries, row_columns)
    if known.durations is not None:
        if figure is not None and not is_default:
            raise click.UsageError(
                "censored times have no ROC curve; leave out --figure."
            )
        figure = None
    known = drop_unknown(known, missing_target, console)
    other = other and drop_unknown(other, missing_target, console)
    task = ComparisonTask(
        models,
        folds,
        ranges,
        metric,
        seed,
        positive,
        model_out,
        figure,
        force,
        other,
        limit_parameters(models or ("auto",), time_limit).get("time_limit", 60.0),
        "default",
        report,
        data.path.name,
        typed_command(click.get_current_context()),
    )
    console.give(run_comparison(known, task, console))


def run_comparison(
    data: Data, task: ComparisonTask, console: Console
) -> dict[str, Any]:
    """Compare, print, save; return the record for JSON."""
    from aucmax._core.compiled import Loop
    from aucmax.model_selection import compare_models
    from aucmax.tables.folds import split_rows

    names = task.models_for(data)
    target = data.encode(names, task.positive)
    candidates = {"models": task.candidates}
    models = [("auto", candidates) if name == "auto" else name for name in names]
    if task.test is None:
        test, n_folds = None, len(split_rows(target, task.n_folds, task.seed))
        where, title = f"{n_folds} fold{'s' if n_folds > 1 else ''}", "Cross-validating"
    else:
        test, n_folds = (task.test.rows, task.test.match(target.grading)), 1
        where = f"tested on {task.test.n_rows} other rows"
        title = f"Testing on {task.test.n_rows} rows"
    Loop(lambda: None).dispatcher()  # loads numba before the time of a fit is taken
    with console.progress(title, n_folds * len(models)) as step:
        comparison = compare_models(
            data.rows,
            target,
            models,
            test=test,
            n_folds=task.n_folds,
            metric=task.metric,
            random_state=task.seed,
            time_limit=task.time_limit,
            progress=step,
            **task.ranges,
        )
    console.say(f"{data.describe(target)}, {where}")
    assert comparison.last_fold is not None
    encoder = comparison.last_fold.encoder
    describe_columns(encoder, console)
    note_others(comparison.notices, encoder, console)
    console.say(f"\n{comparison}\n")
    record = {
        **comparison.to_dict(),
        **target_record(data, target),
        "test_rows": comparison.target.labels.size,
        "dropped_columns": encoder.dropped_,
    }
    return {**record, **_save_results(comparison, data, target, task, console)}


def _save_results(
    comparison: Any, data: Data, target: Any, task: ComparisonTask, console: Console
) -> dict[str, Any]:
    import aucmax

    if comparison.best is None:
        raise NothingRankedError(
            "no model ranks these rows: all of them have constant scores, so nothing "
            "is saved. Check that the columns are related to the target, or try others "
            "with --models."
        )

    def draw(path: Path) -> None:
        # the order and colours of the report
        ranked = sorted(comparison.ranked, key=lambda result: -result.main)
        positions = {one.name: comparison.positions[one.name] for one in ranked}
        curves = comparison.target, positions, ranked, comparison.goal
        save_curves(path, *curves, overwrite=task.force)

    def describe(path: Path) -> None:
        from aucmax.report import report_comparison

        page = report_comparison(
            comparison,
            title=f"Which model ranks best by {data.target_name}?",
            reproduction={"command": task.command, "data": task.source},
        )
        page.save(path, overwrite=task.force)

    saved: dict[str, Any] = {"model_file": None, "figure": None, "report": None}
    if task.figure is not None:
        saved["figure"] = console.write(task.figure, draw, "ROC curves: {}")
    if task.report is not None:
        saved["report"] = console.write(task.report, describe, "Report:     {}")
    if task.model_file is not None:
        auto: dict[str, Any] = {}
        if comparison.best == "auto":  # the same search as in each fold
            tried = comparison.last_fold.models["auto"]
            auto = {"time_limit": tried.time_limit, "models": task.candidates}
        model = fit_model(comparison.best, data, target, comparison.goal, console, auto)
        write = partial(aucmax.save, model, overwrite=task.force)
        saved["dropped_columns"] = model.encoders_[0].dropped_
        line = f"Best model: {{}} ({comparison.best}, fitted to all rows)"
        saved["model_file"] = console.write(task.model_file, write, line)
    return saved
