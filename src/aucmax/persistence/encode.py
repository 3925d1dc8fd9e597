"""Values to a tree of JSON tags; arrays and long strings become members."""

import inspect
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aucmax.persistence.arrays import dump_array, is_plain
from aucmax.persistence.registry import REGISTRY, public_name

LONG_TEXT = 4096
#: integers up to here are plain JSON numbers, which every language reads exactly
MAX_PLAIN_INT = 2**53
#: of values in values, far from the depth at which a reader stops
MAX_NESTING = 33
#: what keys of dictionaries and items of object arrays may be
PLAIN_TYPES = (str, int, float, bool, type(None))


def is_free_name(cls: type[object], name: str) -> bool:
    """Whether a fitted attribute may have this name: no method or property has it."""
    return name.isidentifier() and not name.startswith("__") and not hasattr(cls, name)


def unsaved_attributes(cls: type[object]) -> frozenset[str]:
    """Return the names of instance attributes that are left out of a file."""
    # metadata requests and callbacks of scikit-learn concern the next fit only
    declared = getattr(cls, "_unsaved_attributes", ())
    return frozenset({"_metadata_request", "_skl_callbacks", *declared})


class Encoder:
    """Turns a value into a tagged tree; `members` has its arrays and long strings."""

    def __init__(self) -> None:
        self.members: dict[str, bytes] = {}
        self._depth = 0
        self._by_type: dict[type[Any], Callable[[Any, str], Any]] = {
            type(None): _itself,
            bool: _itself,
            int: _integer,
            float: _float,
            str: self._text,
            list: self._list,
            tuple: lambda value, path: {"tuple": self._list(value, path)},
            range: self._range,
            dict: self._dict,
            np.ndarray: self._array,
            np.memmap: self._array,
            np.str_: lambda value, path: {"numpy_str": str(value)},
        }

    def encode(self, value: object, path: str) -> Any:
        """Return the tagged tree of a value; `path` names its position in errors."""
        handler = self._by_type.get(type(value)) or self._by_kind(value, path)
        self._depth += 1
        if self._depth > MAX_NESTING:
            why = f"values are nested more than {MAX_NESTING} deep, or in themselves"
            raise _unsavable(path, why)
        tree = handler(value, path)
        self._depth -= 1
        return tree

    def _by_kind(self, value: object, path: str) -> Callable[[Any, str], Any]:
        """Return the handler of a value whose type is not in the table."""
        if isinstance(value, np.generic) and is_plain(value.dtype):
            return _scalar
        if type(value).__module__.startswith("scipy.sparse"):
            return self._sparse
        if public_name(type(value)) is not None:
            return self._estimator
        raise _unsavable(
            path,
            f"{_describe(value)}. A model file holds None, bool, int, float, str, "
            "list, tuple, range, dict, numpy arrays of numbers or text, scipy CSR "
            f"matrices, and the estimators {', '.join(sorted(REGISTRY))}",
        )

    def _put(self, suffix: str, content: bytes) -> str:
        name = f"data/{len(self.members)}.{suffix}"
        self.members[name] = content
        return name

    def _text(self, value: str, path: str) -> Any:
        if len(value) <= LONG_TEXT:
            return value
        # "surrogatepass": half a surrogate pair, which UTF-8 forbids, survives too
        return {"text": self._put("txt", value.encode("utf-8", "surrogatepass"))}

    def _list(self, value: Sequence[object], path: str) -> list[Any]:
        return [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value)]

    def _range(self, value: range, path: str) -> Any:
        return {"range": self._list([value.start, value.stop, value.step], path)}

    def _dict(self, value: dict[Any, object], path: str) -> object:
        for key in value:
            if type(key) not in PLAIN_TYPES:
                why = (
                    f"its key {key!r} is {_describe(key)}. Keys must be text or numbers"
                )
                raise _unsavable(path, why)
        return {
            "dict": [
                [self.encode(key, path), self.encode(item, f"{path}[{key!r}]")]
                for key, item in value.items()
            ]
        }

    def _array(self, value: np.ndarray[Any, Any], path: str) -> object:
        if value.dtype == object:
            return self._object_array(value, path)
        if not is_plain(value.dtype):
            raise _unsavable(
                path,
                f"an array of type {value.dtype}. Arrays must hold bool, integers, "
                "floats of at most 64 bits, or text",
            )
        return {"array": self._put("npy", dump_array(np.asarray(value)))}

    def _object_array(self, value: np.ndarray[Any, Any], path: str) -> object:
        for index, item in np.ndenumerate(value):
            if type(item) not in PLAIN_TYPES:
                why = "An object array may hold text, plain numbers and None only"
                raise _unsavable(f"{path}{list(index)}", f"{_describe(item)}. {why}")
        items = self._list(value.ravel().tolist(), path)
        return {"object_array": {"shape": list(value.shape), "items": items}}

    def _sparse(self, value: Any, path: str) -> Any:
        from scipy.sparse import csr_array, csr_matrix

        if type(value) not in (csr_array, csr_matrix) or value.ndim != 2:
            raise _unsavable(path, f"{_describe(value)}. Convert it with .tocsr()")
        parts = {
            name: self.encode(getattr(value, name), f"{path}.{name}")
            for name in ("data", "indices", "indptr")
        }
        return {type(value).__name__: {"shape": list(value.shape), **parts}}

    def _estimator(self, value: object, path: str) -> Any:
        params = self._named(saved_params(value), path)
        state = self._named(_saved_state(value, path), path)
        name = public_name(type(value))
        return {"estimator": {"class": name, "params": params, "state": state}}

    def _named(self, values: Mapping[str, object], path: str) -> dict[str, Any]:
        return {
            name: self.encode(value, f"{path}.{name}") for name, value in values.items()
        }


