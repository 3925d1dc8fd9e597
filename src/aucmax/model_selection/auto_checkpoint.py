"""A file from which a killed search of AutoRanker resumes.

It is always replaced as a whole, first at the start, so that a folder that is not
writable fails before the search. It states what it belongs to: another finished search
is overwritten; for an unfinished one an error names what differs.
"""

import os
import re
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from aucmax._core import saved_state as saved
from aucmax._core.atomic import atomic_output
from aucmax._version import __version__
from aucmax.exceptions import CheckpointError, ModelFileError
from aucmax.model_selection.auto_search import FittedCandidate
from aucmax.model_selection.models import SearchSetting
from aucmax.persistence.container import MAX_FILE_BYTES
from aucmax.persistence.model_file import pack_value, read_file, unpack_value
from aucmax.tables.cross_fit import FoldedTable, TableCandidate
from aucmax.tables.digest import digest_rows

_NAME = "checkpoint"
_ADVICE = "Pass the path of another file, or delete this one to start again."
_FIELDS = ("models", "parts", "seconds")


class SearchCheckpoint:
    """A file of the candidates that are done."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        folded: FoldedTable,
        setting: SearchSetting,
        candidates: Mapping[str, TableCandidate],
    ) -> None:
        self._path = os.fspath(path)
        self._search = _describe(folded, setting, candidates)
        self._sizes = [test.size for _, test in folded.folds]
        self._has_warned = False
        self._records: dict[str, Any] = {}
        if os.path.lexists(self._path):
            self._records = read_file(self._path, self._read, _ADVICE)
        for name in self._records:
            if name not in candidates or not self._is_sound(name, candidates[name]):
                raise ModelFileError(
                    f"{self._path!r} is damaged: its record of {name!r} is incomplete. "
                    f"{_ADVICE}"
                )
        if not self._records:
            self._write(is_done=False)

    @property
    def seconds(self) -> float:
        """Seconds that the candidates took."""
        return float(sum(record["seconds"] for record in self._records.values()))

    def find(self, name: str, model: TableCandidate) -> FittedCandidate | None:
        """Return a candidate that is done, or None."""
        record = self._records.get(name)
        return None if record is None else FittedCandidate(name, model, **record)

    def keep(self, fitted: FittedCandidate) -> None:
        """Write a candidate that is done, unless the file has it."""
        if fitted.name in self._records:
            return
        record = {key: getattr(fitted, key) for key in _FIELDS}
        try:
            pack_value(record, fitted.name)
        except (TypeError, MemoryError):  # no file can hold it: it is fitted again
            return
        self._records[fitted.name] = record
        self.update()

    def update(self, *, is_done: bool = False) -> None:
        """Replace the file, or warn once that it failed; another search may follow."""
        try:
            self._write(is_done)
        except (OSError, ValueError, MemoryError) as error:
            if not self._has_warned:
                self._has_warned = True
                text = f"the fit continues without its checkpoint {self._path!r}"
                warnings.warn(f"{text}: {error}", RuntimeWarning, stacklevel=2)

    def _write(self, is_done: bool) -> None:
        content = pack_value([self._search, is_done, self._records], _NAME)
        if (size := len(content)) > MAX_FILE_BYTES:
            raise ValueError(f"it needs {size} bytes, and {MAX_FILE_BYTES} are allowed")
        with atomic_output(self._path, overwrite=True) as file:
            file.write(content)

    def _read(self, content: bytes) -> dict[str, Any]:
        """Return the records of this search; none if the file is of a finished one."""
        name, value = unpack_value(content)
        types = [dict, bool, dict]
        if name != _NAME or type(value) is not list or [*map(type, value)] != types:
            raise ModelFileError("it is not a checkpoint")
        search, is_done, records = value
        now = self._search
        differences = "; ".join(
            f"{key} was {str(search.get(key))[:60]} and is {now.get(key)} now"
            for key in {**now, **search}
            if search.get(key) != now.get(key)
        )
        if differences and not is_done:
            raise CheckpointError(
                f"the checkpoint {self._path!r} is of another fit, which is not "
                f"finished: {differences}. Continue that fit, or: {_ADVICE}"
            )
        return {} if differences else records

    def _is_sound(self, name: str, model: TableCandidate) -> bool:
        """Return whether a record has one model and finite scores per fold."""
        try:
            candidate = FittedCandidate(name, model, **self._records[name])
            return (
                [part.shape for part in candidate.parts] == [(n,) for n in self._sizes]
                and [*map(saved.can_score, candidate.models)]
                == [True] * len(self._sizes)
                and bool(np.isfinite([*candidate.scores, candidate.seconds]).all())
            )
        except (AttributeError, TypeError, ValueError):
            return False


def _describe(
    folded: FoldedTable,
    setting: SearchSetting,
    candidates: Mapping[str, TableCandidate],
) -> dict[str, str]:
    target, tests = folded.target, [test for _, test in folded.folds]
    rows = target.labels, target.weights, target.queries, target.groups, target.times
    return {
        "aucmax": __version__,
        **{name: version(name) for name in ("lightgbm", "scikit-learn")},
        "the digest of the rows": digest_rows(folded.table, rows),
        "the digest of the folds": digest_rows(np.concatenate(tests), tests),
        "the goal": str(setting.goal),
        "random_state": str(setting.random_state),
        **{f"the model {name!r}": _digest(one) for name, one in candidates.items()},
    }


def _digest(candidate: TableCandidate) -> str:
    """Return a digest of all parameters; functions count by their names."""
    model = candidate.estimator
    parameters = {k: v for k, v in model.get_params().items() if k != "n_jobs"}
    text = re.sub(r" at 0x[0-9a-f]+", "", f"{type(model).__name__} {parameters}")
    return digest_rows(np.frombuffer(text.encode(), np.uint8), ())
