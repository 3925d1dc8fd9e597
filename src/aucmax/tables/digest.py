"""Digests of rows: equal for equal rows."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

_LENGTH = 16  # hexadecimal digits: 64 bits
_BLOCK = 2**24  # bytes that are made contiguous at a time


def digest_rows(table: Any, vectors: Iterable[object]) -> str:
    """Digest a polars frame, sparse matrix or array, and vectors that are not None."""
    digest = hashlib.sha256(repr(table.shape).encode())
    if sparse.issparse(table):
        parts: Any = table
        for array in (parts.data, parts.indices.astype(np.int64), parts.indptr):
            _add_array(digest, array.astype(array.dtype.newbyteorder("<"), copy=False))
    elif isinstance(table, np.ndarray):
        _add_array(digest, table)
    else:
        for column in table.iter_columns():
            _add_column(digest, column)
    for values in vectors:
        if values is not None:
            _add_array(digest, values)
    return digest.hexdigest()[:_LENGTH]


def _add_column(digest: Any, column: Any) -> None:
    import polars as pl

    digest.update(f"\0{column.name}\0{column.dtype}\0".encode())
    _add_array(digest, column.is_null().to_numpy())
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        physical = column.to_physical()
        _add_array(digest, physical.fill_null(0).to_numpy())
    else:
        strings = column.cast(pl.String, strict=False).fill_null("")
        _add_array(digest, strings.str.len_bytes().to_numpy())
        digest.update((strings.str.join("").item() or "").encode())


def _add_array(digest: Any, values: Any) -> None:
    values = np.asarray(values)
    n_rows = max(_BLOCK * len(values) // max(values.nbytes, 1), 1)
    for start in range(0, len(values), n_rows):
        digest.update(np.ascontiguousarray(values[start : start + n_rows]).data)
