"""Errors that say what was wrong, where, and what to do."""

from dataclasses import dataclass

__all__ = [
    "CheckpointError",
    "ConstantScoresWarning",
    "DataFileError",
    "DataFileWarning",
    "DivergedWarning",
    "FewRowsWarning",
    "ForkedProcessError",
    "IncompatibleError",
    "MarginWarning",
    "ModelFileError",
    "NotEnoughClassesError",
    "OneClassQueryWarning",
    "RoundedScoresWarning",
    "TooManyValuesError",
    "UnknownCategoriesWarning",
]


class NotEnoughClassesError(ValueError):
    """There is nothing to rank: all rows belong to one class."""


@dataclass(eq=False)
class TooManyValuesError(ValueError):
    """A target has more than two values, and they are not taken for levels.

    Attributes
    ----------
    problem : str
        What was found, without advice.
    may_be_levels : bool
        Whether the values could be levels of relevance: whole numbers, 0 or above.
    """

    problem: str
    may_be_levels: bool

    def __str__(self) -> str:
        levels = "; if they are levels of relevance, use a model that learns levels"
        return (
            f"{self.problem}. Pass positive= to rank one value above all others"
            f"{levels if self.may_be_levels else ''}."
        )


class IncompatibleError(TypeError):
    """Two parts do not fit together, such as a solver and a risk."""


class ForkedProcessError(RuntimeError):
    """A forked process lacks the threads that it would have to wait for."""


class CheckpointError(ValueError):
    """A fit was asked to go on from the checkpoint of another fit."""


class DataFileError(ValueError):
    """A data file cannot be read; the message names file, line and column."""


@dataclass(eq=False)
class ModelFileError(ValueError):
    """A model file is damaged, altered, or of a kind this version does not know.

    Attributes
    ----------
    reason : str
        What is wrong with the file.
    advice : str, optional
        What to do about it, as sentences; None if only the usual advice applies.
    """

    reason: str
    advice: str | None = None

    def __str__(self) -> str:
        return self.reason if self.advice is None else f"{self.reason}. {self.advice}"


class ConstantScoresWarning(UserWarning):
    """All scores of training rows are equal: a valid answer that ranks nothing."""


class UnknownCategoriesWarning(UserWarning):
    """Most cells of a category column hold no category of training."""


class DataFileWarning(UserWarning):
    """Something was found out of a data file that its name or options do not say."""


class DivergedWarning(UserWarning):
    """Scores have left the range of numbers; the last good rounds are kept."""


class FewRowsWarning(UserWarning):
    """An interval rests on too few rows to hold as often as it states."""


class MarginWarning(UserWarning):
    """The largest margin is not above 0: a valid answer that ranks little."""


class OneClassQueryWarning(UserWarning):
    """Some queries have rows of one class only, and so no pairs to learn from."""


class RoundedScoresWarning(UserWarning):
    """Scores are of a type with too few digits: rows are tied by rounding."""
