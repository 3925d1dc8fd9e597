"""Files that commands write: refused before the work, whole or absent after it."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

__all__ = [
    "PICTURES",
    "REPORTS",
    "TABLES",
    "check_ending",
    "check_outputs",
    "make_folder",
    "save_figure",
]

PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")
REPORTS = (".html", ".htm", ".md")
TABLES = (".csv", ".tsv", ".parquet")


def make_folder(folder: Path) -> None:
    """Create the folder of the results, with those above it, unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise click.ClickException(
            f"{folder}: there is a file of that name, where a folder is needed."
        ) from error


def check_outputs(
    outputs: Iterable[Path | None],
    force: bool,
    inputs: Iterable[Path] = (),
    *,
    makes_folder: bool = False,
) -> None:
    """Refuse outputs that exist, would replace an input, or cannot be written.

    Their folder must be there, unless it is made along with them.
    """
    taken = {os.path.realpath(path): "is an input" for path in inputs}
    for path in filter(None, outputs):
        if (place := os.path.realpath(path)) in taken:
            raise click.ClickException(
                f"{path} {taken[place]}; choose another name for the output."
            )
        taken[place] = "is named for two outputs"
        if path.exists() and not path.is_file():
            raise click.ClickException(f"{path} is a folder or a device; name a file.")
        if path.exists() and not force:
            raise click.ClickException(
                f"{path} exists; choose another name, or replace it with --force."
            )
        folder = path.parent
        if makes_folder and not folder.exists():
            folder = folder.parent
        if not folder.is_dir():
            raise click.ClickException(f"there is no folder {folder}; create it first.")
        for existing in (folder, *([path] if path.exists() else [])):
            if not os.access(existing, os.W_OK):
                raise click.ClickException(f"no permission to write in {existing}.")


def check_ending(path: Path | None, endings: Sequence[str]) -> None:
    """Refuse a file of a kind that cannot be written, before the work."""
    if path is not None and path.suffix.lower() not in endings:
        raise click.ClickException(
            f"{path}: its name must end in one of {', '.join(endings)}."
        )


def save_figure(figure: Any, path: Path, force: bool) -> None:
    """Write a picture, its kind by the name."""
    from aucmax.persistence import atomic_output

    with atomic_output(path, overwrite=force) as file:
        kind = path.suffix.lstrip(".").lower()
        figure.savefig(file, format=kind, dpi=150, bbox_inches="tight")
