"""Put the parts of a table's columns side by side in one matrix."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax.tables._columns import OneHot

__all__ = ["assemble_dense", "assemble_sparse"]


def assemble_dense(
    parts: Iterator[NDArray[np.float64] | OneHot], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Fill an array."""
    matrix = np.zeros(shape)
    position = 0
    for part in parts:
        if isinstance(part, OneHot):
            (rows,) = np.nonzero(part.codes >= 0)
            matrix[rows, position + part.codes[rows]] = 1.0
            position += part.width
        else:
            matrix[:, position] = part
            position += 1
    return matrix


def assemble_sparse(
    parts: Iterator[NDArray[np.float64] | OneHot], shape: tuple[int, int]
) -> sparse.csr_array:
    """Build CSR rows, with 32-bit indices, which every scikit-learn solver takes."""
    rows, columns, values = [], [], []
    position = 0
    for part in parts:
        if isinstance(part, OneHot):
            (filled,) = np.nonzero(part.codes >= 0)
            columns.append(position + part.codes[filled])
            values.append(np.ones(filled.size))
            position += part.width
        else:
            (filled,) = np.nonzero(part)
            columns.append(np.full(filled.size, position))
            values.append(part[filled])
            position += 1
        rows.append(filled)
    places = tuple(np.concatenate(p).astype(np.int32) for p in (rows, columns))
    return sparse.csr_array((np.concatenate(values), places), shape=shape)
