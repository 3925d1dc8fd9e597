"""Errors that say what was wrong, where, and what to do."""

__all__ = [
    "ConstantScoresWarning",
    "DataFileError",
    "DivergedWarning",
    "IncompatibleError",
    "MarginWarning",
    "ModelFileError",
    "NotEnoughClassesError",
    "OneClassQueryWarning",
    "TooManyValuesError",
    "WrongSeparatorError",
]


class NotEnoughClassesError(ValueError):
    """There is nothing to rank: all rows belong to one class."""


class TooManyValuesError(ValueError):
    """A target has more than two values, and they are not taken for levels.

    Parameters
    ----------
    problem : str
        What was found, without advice.
    may_be_levels : bool
        Whether the values could be levels of relevance: whole numbers, 0 or above.
    """

    def __init__(self, problem: str, may_be_levels: bool) -> None:
        super().__init__(problem, may_be_levels)
        self.problem = problem
        self.may_be_levels = may_be_levels

    def __str__(self) -> str:
        levels = "; if they are levels of relevance, use a model that learns levels"
        return (
            f"{self.problem}. Pass positive= to rank one value above all others"
            f"{levels if self.may_be_levels else ''}."
        )


class IncompatibleError(TypeError):
    """Two parts do not fit together, such as a solver and a risk."""


class DataFileError(ValueError):
    """A data file cannot be read; the message names file, line and column."""


class WrongSeparatorError(DataFileError):
    """The columns of a text table seem to be separated by another character.

    Parameters
    ----------
    problem : str
        What was found, without advice.
    separator : str
        The character that seems to separate the columns.
    """

    def __init__(self, problem: str, separator: str) -> None:
        super().__init__(problem, separator)
        self.problem = problem
        self.separator = separator

    def __str__(self) -> str:
        return (
            f"{self.problem}; pass separator={self.separator!r} if that separates the "
            "columns."
        )


class ModelFileError(ValueError):
    """A model file is damaged, altered, or of a kind this version does not know.

    Parameters
    ----------
    reason : str
        What is wrong with the file.
    advice : str, optional
        What to do about it, as sentences; None if only the usual advice applies.
    """

    def __init__(self, reason: str, advice: str | None = None) -> None:
        super().__init__(reason, advice)
        self.reason = reason
        self.advice = advice

    def __str__(self) -> str:
        return self.reason if self.advice is None else f"{self.reason}. {self.advice}"


class ConstantScoresWarning(UserWarning):
    """No weights are better than 0 for this risk: a valid answer that ranks nothing."""


class DivergedWarning(UserWarning):
    """Scores have left the range of numbers; the last good rounds are kept."""


class MarginWarning(UserWarning):
    """The largest margin is not above 0: a valid answer that ranks little."""


class OneClassQueryWarning(UserWarning):
    """Some queries have rows of one class only, and so no pairs to learn from."""
