"""``aucmax evaluate``: how well a saved model ranks other rows."""

from pathlib import Path
from typing import Any

import click

from aucmax.cli.console import Console, with_console
from aucmax.cli.data import Data, Source, data_argument, split_target
from aucmax.cli.options import force_option, fpr_range_option, output_path
from aucmax.cli.outputs import check_figure_kind, check_outputs, save_figure
from aucmax.cli.program import Command
from aucmax.cli.score import load_model, text_columns

__all__ = ["evaluate"]


@click.command(
    cls=Command,
    short_help="Measure how well a model ranks other rows.",
    examples=[
        "aucmax evaluate sick.aucmax other-patients.csv",
        "aucmax evaluate sick.aucmax other-patients.csv --fpr-range 0 0.05 --json",
    ],
)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column with the true values [default: as at training].",
)
@fpr_range_option
@click.option("--figure", type=output_path, help="Draw the ROC curve to this file.")
@force_option
@data_argument
@with_console
def evaluate(
    model: Path,
    data: Source,
    target: str | None,
    fpr_range: tuple[float, float],
    figure: Path | None,
    force: bool,
    console: Console,
) -> None:
    """Measure how well MODEL ranks the rows of DATA, whose target is known.

    Prints the AUC with its 95% interval (DeLong), the partial AUC, and the errors at
    the model's threshold. Use rows that the model was not fitted to.
    """
    check_figure_kind(figure)
    check_outputs([figure], force, [model, data.path])
    fitted = load_model(model)
    rows = data.read(text_columns(fitted))
    column = (target or fitted.target) if rows.labels is None else target
    test = split_target(rows, data, column)
    scores, record = _measure(fitted, test, fpr_range)
    if figure is not None:
        save_figure(_draw(fitted, test, scores, fpr_range), figure, force)
        record["figure"] = str(figure)
    _print(record, test, console)
    console.give(record)


def _measure(
    model: Any, test: Any, fpr_range: tuple[float, float]
) -> tuple[Any, dict[str, Any]]:
    import numpy as np

    from aucmax import metrics
    from aucmax.tabular import match_target

    truth = match_target(test.labels, model.classes_.tolist(), name=test.target_name)
    scores = model.decision_function(test.rows)
    is_flagged = model.predict(test.rows) == model.classes_[1]
    is_positive = truth.labels == 1
    interval = metrics.auc_interval(truth.labels, scores)
    negative, positive = model.classes_.tolist()
    record = {
        "model": model.name,
        "rows": int(truth.labels.size),
        "positive_rows": truth.n_positive,
        "target": test.target,
        "positive": positive,
        "negative": negative,
        "auc": float(interval.auc),
        "auc_interval": [float(interval.low), float(interval.high)],
        "fpr_range": list(fpr_range),
        "partial_auc": float(
            metrics.partial_auc_score(truth.labels, scores, fpr_range=fpr_range)
        ),
        "true_positives": int(np.sum(is_flagged & is_positive)),
        "false_positives": int(np.sum(is_flagged & ~is_positive)),
        "false_negatives": int(np.sum(~is_flagged & is_positive)),
        "true_negatives": int(np.sum(~is_flagged & ~is_positive)),
    }
    return scores, record


def _print(record: dict[str, Any], test: Data, console: Console) -> None:
    low, high = record["auc_interval"]
    fpr_low, fpr_high = record["fpr_range"]
    classes = test.describe_classes(record["negative"], record["positive"])
    console.say(
        f"{record['model']} on {record['rows']} rows, {record['positive_rows']} of "
        f"them positive ({classes})"
    )
    console.say(
        f"AUC          {record['auc']:.4f}  (95% interval {low:.4f} to {high:.4f})"
    )
    console.say(
        f"partial AUC  {record['partial_auc']:.4f}  (false-positive rates {fpr_low:g} "
        f"to {fpr_high:g}; a perfect ranking has 1)"
    )
    console.say()
    console.table(
        ["at the model's threshold", "ranked positive", "ranked negative"],
        [
            [
                "positive",
                f"{record['true_positives']} found",
                f"{record['false_negatives']} missed",
            ],
            [
                "negative",
                f"{record['false_positives']} false alarms",
                f"{record['true_negatives']} passed",
            ],
        ],
    )


def _draw(model: Any, test: Any, scores: Any, fpr_range: tuple[float, float]) -> Any:
    from aucmax.cli.figures import draw_roc
    from aucmax.tabular import match_target

    truth = match_target(test.labels, model.classes_.tolist(), name=test.target_name)
    return draw_roc(truth.labels, {model.name or "model": scores}, fpr_range)
