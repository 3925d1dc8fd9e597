"""Candidates of a method, and which of them validation chooses on a fold."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np


class Candidate(NamedTuple):
    """One setting of a method, and how to fit it to what there is to learn from."""

    name: str
    fit: Callable[[Any], Any]


@dataclass
class Choice:
    """Outcome of one method on one fold: the record that all studies have.

    Attributes
    ----------
    candidates : list
        The settings tried.
    valid : list of float
        How good each of them is on rows that are neither learned from nor tested.
    seconds : list of float
        How long each of them took.
    """

    data: str
    method: str
    fold: int
    candidates: list[Any] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def chosen(self) -> int:
        """Which candidate validation likes best: the first of equals."""
        return int(np.argmax(self.valid))

    @property
    def variant(self) -> Any:
        """The method with whatever else tells it from others."""
        return self.method

    def __str__(self) -> str:
        seconds = f"{sum(self.seconds):.1f} s"
        if not self.valid:  # nothing was chosen
            return seconds
        return f"{self.candidates[self.chosen]}, {max(self.valid):.4f}, {seconds}"


C = TypeVar("C", bound=Choice)


class Results(Generic[C]):
    """Choices by data and variant of method, as they came."""

    def __init__(self, choices: Iterable[C]) -> None:
        self._by_variant: dict[tuple[str, Any], list[C]] = {}
        for one in choices:
            self._by_variant.setdefault((one.data, one.variant), []).append(one)

    @property
    def data(self) -> list[str]:
        """Names of the data sets."""
        return list(dict.fromkeys(data for data, _ in self._by_variant))

    @property
    def methods(self) -> list[Any]:
        """Variants of methods that were run on any data set."""
        return list(dict.fromkeys(variant for _, variant in self._by_variant))

    def folds(self, data: str, variant: Any) -> list[C]:
        """Return the folds of one method; none if it was not run."""
        return self._by_variant.get((data, variant), [])
