"""A tree of JSON tags back to values; nothing outside the format can result."""

import inspect
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aucmax._core.saved_state import SavedField
from aucmax.exceptions import ForkedProcessError, ModelFileError
from aucmax.persistence.arrays import is_plain, parse_array
from aucmax.persistence.encode import PLAIN_TYPES, is_free_name, unsaved_attributes
from aucmax.persistence.registry import find_class, saved_fields

MAX_RANGE = 1_000_000

# seeds have up to 128 bits; to print a number takes time quadratic in its length
_HEX_INTEGER = re.compile(r"-?0x[1-9a-f][0-9a-f]{0,999}")
_HEX_DOUBLE = re.compile(r"[0-9a-f]{16}")


class Decoder:
    """Rebuilds values from a tagged tree, which must use each of `members` once."""

    def __init__(self, members: dict[str, bytes], made_with: dict[str, str]) -> None:
        self._unused = dict(members)
        self._made_with = made_with
        self._by_tag: dict[str, Callable[[Any, str], Any]] = {
            "int": _integer,
            "float": _float,
            "text": self._text,
            "tuple": lambda items, path: tuple(self._list(items, path)),
            "range": self._range,
            "dict": self._dict,
            "array": self._array,
            "object_array": self._object_array,
            "numpy": _scalar,
            "numpy_str": _numpy_str,
            "csr_array": lambda parts, path: self._csr("csr_array", parts, path),
            "csr_matrix": lambda parts, path: self._csr("csr_matrix", parts, path),
            "estimator": self._estimator,
        }

    def decode(self, tree: object, path: str) -> Any:
        """Return the value of a tree; `path` names its position in errors."""
        if isinstance(tree, list):
            return self._list(tree, path)
        if not isinstance(tree, dict):
            return tree
        if len(tree) != 1:
            raise ModelFileError(f"{path} has {len(tree)} tags instead of one")
        ((tag, content),) = tree.items()
        if tag not in self._by_tag:
            raise ModelFileError(f"{path} has the unknown tag {tag[:40]!r}")
        return self._by_tag[tag](content, path)

    def check_all_used(self) -> None:
        """Raise if the tree does not refer to some member."""
        if self._unused:
            raise ModelFileError(f"nothing refers to its member {min(self._unused)!r}")

    def _take(self, name: object, suffix: str, path: str) -> bytes:
        if not isinstance(name, str) or not name.endswith(suffix):
            raise ModelFileError(f"{path} does not name a {suffix} member")
        if name not in self._unused:
            raise ModelFileError(
                f"{path} names the member {name[:40]!r}, which is missing or was used "
                "before"
            )
        return self._unused.pop(name)

    def _text(self, name: object, path: str) -> str:
        try:
            return self._take(name, ".txt", path).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise ModelFileError(f"{name} is not UTF-8 text ({error})") from error

    def _array(self, name: Any, path: str) -> Any:
        return parse_array(self._take(name, ".npy", path), name)

    def _list(self, items: object, path: str) -> list[Any]:
        if not isinstance(items, list):
            raise ModelFileError(f"{path} is not a list")
        return [self.decode(item, f"{path}[{i}]") for i, item in enumerate(items)]

    def _range(self, items: object, path: str) -> range:
        numbers = self._list(items, path)
        if [type(number) for number in numbers] != [int] * 3 or numbers[2] == 0:
            raise ModelFileError(f"{path} is not a range: start, stop and step")
        start, stop, step = numbers
        # a reader may make a list of it: memory must not exceed the size of the file
        if abs(stop - start) > MAX_RANGE * abs(step):
            raise ModelFileError(f"{path} is a range of more than {MAX_RANGE} numbers")
        return range(start, stop, step)

    def _dict(self, pairs: object, path: str) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for pair in self._list(pairs, path):
            if not isinstance(pair, list) or len(pair) != 2:
                raise ModelFileError(f"{path} does not consist of pairs")
            key, value = pair
            if type(key) not in PLAIN_TYPES or key in result:
                raise ModelFileError(f"{path} has a wrong or repeated key")
            result[key] = value
        return result

    def _object_array(self, content: object, path: str) -> Any:
        shape, items = _fields(content, ("shape", "items"), path)
        values = self._list(items, path)
        if any(type(value) not in PLAIN_TYPES for value in values):
            raise ModelFileError(f"{path} holds more than text, numbers and None")
        array = np.empty(len(values), dtype=object)
        array[:] = values
        try:
            array = array.reshape(shape)
        except (TypeError, ValueError, OverflowError) as error:
            raise ModelFileError(f"{path} has {len(values)} items ({error})") from error
        if [*array.shape] != shape:
            raise ModelFileError(f"{path} has an invalid shape")
        return array

    def _csr(self, kind: str, content: object, path: str) -> Any:
        import scipy.sparse

        names = ("shape", "data", "indices", "indptr")
        shape, *trees = _fields(content, names, path)
        parts = data, indices, indptr = [self.decode(tree, path) for tree in trees]
        if (
            not isinstance(shape, list)
            or len(shape) != 2
            or any(not isinstance(part, np.ndarray) or part.ndim != 1 for part in parts)
            or data.dtype.kind == "U"
            or indices.dtype != indptr.dtype
            or indices.dtype not in (np.int32, np.int64)
        ):
            raise ModelFileError(f"{path} is not a CSR matrix")
        try:
            matrix = getattr(scipy.sparse, kind)((data, indices, indptr), tuple(shape))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise ModelFileError(f"{path} is not a CSR matrix ({error})") from error
        # scipy narrows 64-bit indices where it can; give back what was saved
        matrix.indices, matrix.indptr = indices, indptr
        return matrix

    def _estimator(self, content: object, path: str) -> Any:
        name, params, state = _fields(content, ("class", "params", "state"), path)
        cls = self._find_class(name, path)
        if not isinstance(params, dict) or not isinstance(state, dict):
            raise ModelFileError(f"{path} has no parameters or no state")
        parameters = inspect.signature(cls).parameters.keys()
        for parameter in params:
            if parameter not in parameters:
                problem = f"{name} has no parameter {parameter[:40]!r}"
                raise ModelFileError(problem, self._version_hint(cls))
        params = {k: self.decode(tree, f"{path}.{k}") for k, tree in params.items()}
        left_out = parameters | unsaved_attributes(cls)
        for attribute in state:
            if attribute in left_out or not is_free_name(cls, attribute):
                raise ModelFileError(
                    f"{path} has a fitted attribute {attribute[:40]!r}, which "
                    f"{name} does not allow",
                    self._version_hint(cls),
                )
        fitted = {k: self.decode(tree, f"{path}.{k}") for k, tree in state.items()}
        fields = saved_fields(cls)
        if fields is not None:
            check_saved_state(name, fields, params, fitted)
        return self._build(cls, params, fitted, path)

    def _find_class(self, name: object, path: str) -> type[Any]:
        if not isinstance(name, str):
            raise ModelFileError(f"{path} does not name a class")
        try:
            return find_class(name[:80])
        except LookupError as error:
            raise ModelFileError(error.args[0], self._version_hint()) from error
        except ModuleNotFoundError as error:
            raise ModelFileError(
                f"it holds a {name}, which needs a package that is not installed "
                f"({error})",
                "Install it, then load again.",
            ) from error

    def _build(
        self,
        cls: type[object],
        params: dict[str, object],
        fitted: dict[str, object],
        path: str,
    ) -> Any:
        """Construct an estimator, restore its state, and call its check."""
        try:
            estimator = cls(**params)
        except (TypeError, ValueError) as error:
            raise ModelFileError(
                f"{cls.__name__} rejects its parameters ({error})",
                self._version_hint(cls),
            ) from error
        try:
            for attribute, value in fitted.items():
                setattr(estimator, attribute, value)
        except AttributeError as error:  # a frozen record
            raise ModelFileError(f"{path} rejects attributes ({error})") from error
        try:
            getattr(estimator, "_check_state", lambda: None)()
        except (ForkedProcessError, ModelFileError):
            raise
        except Exception as error:
            # the file may be hostile: any exception means that the state is invalid
            raise ModelFileError(f"{path} is not consistent ({error})") from error
        return estimator

    def _version_hint(self, cls: type[object] | None = None) -> str:
        """Return which version of the package of a class to load the file with."""
        from aucmax._version import __version__ as here

        package = "aucmax"
        if cls is not None and cls.__module__.startswith("sklearn."):
            import sklearn

            package, here = "scikit-learn", sklearn.__version__
        maker = self._made_with.get(package, "unknown")[:40]
        return (
            f"The file was made by {package} {maker}, this is {here}: load it with "
            "the version that made it, or fit and save the model again."
        )


