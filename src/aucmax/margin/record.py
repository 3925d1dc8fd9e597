"""Records that a model file can hold."""

from dataclasses import fields
from typing import Any

__all__ = ["Record"]


class Record:
    """Base of dataclasses that are kept with a fitted model."""

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """Return the fields by name, as a model file stores them.

        The argument `deep` is scikit-learn's, and has no effect.
        """
        record: Any = self
        return {field.name: getattr(self, field.name) for field in fields(record)}
