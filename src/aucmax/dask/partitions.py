"""Columns of rows, cut into the same parts: the partitions that messages name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from aucmax._core.dask_dispatch import is_dask
from aucmax.dask.cluster import Cluster
from aucmax.dask.tasks import Key, Tasks

Part: TypeAlias = dict[str, Any]  # the block of each column


def rows_in_parts(tasks: Tasks, columns: dict[str, Any]) -> list[Key]:
    """Return the task of each :data:`Part`, cut as one of the columns is."""
    # Arrays with known chunks are cut again. All others must have the same partitions:
    # this checks their number, check_lengths their lengths.
    given = {
        name: declared(name, values) if is_dask(values) else np.asarray(values)
        for name, values in columns.items()
        if values is not None
    }
    for name, values in given.items():
        if values.ndim != 1 and name != "X":
            raise ValueError(
                f"{name} must be one-dimensional, one value per row, got "
                f"{values.ndim} dimensions."
            )
    collections = {name: values for name, values in given.items() if is_dask(values)}
    leader = next(
        (name for name, values in collections.items() if _known_lengths(values)),
        next(iter(collections)),
    )
    lengths = _known_lengths(given[leader])
    if lengths is None and len(collections) < len(given):
        lengths = _count_rows(leader, given[leader])
    cut = {
        name: _cut_alike(name, values, leader, lengths)
        for name, values in given.items()
    }
    blocks = dict(zip(cut, tasks.take(cut), strict=True))
    _check_numbers(blocks, leader)
    return [
        tasks.add(_as_part, list(part), names=list(blocks))
        for part in zip(*blocks.values(), strict=True)
    ]


def _as_part(blocks: list[Any], names: list[str]) -> Part:
    return dict(zip(names, blocks, strict=True))


def _count_rows(name: str, values: Any) -> tuple[int, ...]:
    tasks = Tasks()
    (blocks,) = tasks.take({name: values})
    return tuple(Cluster().compute(tasks, [tasks.add(len, one) for one in blocks]))


def collect(name: str, values: Any) -> NDArray[Any]:
    """Return a column in parts as an array of this process."""
    tasks = Tasks()
    (blocks,) = tasks.take({name: declared(name, values)})
    arrays = [np.asarray(block) for block in Cluster().compute(tasks, blocks)]
    # a partition without rows may have any type
    return np.concatenate([array for array in arrays if array.size] or arrays[:1])


def declared(name: str, values: Any) -> Any:
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


def check_lengths(part: Part, number: int) -> None:
    """Reject blocks of different lengths, of the partition of this number."""
    (first, block), *others = part.items()
    for name, other in others:
        if np.shape(other)[0] != np.shape(block)[0]:
            raise ValueError(
                f"partition {number} has {np.shape(block)[0]} rows in {first}, but "
                f"{np.shape(other)[0]} in {name}: all columns need the same "
                "partitions. Take them from one frame, or use arrays with known chunks."
            )


@contextmanager
def naming_partition(number: int) -> Iterator[None]:
    """Add the number of the partition to errors."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"In partition {number}: {error}") from None


def _known_lengths(values: Any) -> tuple[int, ...] | None:
    if not isinstance(values, da.Array) or np.isnan(values.shape[0]):
        return None
    lengths: tuple[int, ...] = values.chunks[0]
    return lengths


def _cut_alike(
    name: str, values: Any, leader: str, lengths: tuple[int, ...] | None
) -> Any:
    """Return the values in parts of these lengths, if they can be cut."""
    declared_lengths = _known_lengths(values)
    if lengths is None or declared_lengths == lengths:
        return values
    if declared_lengths is None and is_dask(values):
        return values
    if values.shape[0] != sum(lengths):
        raise ValueError(
            f"{name} has {values.shape[0]} rows, but {leader} has {sum(lengths)}; both "
            "need one value per row."
        )
    if declared_lengths is not None:
        return values.rechunk({0: lengths})
    return da.from_array(values, chunks=(lengths,))


def _check_numbers(cut: dict[str, list[Key]], leader: str) -> None:
    for name, blocks in cut.items():
        if len(blocks) != len(cut[leader]):
            raise ValueError(
                f"{name} has {len(blocks)} partitions, but {leader} has "
                f"{len(cut[leader])}: all columns need the same partitions. Take them "
                "from one frame, or use arrays with known chunks."
            )