def _fields(content: object, names: tuple[str, ...], path: str) -> tuple[Any, ...]:
    if not isinstance(content, dict) or tuple(content) != names:
        raise ModelFileError(f"{path} does not have the fields {', '.join(names)}")
    return tuple(content.values())


def _integer(text: object, path: str) -> int:
    if not isinstance(text, str) or not _HEX_INTEGER.fullmatch(text):
        raise ModelFileError(f"{path} is not a hexadecimal integer")
    return int(text, 16)


def _float(text: object, path: str) -> float:
    if not isinstance(text, str) or not _HEX_DOUBLE.fullmatch(text):
        raise ModelFileError(f"{path} is not a double in hexadecimal digits")
    value: float = struct.unpack(">d", bytes.fromhex(text))[0]
    return value


def _scalar(content: object, path: str) -> Any:
    dtype, hexadecimal = _fields(content, ("dtype", "bytes"), path)
    if not isinstance(dtype, str) or not isinstance(hexadecimal, str):
        raise ModelFileError(f"{path} is not a numpy number")
    try:
        plain, number = np.dtype(dtype), bytes.fromhex(hexadecimal)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a numpy number ({error})") from error
    if plain.kind == "U" or not is_plain(plain) or len(number) != plain.itemsize:
        raise ModelFileError(f"{path} is not a number of type {dtype[:40]}")
    return np.frombuffer(number, plain)[0]


def _numpy_str(text: object, path: str) -> np.str_:
    if not isinstance(text, str):
        raise ModelFileError(f"{path} is not a string")
    return np.str_(text)


def check_saved_state(
    name: str,
    fields: Mapping[str, SavedField],
    params: Mapping[str, object],
    state: Mapping[str, object],
) -> None:
    """Reject fitted attributes of class `name`, or parameters, that no fit can set."""
    values = {**params, **state}
    for attribute, field in fields.items():
        if state and field.is_needed and attribute not in values:
            raise ModelFileError(f"{name} has no attribute {attribute!r}")
    for attribute in state:
        if attribute not in fields:
            raise ModelFileError(
                f"{name} has an unknown fitted attribute {attribute[:40]!r}"
            )
    for attribute, field in fields.items():
        if attribute in values:
            expected = field.check(values[attribute], values)
            if expected is not None:
                raise ModelFileError(f"{name}.{attribute} is not {expected}")
