"""Rows as a training library hands them over: the same ones, round after round."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import IntArray

__all__ = ["LabelledRows", "Recent"]

Prepared = TypeVar("Prepared")

_KEPT = 4  # data sets: one to train on, and a few to evaluate


@dataclass(frozen=True)
class LabelledRows:
    """Labels, weights and queries of a data set."""

    labels: NDArray[Any]  # classes or levels
    weights: NDArray[Any] | None = None  # of the rows
    sizes: NDArray[Any] | None = None  # rows of each query; None for one query
    query_weights: NDArray[Any] | None = None

    @property
    def qid(self) -> IntArray | None:
        """The query of each row."""
        if self.sizes is None:
            return None
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def copy(self) -> LabelledRows:
        """Return rows that no one else can change."""
        return deepcopy(self)

    def is_equal(self, other: LabelledRows) -> bool:
        """Tell whether all values are the same, in a pass over each array."""
        return all(
            mine is None and its is None
            if mine is None or its is None
            else np.array_equal(mine, its)
            for mine, its in zip(self._arrays(), other._arrays(), strict=True)
        )

    def _arrays(self) -> tuple[NDArray[Any] | None, ...]:
        return self.labels, self.weights, self.sizes, self.query_weights


class Recent(Generic[Prepared]):
    """Keep what has been prepared for the last few data sets.

    They are told apart by their values: libraries copy arrays at each call, and users
    may set labels anew. Comparing them costs a small part of preparing them.
    """

    def __init__(self, prepare: Callable[[LabelledRows], Prepared]) -> None:
        self._prepare = prepare
        self._kept: list[tuple[LabelledRows, Prepared]] = []

    def get(self, rows: LabelledRows) -> Prepared:
        """Return what belongs to these rows, prepared now if it is not kept."""
        for known, prepared in self._kept:
            if known.is_equal(rows):
                return prepared
        prepared = self._prepare(rows)
        self._kept = [(rows.copy(), prepared), *self._kept[: _KEPT - 1]]
        return prepared
