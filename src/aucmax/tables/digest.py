"""A few characters by which one sees that two tables are the same."""

import hashlib
from typing import Any

import numpy as np
import polars as pl

from aucmax.tables._frames import as_table
from aucmax.tables.target import Target

__all__ = ["digest_table"]

_LENGTH = 16  # of the characters that are shown: 64 bits


def digest_table(X: Any, target: Target) -> str:
    """Digest a table and its target: names, kinds and cells of all columns.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target.
    target : Target
        What is ranked; of its columns the levels, queries and weights count.

    Returns
    -------
    str
        The first 16 hexadecimal digits of a SHA-256. The same table read from another
        file, or by another version of polars, has the same.

    Examples
    --------
    >>> import polars as pl
    >>> from aucmax.tables import encode_target, digest_table
    >>> table = pl.DataFrame({"age": [31, 42, None], "kind": ["a", "b", "a"]})
    >>> digest_table(table, encode_target([0, 1, 1]))
    '218ea2770e45e843'
    """
    table = as_table(X)
    digest = hashlib.sha256(repr(table.shape).encode())
    if isinstance(table, pl.DataFrame):
        for column in table.iter_columns():
            _add_column(digest, column)
    else:
        for array in (table.data, table.indices.astype(np.int64), table.indptr):
            _add_array(digest, np.asarray(array, dtype=array.dtype.newbyteorder("<")))
    for values in (target.labels, target.queries, target.weights):
        if values is not None:
            _add_array(digest, values)
    return digest.hexdigest()[:_LENGTH]


def _add_column(digest: Any, column: pl.Series) -> None:
    digest.update(f"\0{column.name}\0{column.dtype}\0".encode())
    _add_array(digest, column.is_null().to_numpy())
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        physical = column.to_physical()
        _add_array(digest, physical.fill_null(0).to_numpy())
    else:
        texts = column.cast(pl.String, strict=False).fill_null("")
        _add_array(digest, texts.str.len_bytes().to_numpy())
        digest.update((texts.str.join("").item() or "").encode())


def _add_array(digest: Any, values: Any) -> None:
    digest.update(np.ascontiguousarray(values).data)
