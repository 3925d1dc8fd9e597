"""Arrays as ``.npy`` members, checked before numpy reads them."""

import io
import math
import re
import sys
from typing import Any

import numpy as np

from aucmax.exceptions import ModelFileError

# Python literals of one fixed shape, as numpy writes them: nothing else is passed on.
_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|][biufU][0-9]{1,9})', "
    rb"'fortran_order': (?:True|False), "
    rb"'shape': \((?P<shape>(?:[0-9]{1,18}, )*(?:[0-9]{1,18},?)?)\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
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
    if content[:8] != _MAGIC:
        raise ModelFileError(f"{name} is not an array file")
    data_start = 10 + int.from_bytes(content[8:10], "little")
    header = _HEADER.fullmatch(content[10:data_start])
    if header is None:
        raise ModelFileError(f"{name} has a header that aucmax does not write")
    dtype = _plain_dtype(header["dtype"].decode(), name)
    shape = [int(length) for length in re.findall(rb"[0-9]+", header["shape"])]
    if len(shape) > 32 or math.prod(shape) * dtype.itemsize != (
        len(content) - data_start
    ):
        raise ModelFileError(
            f"{name} declares shape {tuple(shape)} of {dtype}, which does not fit its "
            f"{len(content) - data_start} bytes of data"
        )
    if dtype.kind == "U":
        # numpy loads code points that do not exist, and fails when one is read
        kind = np.dtype("u4").newbyteorder(dtype.byteorder)
        code_points = np.frombuffer(content, kind, offset=data_start)
        if code_points.max(initial=0) > sys.maxunicode:
            raise ModelFileError(f"{name} holds a character that does not exist")
    array: np.ndarray[Any, Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return array


def parse_scalar(dtype: str, hexadecimal: str, name: str) -> Any:
    """Rebuild a numpy number from its type and its bytes."""
    plain = _plain_dtype(dtype, name)
    if plain.kind == "U" or not re.fullmatch(r"(?:[0-9a-f]{2}){1,8}", hexadecimal):
        raise ModelFileError(f"{name} is not a number of type {dtype}")
    content = bytes.fromhex(hexadecimal)
    if len(content) != plain.itemsize:
        raise ModelFileError(f"{name} does not have the size of a {dtype}")
    return np.frombuffer(content, plain)[0]


def _plain_dtype(text: str, name: str) -> np.dtype[Any]:
    if not re.fullmatch(r"[<>|][biufU][1-9][0-9]{0,8}", text):
        raise ModelFileError(f"{name} has the type {text[:20]!r}, which is not allowed")
    kind, size = text[1], int(text[2:])
    if kind != "U" and size not in _SIZES[kind]:
        raise ModelFileError(f"{name} has the type {text!r}, which does not exist")
    try:
        return np.dtype(text)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{name} has the type {text!r}: {error}") from error
