"""Equality that sees everything a file must keep."""

import struct

import numpy as np
import scipy.sparse as sp

from aucmax.persistence import load, save


def through_file(estimator, folder):
    path = folder / "model.aucmax"
    save(estimator, path, overwrite=True)
    return load(path)


def same(a, b):
    """Equality that sees types, bits of NaN, signs of zero and memory order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and not isinstance(a, np.generic):
        return struct.pack("d", a) == struct.pack("d", b)
    if isinstance(a, range):
        return (a.start, a.stop, a.step) == (b.start, b.stop, b.step)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, np.ndarray):
        return same_array(a, b)
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if sp.issparse(a):
        return a.shape == b.shape and all(
            same(getattr(a, part), getattr(b, part))
            for part in ("data", "indices", "indptr")
        )
    if hasattr(a, "get_params"):
        return same(vars(a), vars(b))
    return bool(a == b)


def same_array(a, b):
    if a.dtype == object:
        return b.dtype == object and a.shape == b.shape and same(a.tolist(), b.tolist())
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
