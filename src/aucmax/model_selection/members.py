"""The models that score new rows: fitted to all of them in time, or those of folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.model_selection.candidates import Setting
from aucmax.model_selection.clock import Clock
from aucmax.model_selection.out_of_fold import (
    FittedCandidate,
    TimeUpError,
    TrainingTable,
    fit_candidate,
)
from aucmax.model_selection.rank_scale import learn_scale
from aucmax.model_selection.search import Found, reason_of
from aucmax.tables import TableEncoder
from aucmax.tables.table_model import view_training_rows

__all__ = ["Members", "choose_members"]


@dataclass(frozen=True)
class Members:
    """What scores new rows.

    Attributes
    ----------
    encoders : list of TableEncoder
        The columns, as learned from all rows or in each fold.
    records : list of dict
        "name", "weight" and "view" of a model, the largest weight first; for each
        encoder one of "models" and one of "scales".
    notices : list of str
        What a user should know.
    """

    encoders: list[TableEncoder]
    records: list[dict[str, Any]]
    notices: list[str]


def choose_members(
    found: Found,
    weights: FloatArray,
    rows: TrainingTable,
    setting: Setting,
    clock: Clock,
) -> Members:
    """Fit the candidates that have a weight to all rows; keep their folds otherwise.

    One model that has seen all rows ranks better than the mean of those that lack a
    fold each. The latter are there already, when the time is up or someone stops.
    """
    order = np.argsort(-weights, kind="stable")
    kept = [(found.fitted[k], float(weights[k])) for k in order if weights[k] > 0.0]
    notices = []
    if rows.plan.refits and not found.is_stopped:
        try:
            return _of_all_rows(kept, rows, setting, clock)
        except TimeUpError:
            notices.append("there was no time to fit the models to all rows")
        except KeyboardInterrupt:
            notices.append("interrupted before the models were fitted to all rows")
        except Exception as error:
            notices.append(f"not fitted to all rows: {reason_of(error)}")
    scoring = rows.plan.scoring
    records = [
        _record(
            one,
            share,
            [one.models[k] for k in scoring],
            [one.scales[k] for k in scoring],
        )
        for one, share in kept
    ]
    return Members([rows.encoder(k) for k in scoring], records, notices)


def _of_all_rows(
    kept: Sequence[tuple[FittedCandidate, float]],
    rows: TrainingTable,
    setting: Setting,
    clock: Clock,
) -> Members:
    """Fit anew, each on the scale of the rows that its folds had kept aside."""
    table, labels = rows.given.table, rows.given.labels
    clock.check(rows.seconds_to_refit([one for one, _ in kept]))
    is_scoring = np.isin(rows.plan.fold_of_row, rows.plan.scoring)
    encoder = TableEncoder().fit(table, labels)
    matrices: dict[str, Any] = {}
    records = []
    for one, share in kept:
        view = one.candidate.view
        if view not in matrices:
            matrices[view] = view_training_rows(view, encoder, table, rows.given.target)
        model = fit_candidate(
            one.candidate,
            rows,
            setting,
            encoder,
            matrices[view],
            np.arange(labels.size),
            lambda *_: clock.check(),
        )
        scale = learn_scale(one.scores[is_scoring], one.spread)
        records.append(_record(one, share, [model], [scale]))
    return Members([encoder], records, [])


def _record(
    one: FittedCandidate, share: float, models: list[Any], scales: list[FloatArray]
) -> dict[str, Any]:
    return {
        "name": one.candidate.name,
        "weight": share,
        "view": one.candidate.view,
        "models": models,
        "scales": scales,
    }
