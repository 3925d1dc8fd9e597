"""Errors and warnings; each message states the problem, its place and a remedy."""

from dataclasses import dataclass

__all__ = [
    "CheckpointError",
    "ColumnsWarning",
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
    "PositiveClassWarning",
    "RoundedScoresWarning",
    "TooManyValuesError",
    "UnknownCategoriesWarning",
]


class NotEnoughClassesError(ValueError):
    """There is nothing to rank: all rows belong to one class."""


@dataclass(eq=False)
class TooManyValuesError(ValueError):
    """A target has more than two values that are not treated as levels.

    Attributes
    ----------
    problem : str
        The values found, without advice.
    may_be_levels : bool
        Whether the values could be levels of relevance: whole numbers, 0 or above.
    """

    problem: str
    may_be_levels: bool

    def __str__(self) -> str:
        levels = "; if they are levels of relevance, use a model that learns levels"
        return (
            f"{self.problem}. Pass pos_label= to rank one value above all others"
            f"{levels if self.may_be_levels else ''}."
        )


class IncompatibleError(TypeError):
    """Two parts do not fit together, such as a solver and a risk."""


class ForkedProcessError(RuntimeError):
    """A forked process lacks the threads that it needs."""


class CheckpointError(ValueError):
    """A checkpoint belongs to another fit, so this one cannot resume from it."""


class DataFileError(ValueError):
    """A data file cannot be read; the message names file, line and column."""


@dataclass(eq=False)
class ModelFileError(ValueError):
    """A model file is damaged, altered, or of a format this version does not know.

    Attributes
    ----------
    reason : str
        The problem with the file.
    advice : str, optional
        A remedy, in sentences; None if only the usual advice applies.
    """

    reason: str
    advice: str | None = None

    def __str__(self) -> str:
        return self.reason if self.advice is None else f"{self.reason}. {self.advice}"


class ColumnsWarning(UserWarning):
    """Columns are left out, new, or in another order than in training."""


class ConstantScoresWarning(UserWarning):
    """All scores of training rows are equal: a valid answer that ranks nothing."""


class UnknownCategoriesWarning(UserWarning):
    """Most cells of a category column have categories unknown from training."""


class DataFileWarning(UserWarning):
    """A property of a data file was guessed: neither its name nor an option gave it."""


class DivergedWarning(UserWarning):
    """Scores overflowed; the rounds before are kept."""


class FewRowsWarning(UserWarning):
    """There are too few rows for an interval to have its stated coverage."""


class MarginWarning(UserWarning):
    """The largest margin is not above 0: a valid answer that ranks little."""


class OneClassQueryWarning(UserWarning):
    """Some queries have rows of one class only, and so no pairs to learn from."""


class PositiveClassWarning(UserWarning):
    """By default the positive class is the frequent one, and the other an event."""


class RoundedScoresWarning(UserWarning):
    """Scores are of a type with too few digits: rows are tied by rounding."""
