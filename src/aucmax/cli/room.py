"""Where rows are kept: in memory, or on disk if they need more than there is."""

import click

from aucmax._core.memory import free_memory, in_words
from aucmax.cli.console import Console
from aucmax.cli.data import Source

__all__ = ["disk_option", "fits_in_memory", "stays_on_disk"]

# A frame, the matrix that is made of it, and what a fit copies.
_COPIES = 4
# A text file in memory, as cells and while they are read, by its size; packed ones are
# about a fifth of that.
_OF_TEXT, _OF_PACKED_TEXT = 2, 10

disk_option = click.option(
    "--on-disk/--in-memory",
    default=None,
    help="Whether rows stay on disk and are read some at a time [default: if they need "
    "more memory than is free].",
)


def stays_on_disk(data: Source, choice: bool | None, console: Console) -> bool:
    """Tell whether to leave rows on disk: as the user says, or for want of memory."""
    if choice is not None:
        return choice
    if fits_in_memory(data):
        return False
    needed, free = _COPIES * _size(data), free_memory()
    console.note(
        f"{data.path} needs about {in_words(needed)} of memory, and {in_words(free)} "
        "are free: rows stay on disk (--in-memory reads them all)"
    )
    return True


def fits_in_memory(data: Source) -> bool:
    """Return whether a fit in memory needs no more of it than is free."""
    return _COPIES * _size(data) <= free_memory()


def _size(data: Source) -> int:
    """Estimate the bytes of the rows in memory; 0 if they have to be there anyway."""
    from aucmax.datasets import COMPRESSIONS, file_format, open_table

    files = data.files
    if not all(file.is_file() for file in files):
        return 0  # what is not there is said where it is read
    kind = data.format or file_format(files[0])
    if kind in ("svmlight", "letor"):
        return 0
    if kind == "parquet":
        return int(open_table(data.path, format=data.format or "auto").estimated_size())
    sizes = (
        file.stat().st_size
        * (_OF_PACKED_TEXT if file.suffix.lower() in COMPRESSIONS else _OF_TEXT)
        for file in files
    )
    return sum(sizes)
