"""Recognise the rows of training: a small sketch of them, whatever their order."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax.tables.encoder import TableEncoder

Hashes = NDArray[np.uint64]

# Smallest hashes that are kept: eight kilobytes, and a share is known to about 3 %.
_MAX_HASHES = 1024


def sketch_rows(encoder: TableEncoder, X: object, labels: NDArray[np.int64]) -> Hashes:
    """Return the smallest hashes of raw rows with their labels, ascending."""
    return np.unique(_hash_rows(encoder, X, labels))[:_MAX_HASHES]


def share_of_known_rows(
    sketch: Hashes, encoder: TableEncoder, X: object, labels: NDArray[np.int64]
) -> float:
    """Estimate the share of rows that are also among those of a sketch, or NaN."""
    # nothing is known of rows whose hash exceeds the largest that was kept
    hashes = _hash_rows(encoder, X, labels)
    if sketch.size == _MAX_HASHES:
        hashes = hashes[hashes <= sketch[-1]]
    if not hashes.size:
        return float("nan")
    return float(np.isin(hashes, sketch, kind="sort").mean())


def _hash_rows(encoder: TableEncoder, X: object, labels: NDArray[np.int64]) -> Hashes:
    """Return a hash of each row with its label, by the bits of the trees' matrix."""
    matrix = encoder.matrix(X, "trees")
    hashes = _split_mix(labels.astype(np.uint64))
    if isinstance(matrix, sparse.csr_array):
        cells = matrix.copy()
        cells.sum_duplicates()
        rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
        place = _split_mix(cells.indices.astype(np.uint64) + np.uint64(1))
        # a sum, since zeros may be stored or not, in any order
        np.add.at(
            hashes, rows, _split_mix(_bits(cells.data) ^ place) * (cells.data != 0.0)
        )
        return _split_mix(hashes)
    for column in np.asarray(matrix).T:
        hashes = _split_mix(hashes ^ _bits(column))
    return hashes


def _bits(numbers: NDArray[np.float64]) -> Hashes:
    """Return the bits of numbers; all NaN are one, and so are both zeros."""
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
    return np.ascontiguousarray(plain, dtype=np.float64).view(np.uint64)


def _split_mix(bits: Hashes) -> Hashes:
    """Hash 64-bit numbers by SplitMix64: each bit of a hash depends on all bits."""
    with np.errstate(over="ignore"):
        bits = bits + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))
