"""The progress of a fit in one file, so that it can resume if its process dies."""

import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from aucmax._core.atomic import atomic_output
from aucmax.exceptions import CheckpointError, ModelFileError
from aucmax.persistence.container import MAX_FILE_BYTES
from aucmax.persistence.model_file import pack_value, read_file, unpack_value

_NAME = "checkpoint"
_KEYS = ["fit", "is_done", "state"]


class Checkpoint:
    """The file of one fit; it holds values that a model file could hold."""

    # It is always replaced as a whole, first at the start, so that a folder that is not
    # writable fails before the fit. fit has parameters, digests and versions: another
    # finished fit is overwritten; for an unfinished one an error names the change.
    def __init__(self, path: str | os.PathLike[str], fit: Mapping[str, str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(
                f"checkpoint must be the path of a file, got {type(path).__name__}."
            )
        self._path = os.fspath(path)
        self._fit = dict(fit)
        self._has_warned = False
        self.state: dict[str, Any] = self._read()
        if not self.state:
            self._replace({}, is_done=False)

    def write(self, state: Mapping[str, Any], *, is_done: bool = False) -> None:
        """Replace the file by one with this state, or warn once that it failed."""
        try:
            self._replace(state, is_done)
        except (OSError, ValueError, MemoryError) as error:
            if not self._has_warned:
                self._has_warned = True
                what = f"the fit continues without its checkpoint {self._path!r}"
                warnings.warn(f"{what}: {error}", RuntimeWarning, stacklevel=2)

    def _replace(self, state: Mapping[str, Any], is_done: bool) -> None:
        values = [self._fit, is_done, dict(state)]
        content = pack_value(dict(zip(_KEYS, values, strict=True)), _NAME)
        if len(content) > MAX_FILE_BYTES:
            raise ValueError(
                f"the checkpoint needs {len(content)} bytes, and {MAX_FILE_BYTES} are "
                "allowed"
            )
        with atomic_output(self._path, overwrite=True) as file:
            file.write(content)

    def _read(self) -> dict[str, Any]:
        """Return the state to resume from; empty if there is none."""
        if not os.path.lexists(self._path):
            return {}
        fit, is_done, state = read_file(
            self._path,
            _unpack,
            "Pass the path of another file, or delete this one to start from the "
            "beginning.",
        )
        differences = list(_differences(fit, self._fit))
        if not differences:
            return state
        if is_done:
            return {}
        raise CheckpointError(
            f"the checkpoint {self._path!r} is of another fit, which is not finished: "
            f"{'; '.join(differences)}. Continue that fit, pass the path of another "
            "file, or delete this one to start from the beginning."
        )


def _unpack(content: bytes) -> tuple[dict[str, str], bool, dict[str, Any]]:
    name, value = unpack_value(content)
    if name != _NAME or not isinstance(value, dict) or list(value) != _KEYS:
        raise ModelFileError("it is not a checkpoint")
    fit, is_done, state = value.values()
    if (
        not isinstance(fit, dict)
        or not all(isinstance(text, str) for text in (*fit, *fit.values()))
        or not isinstance(is_done, bool)
        or not isinstance(state, dict)
    ):
        raise ModelFileError("it does not state the fit that it belongs to")
    return fit, is_done, state


def _differences(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name, "not there"), now.get(name, "not there")
        if old != new:
            yield f"{name} was {old[:60]} and is {new[:60]} now"
