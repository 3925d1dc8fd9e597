"""Packages that parts of aucmax need, imported where they are used."""

from importlib import import_module
from typing import Any


def import_package(name: str, user: str) -> Any:
    """Import a module of another package; the error says how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name not in (name, package):
            raise  # the package is there, and lacks another one
        raise ImportError(
            f"{user} needs {package}, which is not installed: pip install {package}."
        ) from error
