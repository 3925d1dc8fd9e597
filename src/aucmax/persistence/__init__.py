"""Model files that are safe to read and are written completely or not at all."""

from aucmax.persistence.model_file import describe, load, save

__all__ = ["describe", "load", "save"]
