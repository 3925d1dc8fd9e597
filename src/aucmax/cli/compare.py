"""``aucmax compare``: find the model that ranks these rows best."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from aucmax.cli.entry_point import Command, NothingRankedError, typed_command
from aucmax.cli.figures import save_curves
from aucmax.cli.options import (
    data_argument,
    given,
    metric_option,
    range_option,
    time_limit_option,
    training_options,
)
from aucmax.cli.output import Console, check_outputs, make_folder, with_console
from aucmax.cli.reading import Data, RowColumns, Source, drop_unknown, split_target
from aucmax.cli.training import fit_model, target_record
from aucmax.model_selection import MODELS
from aucmax.model_selection.models import (
    SURVIVAL_CANDIDATES,
    compared_models,
    find_model,
)


class ComparisonTask(NamedTuple):
    """The settings of a comparison, and where its results go."""

    models: tuple[str, ...] | None
    n_folds: int | None
    ranges: dict[str, Any]
    metric: str | None
    positive: str | None
    results: Path | None  # of the model, the figure and the report, without an ending
    test: Data | None = None
    time_limit: float | None = 60.0  # seconds of auto, over all folds
    candidates: Any = "default"  # models that auto tries
    source: str = ""  # what the report calls the data
    command: str = ""  # what it says to type

    def models_for(self, data: Data) -> tuple[str, ...]:
        """Return the models named, or those that suit the data."""
        if data.durations is not None:
            return self.models or SURVIVAL_CANDIDATES
        by_part = self.metric == "partial_auc" or bool(self.ranges)
        others = compared_models(by_part, data.queries is not None)
        return self.models or ("auto", *others)


def results_of(stem: Path) -> dict[str, Path]:
    """Return the files of the results: the model, the ROC curves and the report."""
    endings = {"model": ".aucmax", "figure": "-roc.png", "report": "-report.html"}
    return {
        name: stem.with_name(stem.name + ending) for name, ending in endings.items()
    }


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
        "aucmax compare patients.csv --target sick --output-dir results",
        "aucmax compare patients.csv --target outcome --positive died --drop key",
        "aucmax compare a9a.svm.gz --fpr-range 0 0.05 --models linear,logistic",
        "aucmax compare visits.csv --target sick --groups patient --weight cost",
        "aucmax compare loans.csv --target default --time granted",
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
    "--folds",
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
    help="Folder for the best model, the ROC curves and a report; created if missing, "
    "and files of an earlier comparison are replaced [default: write no files].",
)
@data_argument
@with_console
def compare(
    data: Path,
    decimal: str | None,
    target: str | None,
    positive: str | None,
    drop: tuple[str, ...],
    qid: str | None,
    weight: str | None,
    groups: str | None,
    time: str | None,
    duration: str | None,
    test: Path | None,
    models: tuple[str, ...] | None,
    time_limit: float | None,
    folds: int | None,
    fpr_range: tuple[float, float] | None,
    metric: str | None,
    output_dir: Path | None,
    console: Console,
) -> None:
    """Cross-validate models on DATA, all on the same folds, against the baselines.

    Prints the AUC of each model with its 95% interval (CI), the partial AUC, the
    seconds per fit, and whether the model beats each baseline by a paired test
    (DeLong). With --output-dir, saves the best model, fitted to all rows, a figure of
    the ROC curves and a report. With --fpr-range, models are compared by the partial
    AUC, and trained for it if they support that. Rows without a target are left out.

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
    source = Source(data, decimal)
    results = None
    if output_dir is not None:
        make_folder(output_dir)
        results = output_dir / source.stem
        inputs = [*source.files, *([] if test is None else [test])]
        check_outputs(results_of(results).values(), True, inputs)
    if test == data == Path("-"):
        raise click.UsageError("DATA and --test cannot both be standard input.")
    if test is not None and (folds or groups or time):
        raise click.UsageError(
            "--test names the test rows; leave out --folds, --groups and --time."
        )
    if time_limit is not None and "auto" not in (models or ("auto",)):
        raise click.UsageError("--time-limit applies to the model auto only.")
    columns = RowColumns(weight, groups, time, duration)
    known = split_target(source.read(), data, target, qid, columns, drop)
    other = None
    if test is not None:
        rows = Source(test, decimal).read(known.known_columns)
        other = split_target(rows, test, target, qid, columns, drop)
        other = drop_unknown(other, console)
    task = ComparisonTask(
        models,
        folds,
        given(fpr_range=fpr_range),
        metric,
        positive,
        results,
        other,
        time_limit or 60.0,
        source=data.name,
        command=typed_command(click.get_current_context()),
    )
    console.print_json(run_comparison(drop_unknown(known, console), task, console))


def run_comparison(
    data: Data, task: ComparisonTask, console: Console
) -> dict[str, Any]:
    """Compare, print, save; return the record for JSON."""
    from aucmax._core.compiled import Loop
    from aucmax.model_selection import compare_models
    from aucmax.tables.checks import without_columns
    from aucmax.tables.folds import split_rows

    names = task.models_for(data)
    target = data.encode(names, task.positive)
    if task.test is None:
        test, n_folds = None, len(split_rows(target, task.n_folds, 0))
        where, title = f"{n_folds} fold{'s' if n_folds > 1 else ''}", "Cross-validating"
    else:
        test, n_folds = (task.test.rows, task.test.match(target.grading)), 1
        where = f"tested on {task.test.n_rows} other rows"
        title = f"Testing on {task.test.n_rows} rows"
    limit = None if task.time_limit is None else task.time_limit / n_folds
    search = "auto", {"models": task.candidates, "time_limit": limit}
    models = [search if name == "auto" else name for name in names]
    Loop(lambda: None).dispatcher()  # loads numba before the time of a fit is taken
    with console.progress(title, n_folds * len(models)) as step:
        comparison = compare_models(
            data.rows,
            target,
            models,
            test=test,
            cv=task.n_folds,
            metric=task.metric,
            progress=step,
            **task.ranges,
        )
    console.say(f"{data.describe(target)}, {where}")
    assert comparison.last_fold is not None
    encoder = comparison.last_fold.encoder
    console.notes(encoder.notices_)
    console.notes(without_columns(comparison.notices, encoder.dropped_))
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

    if task.results is None:
        return {}

    def draw(path: Path) -> None:
        # the order and colours of the report
        ranked = sorted(comparison.ranked, key=lambda result: -result.main)
        positions = {one.name: comparison.positions[one.name] for one in ranked}
        curves = comparison.target, positions, ranked, comparison.goal
        save_curves(path, *curves, overwrite=True)

    def describe(path: Path) -> None:
        from aucmax.report import report_comparison

        page = report_comparison(
            comparison,
            title=f"Which model ranks best by {data.target_name}?",
            reproduction={"command": task.command, "data": task.source},
        )
        page.save(path, overwrite=True)

    files, saved = results_of(task.results), {}
    if not target.is_survival:
        saved["figure"] = console.write(files["figure"], draw, "ROC curves: {}")
    saved["report"] = console.write(files["report"], describe, "Report:     {}")
    auto: dict[str, Any] = {}
    if comparison.best == "auto":  # the same search as in each fold
        tried = comparison.last_fold.models["auto"]
        auto = {"time_limit": tried.time_limit, "models": task.candidates}
    model = fit_model(comparison.best, data, target, comparison.goal, console, auto)
    write = partial(aucmax.save, model, overwrite=True)
    line = f"Best model: {{}} ({comparison.best}, fitted to all rows)"
    saved["model_file"] = console.write(files["model"], write, line)
    return {**saved, "dropped_columns": model.encoders_[0].dropped_}
