"""Model files that are safe to read: `save`, `load` and `describe`."""

from aucmax.persistence.model_file import ModelFileInfo, describe, load, save

__all__ = ["ModelFileInfo", "describe", "load", "save"]
