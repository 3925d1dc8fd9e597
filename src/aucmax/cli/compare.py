"""``aucmax compare``: find the model that ranks these rows best."""

from pathlib import Path
from typing import Any, NamedTuple

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import Data, QueryChoice, Source, split_target
from aucmax.cli.figures import draw_curves
from aucmax.cli.fit import describe_columns, fit_model, target_record
from aucmax.cli.options import (
    data_argument,
    force_option,
    metric_option,
    output_path,
    query_options,
    range_options,
    target_options,
)
from aucmax.cli.outputs import PICTURES, check_ending, check_outputs, save_figure
from aucmax.cli.program import Command, NothingRankedError
from aucmax.comparison import MODELS, compared_models

__all__ = ["Plan", "compare", "run_comparison"]


class Plan(NamedTuple):
    """What to compare, how, and where the results go."""

    models: tuple[str, ...]
    n_folds: int | None
    ranges: dict[str, Any]
    metric: str | None
    seed: int
    positive: str | None
    model_file: Path | None
    figure: Path | None
    force: bool


def _parse_models(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
    for name in names:
        if name not in MODELS:
            raise click.BadParameter(
                f"there is no model {name!r}; choose from {', '.join(MODELS)}."
            )
    return names


@click.command(
    cls=Command,
    short_help="Cross-validate models against the baselines.",
    examples=[
        "aucmax compare patients.csv --target sick",
        "aucmax compare patients.csv --target outcome --positive died --drop key",
        "aucmax compare a9a.svm.gz --fpr-range 0 0.05 --models linear,logistic",
        "aucmax compare clicks.csv --target clicked --qid search",
        "aucmax compare letor.svm --models lambdamart-mauc,lambdamart,lightgbm",
    ],
)
@target_options
@query_options
@click.option(
    "--models",
    metavar="NAMES",
    callback=_parse_models,
    help=f"Models to compare, separated by commas: {', '.join(MODELS)} [default: "
    f"{','.join(compared_models())}; with a range lambdamart-pauc, too].",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    metavar="NUMBER",
    help="Number of folds [default: 5, or fewer if a class is small or queries are "
    "few].",
)
@range_options
@metric_option
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**32 - 1),
    metavar="NUMBER",
    default=0,
    show_default=True,
    help="Decides how rows, or queries, are dealt to the folds.",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder for the results [default: the current one].",
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
@click.option("--no-save", is_flag=True, help="Write no files.")
@force_option
@data_argument
@with_console
def compare(
    data: Source,
    target: str | None,
    positive: str | None,
    drop: tuple[str, ...],
    queries: QueryChoice,
    models: tuple[str, ...] | None,
    folds: int | None,
    ranges: dict[str, Any],
    metric: str | None,
    seed: int,
    output_dir: Path,
    model_out: Path | None,
    figure: Path | None,
    no_save: bool,
    force: bool,
    console: Console,
) -> None:
    """Cross-validate models on DATA, all on the same folds, against the baselines.

    Prints for each model the AUC with its 95% interval, the partial AUC, the seconds
    per fit, and whether it beats each baseline by DeLong's test. Saves the best
    model, fitted to all rows, and a picture of the ROC curves. With a range, models
    that can are trained for it, and its partial AUC decides.

    With queries (--qid, or qid: in an svmlight file) no query is divided between folds,
    and AUC, interval and test are over queries. A target with more than two levels of
    relevance (0, 1, 2, ...) needs a model that learns levels among --models:
    lambdamart-mauc or lambdamart-ordinal. The others then learn which rows are above
    the lowest level, and all are compared by MAUC.
    """
    if not no_save:
        model_out = model_out or output_dir / f"{data.stem}.aucmax"
        figure = figure or output_dir / f"{data.stem}-roc.png"
    elif model_out or figure:
        raise click.UsageError("--no-save contradicts --model-out and --figure.")
    check_ending(figure, PICTURES)
    check_outputs([model_out, figure], force, [data.path])
    rows = split_target(data.read(), data, target, drop, queries)
    models = models or compared_models(metric == "partial_auc" or bool(ranges))
    plan = Plan(models, folds, ranges, metric, seed, positive, model_out, figure, force)
    console.give(run_comparison(rows, plan, console))


def run_comparison(data: Data, plan: Plan, console: Console) -> dict[str, Any]:
    """Compare, print, save; return the record for JSON."""
    from aucmax.comparison import choose_aim, choose_folds, compare_models
    from aucmax.tables import TableEncoder

    target = data.encode(plan.models, plan.positive)
    choose_aim(target, plan.metric, **plan.ranges)  # refuses before anything is said
    n_folds = choose_folds(target, plan.n_folds)
    encoder = TableEncoder().fit(data.rows)
    console.say(f"{data.describe(target)}, {n_folds} folds")
    describe_columns(encoder, console)
    with console.progress("Cross-validating", n_folds * len(plan.models)) as step:
        comparison = compare_models(
            data.rows,
            target,
            plan.models,
            n_folds=n_folds,
            metric=plan.metric,
            **plan.ranges,
            random_state=plan.seed,
            progress=step,
        )
    for notice in comparison.notices:
        console.note(notice)
    console.say(f"\n{comparison}\n")
    record = {
        **comparison.to_dict(),
        **target_record(data, target),
        "dropped_columns": encoder.dropped_,
    }
    return {**record, **_save_results(comparison, data, plan, console)}


def _save_results(
    comparison: Any, data: Data, plan: Plan, console: Console
) -> dict[str, Any]:
    import aucmax

    if comparison.best is None:
        raise NothingRankedError(
            "no model ranks these rows: all of them have constant scores, so nothing "
            "is saved. Check that the columns tell anything about the target, or try "
            "others with --models."
        )
    saved: dict[str, Any] = {"model_file": None, "figure": None}
    if plan.figure is not None:
        figure = draw_curves(
            comparison.target,
            comparison.positions,
            comparison.ranked,
            comparison.aim,
        )
        save_figure(figure, plan.figure, plan.force)
        console.say(f"ROC curves: {plan.figure}")
        saved["figure"] = str(plan.figure)
    if plan.model_file is not None:
        model = fit_model(
            comparison.best, data, comparison.target, comparison.aim, console
        )
        aucmax.save(model, plan.model_file, overwrite=plan.force)
        console.say(
            f"Best model: {plan.model_file} ({comparison.best}, fitted to all rows)"
        )
        saved["model_file"] = str(plan.model_file)
    return saved
