"""Columns in parts, gathered in this process, and messages that name a part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from aucmax.dask.cluster import Cluster
from aucmax.dask.tasks import Tasks


def collect(name: str, values: object) -> NDArray[Any]:
    """Return a column in parts as an array of this process."""
    tasks = Tasks()
    (blocks,) = tasks.take({name: declared(name, values)})
    arrays = [np.asarray(block) for block in Cluster().compute(tasks, blocks)]
    # a partition without rows may have any type
    return np.concatenate([array for array in arrays if array.size] or arrays[:1])


def declared(name: str, values: object) -> Any:
    """Return the array with a check that its blocks are as it declares them."""
    if not isinstance(values, da.Array):
        return values
    return values.map_blocks(
        _check_block, column=name, kind=values.dtype, meta=values._meta
    )


def _check_block(block: Any, column: str, kind: np.dtype[Any], block_info: Any) -> Any:
    shape, expected = np.shape(block), block_info[None]["chunk-shape"]
    is_right = len(shape) == len(expected) and all(
        found == size or np.isnan(size)
        for found, size in zip(shape, expected, strict=True)
    )
    if not is_right or (kind.kind in "fiub" and block.dtype.kind not in "fiub"):
        raise ValueError(
            f"block {block_info[0]['chunk-location'][0]} of {column} has shape {shape} "
            f"and type {block.dtype}, but {column} declares {expected} and {kind}; "
            f"correct the block, or use {column}.compute_chunk_sizes()."
        )
    return block


@contextmanager
def naming_partition(number: int) -> Iterator[None]:
    """Add the number of the partition to errors."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"In partition {number}: {error}") from None
