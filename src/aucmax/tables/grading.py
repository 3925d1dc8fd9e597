"""What the values of a target mean: two classes, or levels of relevance."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Grading", "as_text"]


@dataclass(frozen=True)
class Grading:
    """Which level each value of a target stands for.

    Attributes
    ----------
    values : tuple
        The values, as they are in the table.
    levels : tuple of int
        Their levels: 0 or 1 for two classes, where several values may share the 0;
        else the values themselves, as integers.
    """

    values: tuple[Any, ...]
    levels: tuple[int, ...]

    @classmethod
    def two_classes(cls, negatives: Sequence[Any], positive: Any) -> "Grading":
        """Rank one value above all others.

        Parameters
        ----------
        negatives : sequence
            The other values.
        positive : object
            The value on top.

        Returns
        -------
        Grading
        """
        return cls((*negatives, positive), (*(0 for _ in negatives), 1))

    @property
    def is_graded(self) -> bool:
        """Whether there are more than two levels."""
        return len(set(self.levels)) > 2

    @property
    def lowest(self) -> int:
        """The level of rows that are not relevant."""
        return min(self.levels)

    @property
    def negatives(self) -> list[Any]:
        """The values that count as negative."""
        return [v for v, k in zip(self.values, self.levels, strict=True) if not k]

    @property
    def positive(self) -> Any:
        """The value of the highest level: of two classes the positive one."""
        return self.values[self.levels.index(max(self.levels))]

    @property
    def classes(self) -> tuple[Any, ...]:
        """What a prediction can say: the two classes, or the levels."""
        if self.is_graded or len(self.negatives) == 1:
            return self.values
        return (f"not {as_text(self.positive)}", as_text(self.positive))

    @property
    def by_text(self) -> dict[str, int]:
        """The level of each value, by its spelling; 1 and 0 are true and false."""
        found = dict(zip(map(as_text, self.values), self.levels, strict=True))
        for spellings in (("true", "false"), ("1", "0")):
            if found.keys() == {*spellings}:
                true, false = (found[word] for word in spellings)
                found |= {"true": true, "1": true, "false": false, "0": false}
        return found

    @property
    def listed(self) -> str:
        """The values in a sentence."""
        shown = [repr(value) for value in self.values]
        return f"{', '.join(shown[:-1])} and {shown[-1]}"


def as_text(value: Any) -> str:
    """One spelling for a value, whatever its type: 1, 1.0 and "1" are "1"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    return re.sub(r"^([+-]?[0-9]+)\.0+$", r"\1", text)
