"""Arrays as ``.npy`` members, checked before their data are read."""

import io
import math
import sys
from typing import Any

import numpy as np

from aucmax.exceptions import ModelFileError

_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_HEADER_BYTES = 1024  # read as Python literals: this bounds what a parser sees
_MAX_DIMENSIONS = 32
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether the file format has this type: bool, int, float up to 64 bits, text."""
    if dtype.kind == "U":
        return dtype.itemsize > 0
    return dtype.itemsize in _SIZES.get(dtype.kind, ())


def dump_array(array: np.ndarray[Any, Any]) -> bytes:
    """Return an array as the bytes of a ``.npy`` file, version 1.0."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def parse_array(content: bytes, name: str) -> np.ndarray[Any, Any]:
    """Read a ``.npy`` file of a plain type whose header agrees with its length."""
    if not content.startswith(_MAGIC):
        raise ModelFileError(f"{name} is not an array file")
    file = io.BytesIO(content[len(_MAGIC) :])
    try:
        shape, _, dtype = np.lib.format.read_array_header_1_0(
            file, max_header_size=_MAX_HEADER_BYTES
        )
    except Exception as error:
        # the literals of a hostile header: any exception means that it is invalid
        raise ModelFileError(f"{name} has an invalid header ({error})") from error
    is_valid = len(shape) <= _MAX_DIMENSIONS and all(type(n) is int for n in shape)
    data = file.read()
    if not is_plain(dtype) or not is_valid or min(shape, default=0) < 0:
        raise ModelFileError(f"{name} has a type or shape that is not allowed: {dtype}")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise ModelFileError(
            f"{name} declares shape {shape} of {dtype}, which does not fit its "
            f"{len(data)} bytes of data"
        )
    if dtype.kind == "U":
        # numpy loads code points that do not exist, and fails when one is read
        code_points = np.frombuffer(data, np.dtype("u4").newbyteorder(dtype.byteorder))
        if code_points.max(initial=0) > sys.maxunicode:
            raise ModelFileError(f"{name} holds a character that does not exist")
    try:
        array: np.ndarray[Any, Any] = np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:  # no data, in a shape that numpy does not have
        raise ModelFileError(f"{name} cannot be read ({error})") from error
    return array
