"""``aucmax compare``: find the model that ranks these rows best."""

from pathlib import Path
from typing import Any, NamedTuple

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import (
    Data,
    QueryChoice,
    Source,
    data_argument,
    query_options,
    split_target,
    target_options,
)
from aucmax.cli.figures import draw_comparison
from aucmax.cli.fit import describe_columns, fit_model, target_record
from aucmax.cli.options import force_option, fpr_range_option, output_path
from aucmax.cli.outputs import check_figure_kind, check_outputs, save_figure
from aucmax.cli.program import Command
from aucmax.comparison.models import COMPARED, MODELS

__all__ = ["Plan", "compare", "run_comparison"]

_TITLES = {"auc": "AUC", "mauc": "MAUC", "ordinal_auc": "ordinal AUC"}
_LEVELS_EXPLAINED = [
    "MAUC: each level above 0 against all other rows, below 1 even at its best;",
    "ordinal AUC: pairs of different levels in order; AUC: rows above the lowest.",
]


class Plan(NamedTuple):
    """What to compare, how, and where the results go."""

    models: tuple[str, ...]
    n_folds: int | None
    fpr_range: tuple[float, float]
    seed: int
    positive: str | None
    model_file: Path | None
    figure: Path | None
    force: bool


def _parse_models(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
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
        "aucmax compare a9a.svm.gz --fpr-range 0 0.05 --models aucsvc,logistic",
        "aucmax compare clicks.csv --target clicked --qid search",
        "aucmax compare letor.svm --models lambdamart-mauc,lambdamart,lightgbm",
    ],
)
@target_options
@query_options
@click.option(
    "--models",
    default=",".join(COMPARED),
    show_default=True,
    metavar="NAMES",
    callback=_parse_models,
    help=f"The models to compare, with commas between them: {', '.join(MODELS)}.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Number of folds [default: 5, or fewer when a class is small or queries are "
    "few].",
)
@fpr_range_option
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**32 - 1),
    default=0,
    show_default=True,
    help="Decides how rows, or queries, are dealt to the folds.",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder of the results [default: the current one].",
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
    models: tuple[str, ...],
    folds: int | None,
    fpr_range: tuple[float, float],
    seed: int,
    output_dir: Path,
    model_out: Path | None,
    figure: Path | None,
    no_save: bool,
    force: bool,
    console: Console,
) -> None:
    """Cross-validate models on DATA, on equal folds, against the baselines.

    Prints for each model the AUC with its 95% interval, the partial AUC, the seconds
    of a fit, and whether it beats each baseline by DeLong's test. Saves the best
    model, fitted to all rows, and a picture of the ROC curves.

    With queries (--qid, or qid: in an svmlight file) no query is divided between folds,
    and AUC, interval and test are over queries. A target with more than two levels of
    relevance (0, 1, 2, ...) needs a model that learns levels among --models:
    lambdamart-mauc or lambdamart-ordinal; the others learn which rows are above the
    lowest, and all are compared by MAUC.
    """
    if not no_save:
        model_out = model_out or output_dir / f"{data.stem}.aucmax"
        figure = figure or output_dir / f"{data.stem}-roc.png"
    elif model_out or figure:
        raise click.UsageError("--no-save contradicts --model-out and --figure.")
    check_figure_kind(figure)
    check_outputs([model_out, figure], force, [data.path])
    rows = split_target(data.read(), data, target, drop, queries)
    plan = Plan(models, folds, fpr_range, seed, positive, model_out, figure, force)
    console.give(run_comparison(rows, plan, console))


def run_comparison(data: Data, plan: Plan, console: Console) -> dict[str, Any]:
    """Compare, print, save; return the record for JSON."""
    from aucmax.comparison import compare_models
    from aucmax.comparison.folds import check_folds, usable_folds
    from aucmax.tables import TableEncoder

    target = data.encode(plan.models, plan.positive)
    n_folds = plan.n_folds or usable_folds(target, 5)
    check_folds(target, n_folds)
    encoder = TableEncoder().fit(data.rows)
    console.say(f"{data.describe(target)}, {n_folds} folds")
    describe_columns(encoder, console)
    with console.progress("Cross-validating", n_folds * len(plan.models)) as step:
        comparison = compare_models(
            data.rows,
            target,
            plan.models,
            n_folds=n_folds,
            fpr_range=plan.fpr_range,
            random_state=plan.seed,
            progress=step,
        )
    for notice in comparison.notices:
        console.note(notice)
    _print_comparison(comparison, console)
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

    saved: dict[str, Any] = {"model_file": None, "figure": None}
    if plan.figure is not None:
        save_figure(draw_comparison(comparison), plan.figure, plan.force)
        console.say(f"ROC curves: {plan.figure}")
        saved["figure"] = str(plan.figure)
    if plan.model_file is not None:
        model = fit_model(comparison.best, data, comparison.target, console)
        aucmax.save(model, plan.model_file, overwrite=plan.force)
        console.say(
            f"Best model: {plan.model_file} ({comparison.best}, fitted to all rows)"
        )
        saved["model_file"] = str(plan.model_file)
    return saved


def _print_comparison(comparison: Any, console: Console) -> None:
    baselines = [r.name for r in comparison.results if r.is_baseline]
    against = {(test.model, test.baseline): test for test in comparison.tests}
    rows = []
    for result in comparison.results:
        tests = [against.get((result.name, baseline)) for baseline in baselines]
        main, *others = (f"{value:.4f}" for value in result.measures.values())
        rows.append(
            [
                result.name,
                main,
                f"{result.low:.3f}-{result.high:.3f}",
                *others,
                f"{result.seconds:.3f}"
                if result.seconds < 1
                else f"{result.seconds:.1f}",
                *(_verdict(test) if test else "-" for test in tests),
            ]
        )
    low, high = comparison.fpr_range
    titles = {**_TITLES, "partial_auc": f"pAUC {low:g}-{high:g}"}
    main, *others = (titles[name] for name in comparison.results[0].measures)
    header = ["model", main, "95% interval", *others, "seconds"]
    console.say()
    console.table([*header, *(f"vs {name}" for name in baselines)], rows)
    console.say()
    for line in _explain(comparison):
        console.say(line)
    console.say()


def _explain(comparison: Any) -> list[str]:
    """Say what the numbers are."""
    folds = f"{comparison.n_folds} folds"
    verdicts = "beats and loses below 0.05, else level."
    if comparison.unit == "rows":
        return [
            f"AUC and partial AUC over {folds}, a perfect ranking has 1; seconds of "
            "one fit;",
            f"p by DeLong's paired test: {verdicts}",
        ]
    target = comparison.target
    over = (
        f"{target.n_usable_queries} queries in {folds}"
        if comparison.unit == "queries"
        else folds
    )
    return [
        f"Means over {over}; seconds of one fit; intervals and p by Student's t over",
        f"{comparison.unit} (p: of the paired differences): {verdicts}",
        *(_LEVELS_EXPLAINED if target.is_graded else []),
    ]


def _verdict(test: Any) -> str:
    word = "level" if test.verdict == "no difference" else test.verdict
    return f"{word} p<0.001" if test.p_value < 0.001 else f"{word} p={test.p_value:.3f}"