def saved_params(estimator: Any) -> dict[str, Any]:
    """Return the parameters as they go into a file: unsaved ones at their default.

    Of scikit-learn's classes, those that differ from the default: its versions spell
    the same default in several ways, and remove parameters.
    """
    # the class's method, whatever the instance may have under that name
    params: dict[str, Any] = type(estimator).get_params(estimator, deep=False)
    signature = inspect.signature(type(estimator)).parameters
    for name in getattr(type(estimator), "_unsaved_params", ()):
        params[name] = signature[name].default
    if type(estimator).__module__.startswith("sklearn."):
        defaults = {name: one.default for name, one in signature.items()}
        return {
            name: value
            for name, value in params.items()
            if (type(value), value) != (type(defaults[name]), defaults[name])
        }
    return params


def _saved_state(estimator: object, path: str) -> dict[str, Any]:
    cls = type(estimator)
    left_out = {*inspect.signature(cls).parameters, *unsaved_attributes(cls)}
    state = {k: v for k, v in vars(estimator).items() if k not in left_out}
    for name in state:
        if not is_free_name(cls, name):
            why = f"an attribute may not hide a method or property of {cls.__name__}"
            raise _unsavable(f"{path}.{name}", why)
    return state


def _unsavable(path: str, why: str) -> TypeError:
    return TypeError(f"cannot save {path[:200]}: {why}; nothing was written.")


def _describe(value: object) -> str:
    kind = type(value)
    if callable(value):
        return f"a function or callable ({kind.__module__}.{kind.__qualname__})"
    return f"an object of type {kind.__module__}.{kind.__qualname__}"


def _itself(value: object, path: str) -> Any:
    return value


def _integer(value: int, path: str) -> Any:
    return value if abs(value) <= MAX_PLAIN_INT else {"int": hex(value)}


def _float(value: float, path: str) -> Any:
    # JSON has no infinity and no NaN; eight bytes keep even the NaN's own bits
    return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}


def _scalar(value: np.generic, path: str) -> Any:
    return {"numpy": {"dtype": value.dtype.str, "bytes": value.tobytes().hex()}}
