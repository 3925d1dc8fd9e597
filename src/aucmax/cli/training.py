"""Fit one model by its name, show progress, and describe the result."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aucmax.cli.entry_point import NothingRankedError
from aucmax.cli.output import Console
from aucmax.cli.reading import Data


def fit_model(
    name: str,
    training: Data,
    labels: Any,
    goal: Any,
    console: Console,
    parameters: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
) -> Any:
    """Fit an AutoRanker of one model, or of all, or raise an error if it ranks nothing.

    `parameters` are those of the named model, `settings` those of the AutoRanker.
    """
    from aucmax.exceptions import (
        ColumnsWarning,
        ConstantScoresWarning,
        OneClassQueryWarning,
    )
    from aucmax.model_selection import AutoRanker

    options: dict[str, Any] = {**goal.ranges, **(settings or {})}
    if labels.is_graded or goal.metric not in ("auc", "partial_auc"):
        options["metric"] = goal.metric
    if name == "auto":
        options |= parameters or {}
    else:
        options = {"models": [(name, parameters or {})], "time_limit": None} | options
    model = AutoRanker(**options)
    title = f"Fitting {name} to {training.n_rows} rows"
    with _progress(model, title, console), warnings.catch_warnings():
        # the number of queries with both classes is printed
        warnings.simplefilter("ignore", OneClassQueryWarning)
        # columns that are left out are listed afterwards
        warnings.simplefilter("ignore", ColumnsWarning)
        warnings.simplefilter("error", ConstantScoresWarning)
        try:
            model.fit(training.rows, labels)
        except ConstantScoresWarning as warning:
            raise NothingRankedError(
                f"{name} gives all {training.n_rows} rows the same score"
                f"{'' if labels.queries is None else ' within each query'}, so it "
                f"ranks nothing and is not saved. {_advice(name)}"
            ) from warning
    model.file_roles_ = {
        "model": name,
        "target": training.target,
        "query": training.query_column,
        "duration": training.row_columns.duration,
        "decimal": training.decimal,
    }
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


def search_record(model: Any, console: Console) -> dict[str, Any]:
    """Print the result of a search and return it for JSON."""
    console.notes(model.notices_)
    lines = model.summary().splitlines()
    # the first line repeats the number of rows
    console.say("\n".join(line for line in lines[1:] if line[:5] != "Note:"))
    board = model.leaderboard().fill_nan(None)
    return {
        "combination": model.weights_,
        "estimate": {k: None if v != v else v for k, v in model.estimate_.items()},
        "leaderboard": board.to_dicts(),
        "notices": list(model.notices_),
        "dropped_columns": model.encoders_[0].dropped_,
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
