"""Censored times: events and durations of rows, checked and sorted."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    check_qid,
    check_sample_weight,
    check_scores,
    reject_missing_labels,
)


def is_survival_target(target: Any) -> bool:
    """Return whether a target has events and times, and not labels.

    That is a structured array, or a frame with the columns ``event`` and ``time``.
    """
    if getattr(getattr(target, "dtype", None), "names", None) is not None:
        return True
    columns = getattr(target, "columns", None)
    return columns is not None and {"event", "time"} <= set(columns)


def split_target(target: Any) -> tuple[Any, Any]:
    """Return events and times of a structured array or a frame with these columns.

    Fields of an array may have other names if one is a boolean and the other a number.
    """
    fields = getattr(getattr(target, "dtype", None), "names", None)
    names = fields or getattr(target, "columns", None)
    if names is not None and set(names) == {"event", "time"}:
        return target["event"], target["time"]
    if fields is not None and len(fields) == 2:
        kinds = [target.dtype[name].kind for name in fields]
        if sorted(kind == "b" for kind in kinds) == [False, True]:
            event = kinds.index("b")
            return target[fields[event]], target[fields[1 - event]]
    columns = "no columns" if names is None else ", ".join(map(str, names))
    more = ""
    if names is not None and len(names) > 2:
        more = " Entry times (left truncation) and competing risks are not supported."
    raise ValueError(
        "the target of censored times must have the columns 'event' and 'time', "
        f"got {columns}.{more} aucmax.metrics.survival_target(event, time) makes one."
    )


def join_target(event: ArrayLike, time: ArrayLike) -> NDArray[np.void]:
    """Check events and times, and return them as one structured array."""
    events, times = check_survival(event, time)
    target = np.empty(times.size, dtype=[("event", bool), ("time", np.float64)])
    target["event"], target["time"] = events, times
    return target


def check_survival(event: ArrayLike, time: ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Check events and times, and return them as arrays."""
    given = np.asarray(time)
    has_dates = any(hasattr(value, "isoformat") for value in given.ravel()[:1])
    if given.dtype.kind in "mM" or has_dates:
        raise ValueError(
            "time holds dates; give durations as numbers, for example the days from "
            "the start of each row to its event or censoring."
        )
    times = check_scores(time, None, "time")
    if times.size and times.min() < 0.0:
        row = int(np.argmin(times))
        raise ValueError(
            f"time must be at least 0, but {np.count_nonzero(times < 0.0)} rows are "
            f"below, the lowest {times[row]:g} in row {row}. Left truncation is not "
            "supported."
        )
    codes = np.asarray(event)
    if codes.shape != times.shape:
        raise ValueError(
            f"event and time must have one value per row, got shapes {codes.shape} and "
            f"{times.shape}."
        )
    reject_missing_labels(codes, "event")
    is_event = np.asarray(codes == 1)
    if not np.asarray(is_event | (codes == 0)).all():
        values = sorted(set(codes.tolist()), key=str)
        raise ValueError(
            "event must be 1 (or True) for an observed event and 0 for a censored row, "
            f"got {', '.join(map(repr, values[:5]))}. If one code is the event, write "
            f"event == {values[-1]!r}; competing risks are not supported."
        )
    return is_event, times


class SurvivalRows:
    """Rows in the order of strata and times, checked and sorted once."""

    def __init__(
        self,
        event: ArrayLike,
        time: ArrayLike,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> None:
        self.event, self.time = check_survival(event, time)
        n_rows = self.time.size
        weight = check_sample_weight(sample_weight, n_rows)
        self.weight = np.ones(n_rows) if weight is None else weight
        self.codes = np.zeros(n_rows, dtype=np.int64)
        if qid is not None:
            self.codes = np.asarray(check_qid(qid, n_rows).codes, dtype=np.int64)
        # bits of numbers from 0 on are in their order; events precede censored rows
        bits = (self.time + 0.0).view(np.uint64) * np.uint64(2) + ~self.event
        self.order = np.argsort(bits)
        if qid is not None:
            self.order = self.order[np.argsort(self.codes[self.order], kind="stable")]
        strata, times = self.codes[self.order], self.time[self.order]
        is_new = np.ones(n_rows, dtype=bool)
        is_new[1:] = (strata[1:] != strata[:-1]) | (times[1:] != times[:-1])
        starts = np.flatnonzero(is_new)
        self.times = np.append(starts, n_rows)
        n_strata = int(strata[-1]) + 1
        self.strata = np.searchsorted(strata[starts], np.arange(n_strata + 1))
        self.starts = np.searchsorted(strata, np.arange(n_strata + 1))
