"""From results of folds to the figures of a table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.papers.choices import Results
from benchmarks.papers.suehiro2011 import printed
from benchmarks.papers.suehiro2011.data import (
    TOPICS,
    UCI,
    Data,
    NewsData,
    RuleData,
    TableData,
)
from benchmarks.papers.suehiro2011.printed import Printed
from benchmarks.papers.suehiro2011.protocol import FoldResult

OURS = ("pairs", "instances")  # may be chosen inside the training rows


def rows_of(part: str) -> list[tuple[Data, Printed]]:
    """Return the data of a table with what was printed for them."""
    if part == "1":
        cells = printed.TABLE_1.items()
        return [(RuleData(r, noise), row) for (r, noise), row in cells]
    if part == "2":
        cells = printed.TABLE_2.items()
        return [(RuleData(r, 5, share), row) for (share, r), row in cells]
    if part == "3":
        return [(TableData(name), printed.TABLE_3[name]) for name in UCI]
    return [(NewsData(topic), printed.TABLE_4[topic]) for topic in TOPICS]


class FoldResults(Results[FoldResult]):
    """Results of folds, by data, method and hypotheses."""

    def select(
        self, data: Data, method: str, hypotheses: str = "features"
    ) -> list[FoldResult]:
        """Return the folds of one method; none if it was not run."""
        return self.folds(str(data), (method, hypotheses))

    def has_part(self, part: str) -> bool:
        """Return whether any data of a table were run."""
        return any(str(data) in self.data for data, _ in rows_of(part))


class Best(NamedTuple):
    """The best parameter by the test folds themselves, and its AUC."""

    parameter: float
    auc: float


def best(folds: Sequence[FoldResult], among: Sequence[float]) -> Best | None:
    """Return the parameter with the largest mean AUC on the test folds."""
    table = _table(folds, "auc", among)
    if table is None:
        return None
    place = int(np.argmax(table.mean(axis=0)))
    parameter = [value for value in folds[0].candidates if value in among][place]
    return Best(parameter, float(table[:, place].mean()))


def at(
    folds: Sequence[FoldResult], parameter: float, name: str = "auc"
) -> float | None:
    """Return the mean AUC for one parameter."""
    table = _table(folds, name, [parameter])
    return None if table is None or table.size == 0 else float(table.mean())


def chosen_inside(folds: Sequence[FoldResult], name: str = "auc") -> float | None:
    """Return the mean AUC with the parameter chosen inside the training rows."""
    if not folds or not folds[0].valid:
        return None
    return float(np.mean([getattr(fold, name)[fold.chosen] for fold in folds]))


def _table(
    folds: Sequence[FoldResult], name: str, among: Sequence[float]
) -> np.ndarray | None:
    """Return one figure for each fold and each of the parameters in `among`."""
    if not folds or not getattr(folds[0], name):
        return None
    keep = [value in among for value in folds[0].candidates]
    return np.array([getattr(fold, name) for fold in folds])[:, keep]
