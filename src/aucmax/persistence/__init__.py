"""Model files that are safe to read and are written completely or not at all."""

from aucmax._core.atomic import atomic_output
from aucmax.persistence.model_file import ModelFileInfo, describe, load, save

__all__ = ["ModelFileInfo", "atomic_output", "describe", "load", "save"]
