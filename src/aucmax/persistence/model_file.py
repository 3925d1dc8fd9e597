"""Save an estimator to a file and load it again, without pickle."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from aucmax._core.atomic import atomic_output
from aucmax.exceptions import ModelFileError
from aucmax.persistence.container import MAX_FILE_BYTES, open_container, seal_container
from aucmax.persistence.decode import Decoder
from aucmax.persistence.encode import Encoder
from aucmax.persistence.registry import REGISTRY, public_name
from aucmax.persistence.strict_json import dump_json, parse_json

_STATE = "state.json"

T = TypeVar("T")


@dataclass(frozen=True)
class ModelFileInfo:
    """The contents of a model file: class, versions and sizes.

    Attributes
    ----------
    class_name : str
        Public name of the estimator's class.
    format_version : int
        Version of the file format.
    made_with : dict of str to str
        Package versions of the writer: aucmax, numpy, scikit-learn.
    file_bytes : int
        Length of the file.
    members : dict of str to int
        Unpacked length of each member.
    """

    class_name: str
    format_version: int
    made_with: dict[str, str]
    file_bytes: int
    members: dict[str, int]


def save(
    estimator: object, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Save an estimator, fitted or not, to one file.

    The file holds parameters and fitted attributes exactly: the loaded model gives the
    same scores bit for bit. The file is written completely or not at all, after it was
    read back in memory. Time and memory are proportional to the size of the model.

    Parameters
    ----------
    estimator : estimator
        An aucmax estimator, or a scikit-learn ``LogisticRegression``.
    path : str or path-like
        Where to save it, usually with the suffix ``.aucmax``.
    overwrite : bool, default=False
        Whether to replace an existing file.

    Raises
    ------
    TypeError
        The class is unknown, or a value, such as a function, cannot be saved.
    ValueError
        The state is not consistent, or too large.
    FileExistsError
        The file exists and `overwrite` is False.
    OSError
        The folder does not exist or cannot be written, or the disk is full.

    See Also
    --------
    load : Load such a file.

    Examples
    --------
    >>> import os, tempfile, aucmax
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression(C=2.0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     aucmax.save(model, os.path.join(folder, "model.aucmax"))
    ...     again = aucmax.load(os.path.join(folder, "model.aucmax"))
    >>> again
    LogisticRegression(C=2.0)
    >>> bool((again.coef_ == model.coef_).all())
    True
    """
    name = public_name(type(estimator))
    if name is None:
        raise TypeError(
            f"cannot save an object of type {type(estimator).__qualname__}: a model "
            f"file holds one of {', '.join(sorted(REGISTRY))}, not a subclass. "
            "AutoRanker(models=[...]) is one model of raw tables, in place of a "
            "Pipeline with TableEncoder; the steps of another Pipeline can be saved "
            "one by one, and other estimators with joblib, whose files run code."
        )
    content = _pack(estimator, name)
    with atomic_output(path, overwrite=overwrite) as file:
        file.write(content)


def load(path: str | os.PathLike[str]) -> Any:
    """Load an estimator that `save` wrote.

    Every byte of the file is checked before it is used, and nothing in it is ever
    executed: it can name only classes that this version of aucmax lists.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        With the parameters and attributes that were saved.

    Raises
    ------
    ModelFileError
        The file is damaged, altered, not a model file, of another format version, or
        holds something unknown. The message says which, and what to do.
    FileNotFoundError, PermissionError
        The file does not exist, or may not be read.

    See Also
    --------
    save : Write such a file.
    describe : Read class, versions and sizes only.
    """
    return read_file(path, _unpack)


def describe(path: str | os.PathLike[str]) -> ModelFileInfo:
    """Return class, versions and sizes of a model file, without building anything.

    Parameters
    ----------
    path : str or path-like
        The file. Its seal and its hashes are checked, with the errors of `load`.

    Returns
    -------
    ModelFileInfo
        With the fields ``class_name``, ``format_version``, ``made_with`` (the version
        of each package), ``file_bytes``, and ``members`` (the size of each part).
    """
    return read_file(path, _summarise)


def _summarise(content: bytes) -> ModelFileInfo:
    manifest, members = open_container(content)
    return ModelFileInfo(
        class_name=manifest["class"],
        format_version=manifest["format_version"],
        made_with=manifest["made_with"],
        file_bytes=len(content),
        members={name: len(member) for name, member in members.items()},
    )


def _pack(estimator: object, name: str) -> bytes:
    """Return the bytes of a file that is known to load."""
    content = pack_value(estimator, name)
    try:
        if len(content) > MAX_FILE_BYTES:
            raise ModelFileError(
                f"it needs {len(content)} bytes, and {MAX_FILE_BYTES} are allowed"
            )
        _unpack(content)
    except ModelFileError as error:
        raise ValueError(
            f"cannot save this {name}, since it could not be loaded: {error.reason}. "
            "Nothing was written."
        ) from error
    return content


def _unpack(content: bytes) -> Any:
    name, estimator = unpack_value(content)
    class_name = public_name(type(estimator))
    if class_name is None:
        raise ModelFileError("it does not hold an estimator")
    if class_name != name:
        raise ModelFileError("its manifest names another class than its state")
    return estimator


def pack_value(value: object, name: str) -> bytes:
    """Return the bytes of a file that holds a value under a name."""
    import sklearn

    from aucmax._version import __version__

    encoder = Encoder()
    tree = encoder.encode(value, name)
    versions = {
        "aucmax": __version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    return seal_container({_STATE: dump_json(tree), **encoder.members}, name, versions)


def unpack_value(content: bytes) -> tuple[str, Any]:
    """Return the name and the value of such a file."""
    manifest, members = open_container(content)
    if _STATE not in members:
        raise ModelFileError(f"it has no member {_STATE}")
    tree = parse_json(members.pop(_STATE), _STATE)
    name = manifest["class"]
    decoder = Decoder(members, manifest["made_with"])
    try:
        value = decoder.decode(tree, name[:80])
    except RecursionError as error:
        raise ModelFileError("its values are nested too deep") from error
    decoder.check_all_used()
    return name, value


def read_file(
    path: str | os.PathLike[str],
    use: Callable[[bytes], T],
    usual: str = "Get a fresh copy of the file, or fit and save the model again.",
) -> T:
    """Return `use` of a file's bytes; errors name the file and the remedy."""
    try:
        return use(_read_bytes(path))
    except ModelFileError as error:
        raise ModelFileError(
            f"cannot load {os.fspath(path)!r}: {error.reason}", error.advice or usual
        ) from error


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    # not blocking: opening a pipe would wait for a writer forever
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise ModelFileError("it is a folder", "Give the name of a file in it.")
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("it is not a regular file", "Give the name of one.")
        if status.st_size > MAX_FILE_BYTES:
            raise ModelFileError(
                f"it has {status.st_size} bytes, more than the {MAX_FILE_BYTES} allowed"
            )
        with open(descriptor, "rb", closefd=False) as file:
            # read at most its size: the memory is allocated at once
            return file.read(status.st_size + 1)
    finally:
        os.close(descriptor)
