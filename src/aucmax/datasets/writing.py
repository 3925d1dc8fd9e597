"""Tables as CSV, TSV and Parquet files, whole or not at all."""

from pathlib import Path
from typing import TYPE_CHECKING

from aucmax._core.atomic import atomic_output
from aucmax._core.threads import require_polars_threads
from aucmax.datasets.opening import FORMATS

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS = {"csv": ",", "tsv": "\t"}


def save_table(
    frame: "pl.DataFrame", path: str | Path, *, overwrite: bool = False
) -> None:
    """Write a polars frame to a file that :func:`load_table` reads.

    The file is written whole or not at all.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    path : str or Path
        Where to write it: ``.csv``, ``.tsv`` or ``.parquet``.
    overwrite : bool, default=False
        Whether a file that is already there may be replaced.

    Raises
    ------
    ValueError
        The name has another ending.
    OSError
        The file cannot be written, or exists and `overwrite` is False.
    """
    require_polars_threads()
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind != "parquet" and kind not in _SEPARATORS:
        raise ValueError(f"{path}: tables are written as .csv, .tsv or .parquet.")
    with atomic_output(path, overwrite=overwrite) as file:
        if kind == "parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file, separator=_SEPARATORS[kind])
