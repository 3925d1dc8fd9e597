"""Fit one model by its name, show progress, and describe the result."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aucmax.cli.entry_point import NothingRankedError
from aucmax.cli.output import Console
from aucmax.cli.reading import Data
from aucmax.model_selection import MODELS


def fit_model(
    name: str,
    training: Data,
    labels: Any,
    goal: Any,
    console: Console,
    parameters: dict[str, Any] | None = None,
    calibrate: str | None = None,
    checkpoint: Path | None = None,
) -> Any:
    """Fit a model by name, or raise an error if it ranks nothing."""
    from aucmax.exceptions import (
        ColumnsWarning,
        ConstantScoresWarning,
        OneClassQueryWarning,
    )
    from aucmax.model_selection import table_model
    from aucmax.model_selection.models import aim_auto
    from aucmax.tables import TableEncoder
    from aucmax.tables.target import has_constant_scores

    # auto has the scores to learn probabilities; others would take several fits
    calibrate = calibrate or ("auto" if name == "auto" else "none")
    is_binary = not (labels.is_graded or labels.is_survival)
    model = table_model(
        name,
        ranges=goal.ranges,
        metric=None if labels.is_graded else goal.other_metric,
        parameters=parameters,
        levels="learn" if MODELS[name].learns_levels else "relevant",
        target=training.target,
        query_column=training.query_column,
        duration_column=training.row_columns.duration,
        decimal=training.decimal,
        pos_label=None if labels.is_graded else labels.grading.positive,
        encoder=TableEncoder(
            absolute_dates=(parameters or {}).get("absolute_dates"),
        ),
        calibrate=calibrate if is_binary and calibrate != "none" else None,
    )
    if name == "auto":
        aim_auto(model, goal.metric, labels)
    title = f"Fitting {name} to {training.n_rows} rows"
    with _progress(model.estimator, title, console), warnings.catch_warnings():
        # the number of queries with both classes is printed
        warnings.simplefilter("ignore", OneClassQueryWarning)
        # columns that are left out are listed afterwards
        warnings.simplefilter("ignore", ColumnsWarning)
        # raised as an error below
        warnings.simplefilter("ignore", ConstantScoresWarning)
        model.fit(training.rows, labels, checkpoint=checkpoint)
    if has_constant_scores(labels, model.decision_function(training.rows)):
        raise NothingRankedError(
            f"{name} gives all {training.n_rows} rows the same score"
            f"{'' if labels.queries is None else ' within each query'}, so it ranks "
            f"nothing and is not saved. {_advice(name)}"
        )
    return model


@contextmanager
def _progress(estimator: Any, title: str, console: Console) -> Iterator[None]:
    """Show the progress of a fit; with a time limit, in seconds."""
    time_limit = getattr(estimator, "time_limit", None)
    if time_limit is None:
        with console.progress(title, 1) as step:
            yield
            step("done")
        return
    with console.progress(f"{title}, up to {time_limit:g} s", int(time_limit)) as step:
        estimator.set_params(callback=_seconds(step, int(time_limit)))
        yield
        step("done", 0)


def _seconds(step: Callable[..., None], limit: int) -> Callable[[Any], None]:
    """Return a callback that shows the seconds of a search in a progress bar."""
    shown = 0

    def report(progress: Any) -> None:
        nonlocal shown
        best = ""
        if progress.best:
            best = f", best so far {progress.score:.4f} by {progress.best}"
        passed = min(int(progress.seconds), limit)
        step(f"{progress.candidate}{best}", passed - shown)
        shown = passed

    return report


def _advice(name: str) -> str:
    """Return advice on what to try in place of a model that ranks nothing."""
    others = [other for other in ("linear", "lambdamart") if other != name]
    advice = (
        f"Try --model {' or --model '.join(others)}, or check that the columns "
        "are related to the target."
    )
    if name == "svm-pauc":
        return (
            "Where the classes overlap, the hinge of a narrow range is smallest "
            f"without any weights. {advice}"
        )
    return advice


def describe_columns(encoder: Any, console: Console) -> None:
    """Print notes on columns that are left out or read in a special way."""
    console.notes(encoder.column_notes_ if console.is_verbose else encoder.notices_)


# of a table itself; other notices concern the folds of a cross-validation
_WITHOUT_FOLDS = ("leak", "identifier")


def note_findings(
    training: Data, labels: Any, encoder: Any, console: Console, has_folds: bool
) -> list[dict[str, Any]]:
    """Check the table for leaks and similar problems; print and return the notices."""
    from aucmax.model_selection.cross_validation import find_notices

    notices = find_notices(training.rows, labels)
    if not has_folds:
        notices = [notice for notice in notices if notice.kind in _WITHOUT_FOLDS]
    note_others(notices, encoder, console)
    return [notice.to_dict() for notice in notices]


def note_others(notices: Iterable[Any], encoder: Any, console: Console) -> None:
    """Print notices, without the columns that are left out."""
    from aucmax.tables.checks import without_columns

    for notice in without_columns(notices, encoder.dropped_):
        is_long = console.is_verbose and notice.details
        console.notes(notice.details if is_long else [str(notice)])


def auto_record(
    model: Any, findings: Sequence[dict[str, Any]], console: Console
) -> dict[str, Any]:
    """Print the result of a search and return it for JSON; {} for other models."""
    found = model.estimator_
    if not hasattr(found, "leaderboard"):
        return {}
    printed = {*model.encoder_.notices_, *(finding["text"] for finding in findings)}
    console.notes(notice for notice in found.notices_ if notice not in printed)
    lines = found.summary().splitlines()
    # the first line repeats the number of rows
    console.say("\n".join(line for line in lines[1:] if line[:5] != "Note:"))
    board = found.leaderboard().fill_nan(None)
    estimate = {k: None if v != v else v for k, v in found.estimate_.items()}
    return {
        "combination": found.weights_,
        "estimate": estimate,
        "leaderboard": board.to_dicts(),
        "search_notices": list(found.notices_),
    }


def target_record(data: Data, target: Any) -> dict[str, Any]:
    """Facts about what is ranked, for JSON."""
    return {
        **target.to_dict(),
        "target": data.target,
        "qid": data.query_column,
        **data.row_columns._asdict(),
        "rows_without_target": data.n_left_out,
    }
