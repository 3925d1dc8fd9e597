"""What studies share: which data are there, records of results, pages made of text."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from string import Template
from typing import Any, TypeVar

from benchmarks.papers.narasimhan2013 import show
from benchmarks.papers.narasimhan2013_data import FOLDER

R = TypeVar("R")


class Placeholders(Template):
    """Text with ``@name`` for what is computed; the dollar is for formulas."""

    delimiter = "@"


def data_there(
    names: Iterable[str], missing: Callable[[str], Path | None]
) -> list[str]:
    """Return the data sets whose files are there, and say which are not."""
    found = []
    for name in names:
        path = missing(name)
        if path is None:
            found.append(name)
        else:
            show(
                f"{name}: {path} is not there, so these data are left out. Name the "
                f"folder of the data sets in AUCMAX_DATA (now {FOLDER})."
            )
    return found


def read_record(path: Path, kind: type[R]) -> R | None:
    """Return the result of an earlier run, if there is one."""
    return kind(**json.loads(path.read_text())) if path.is_file() else None


def write_record(path: Path, result: Any) -> None:
    """Write a dataclass whole or not at all."""
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(asdict(result)) + "\n")
    partial.replace(path)
