"""Errors that say what was wrong, where, and what to do."""

__all__ = [
    "DataFileError",
    "IncompatibleError",
    "MarginWarning",
    "ModelFileError",
    "NotEnoughClassesError",
]


class NotEnoughClassesError(ValueError):
    """There is nothing to rank: all rows belong to one class."""


class IncompatibleError(TypeError):
    """Two parts do not fit together, such as a solver and a risk."""


class DataFileError(ValueError):
    """A data file cannot be read; the message names file, line and column."""


class ModelFileError(ValueError):
    """A model file is damaged, altered, or of a kind this version does not know."""


class MarginWarning(UserWarning):
    """The largest margin is not above 0: a valid answer that ranks little."""
