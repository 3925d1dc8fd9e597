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
]


class NotEnoughClassesError(ValueError):
    """There is nothing to rank: all rows belong to one class."""


class IncompatibleError(TypeError):
    """Two parts do not fit together, such as a solver and a risk."""


class DataFileError(ValueError):
    """A data file cannot be read; the message names file, line and column."""


class ModelFileError(ValueError):
    """A model file is damaged, altered, or of a kind this version does not know."""


class ConstantScoresWarning(UserWarning):
    """No weights are better than 0 for this risk: a valid answer that ranks nothing."""


class DivergedWarning(UserWarning):
    """Scores have left the range of numbers; the last good rounds are kept."""


class MarginWarning(UserWarning):
    """The largest margin is not above 0: a valid answer that ranks little."""


class OneClassQueryWarning(UserWarning):
    """Some queries have rows of one class only, and so no pairs to learn from."""
