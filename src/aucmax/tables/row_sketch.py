"""Recognise the rows of training: a small sketch of them, whatever their order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax.tables.encoder import TableEncoder

Hashes = NDArray[np.uint64]

# Smallest hashes that are kept: eight kilobytes, and a share is known to about 3 %.
_MAX_HASHES = 1024


def sketch_rows(encoder: TableEncoder, X: Any, labels: NDArray[Any]) -> Hashes:
    """Return the smallest hashes of raw rows with their labels, ascending."""
    return np.unique(_hashes(encoder, X, labels))[:_MAX_HASHES]


def share_of_known_rows(
    sketch: Hashes, encoder: TableEncoder, X: Any, labels: NDArray[Any]
) -> float:
    """Estimate the share of rows that are also among those of a sketch, or NaN."""
    # nothing is known of rows whose hash exceeds the largest that was kept
    hashes = _hashes(encoder, X, labels)
    if sketch.size == _MAX_HASHES:
        hashes = hashes[hashes <= sketch[-1]]
    if not hashes.size:
        return float("nan")
    return float(np.isin(hashes, sketch, kind="sort").mean())


def _hashes(encoder: TableEncoder, X: Any, labels: NDArray[Any]) -> Hashes:
    """Return a hash of each row and its label, the same on every machine."""
    matrix = encoder.matrix(X, "trees")
    hashes = _mixed(labels.astype(np.uint64))
    if isinstance(matrix, sparse.csr_array):
        cells = matrix.copy()
        cells.sum_duplicates()
        rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
        place = _mixed(cells.indices.astype(np.uint64) + np.uint64(1))
        # a sum, since zeros may be stored or not, in any order
        np.add.at(hashes, rows, _mixed(_bits(cells.data) ^ place) * (cells.data != 0.0))
        return _mixed(hashes)
    for column in np.asarray(matrix).T:
        hashes = _mixed(hashes ^ _bits(column))
    return hashes


def _bits(numbers: NDArray[np.float64]) -> Hashes:
    """Return the bits of numbers; all NaN are one, and so are both zeros."""
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
    return np.ascontiguousarray(plain, dtype=np.float64).view(np.uint64)


def _mixed(bits: Hashes) -> Hashes:
    """Mix 64 bits, as SplitMix64 does: each bit of the result depends on all."""
    with np.errstate(over="ignore"):
        bits = bits + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))
