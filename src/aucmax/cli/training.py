"""Fit one model by its name, show progress, and describe the result."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from aucmax.cli.entry_point import NothingRankedError
from aucmax.cli.output import Console
from aucmax.cli.reading import Data

_NOT_FOR_ONNX = "xgboost-ndcg"


def fit_model(
    name: str,
    training: Data,
    labels: Any,
    goal: Any,
    console: Console,
    parameters: dict[str, object] | None = None,
    settings: dict[str, object] | None = None,
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
                "ranks nothing and is not saved. Try --model linear or --model "
                "lambdamart, or check that the columns are related to the target."
            ) from warning
    model.file_roles_ = {
        "model": name,
        "read_options": dict(training.read_options),
        **{role: training.names.get(role) for role in ("target", "qid", "duration")},
    }
    return model


def check_for_onnx(name: str, rows: Any, target: Any, goal: Any) -> dict[str, Any]:
    """Reject what cannot be exported; return parameters for the others."""
    from aucmax.model_selection.models import RANKING_CANDIDATES
    from aucmax.onnx.onnx_graph import OnnxGraph
    from aucmax.onnx.table_columns import add_table
    from aucmax.tables import TableEncoder

    try:
        add_table(OnnxGraph(), TableEncoder().learn(rows), "linear")
    except TypeError as error:
        raise click.ClickException(
            f"{error} Or leave out the column with --drop, or leave out --for-onnx."
        ) from error
    if name == _NOT_FOR_ONNX:
        raise click.UsageError(f"{name} cannot be exported to ONNX; name another.")
    is_ranking = target.queries is not None and not goal.is_area
    if name == "auto" and (is_ranking or target.is_graded) and not target.is_survival:
        others = [one for one in RANKING_CANDIDATES if one != _NOT_FOR_ONNX]
        return {"models": others}
    return {}


@contextmanager
def _progress(model: Any, title: str, console: Console) -> Iterator[None]:
    """Show the progress of a fit; with a time limit, in seconds."""
    limit = int(model.time_limit or 0)
    if limit:
        title += f", up to {model.time_limit:g} s"
    with console.progress(title, limit or 1) as step:
        n_shown = 0

        def show(progress: Any) -> None:
            nonlocal n_shown
            best = ""
            if progress.best:
                best = f", best so far {progress.score:.4f} by {progress.best}"
            n_seconds = min(int(progress.seconds), limit)
            step(f"{progress.candidate}{best}", n_seconds - n_shown)
            n_shown = n_seconds

        if limit:
            model.set_params(callback=show)
        yield
        step("done", 0 if limit else 1)


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
    """Facts about the target, for JSON."""
    roles = ("target", "qid", "sample_weight", "groups", "times", "duration")
    return {
        **target.to_dict(),
        **{role: data.names.get(role) for role in roles},
        "rows_without_target": data.n_left_out,
    }
