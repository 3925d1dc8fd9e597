"""A file from which a killed search of AutoRanker resumes.

It is always replaced as a whole, first at the start, so that a folder that is not
writable fails before the search. It states what it belongs to: another finished search
is overwritten; for an unfinished one an error names what differs.
"""

import os
import re
import warnings
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from aucmax._core.atomic import atomic_output
from aucmax._version import __version__
from aucmax.exceptions import CheckpointError, ModelFileError
from aucmax.model_selection.fitted_candidates import FittedCandidate, SearchRows
from aucmax.model_selection.models import SearchSetting
from aucmax.persistence.container import MAX_FILE_BYTES
from aucmax.persistence.model_file import pack_value, read_file, unpack_value
from aucmax.tables.cross_fit import Candidate
from aucmax.tables.digest import digest_rows

_NAME = "checkpoint"
_ADVICE = "Pass the path of another file, or delete this one to start again."
_RECORD = ("models", "parts", "seconds")


class SearchCheckpoint:
    """A file of the candidates that are done."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        rows: SearchRows,
        setting: SearchSetting,
        candidates: Sequence[Candidate],
    ) -> None:
        self._path = os.fspath(path)
        self._search = _describe(rows, setting, candidates)
        self._has_warned = False
        self._records: dict[str, Any] = {}
        if os.path.lexists(self._path):
            sizes = [test.size for _, test in rows.plan.folds]
            read = partial(self._read, {one.name for one in candidates}, sizes)
            self._records = read_file(self._path, read, _ADVICE)
        if not self._records:
            self._write(is_done=False)

    @property
    def seconds(self) -> float:
        """Seconds that the candidates took."""
        return float(sum(record["seconds"] for record in self._records.values()))

    def find(self, candidate: Candidate) -> FittedCandidate | None:
        """Return a candidate that is done, or None."""
        record = self._records.get(candidate.name)
        return None if record is None else FittedCandidate(candidate, **record)

    def keep(self, fitted: FittedCandidate) -> None:
        """Write a candidate that is done."""
        record = {key: getattr(fitted, key) for key in _RECORD}
        try:
            pack_value(record, fitted.candidate.name)
        except (TypeError, MemoryError):  # no file can hold it: it is fitted again
            return
        self._records[fitted.candidate.name] = record
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
        if len(content) > MAX_FILE_BYTES:
            size = f"{len(content)} bytes, and {MAX_FILE_BYTES} are allowed"
            raise ValueError(f"the checkpoint needs {size}")
        with atomic_output(self._path, overwrite=True) as file:
            file.write(content)

    def _read(
        self, names: set[str], sizes: Sequence[int], content: bytes
    ) -> dict[str, Any]:
        """Return the records of this search; none if the file is of a finished one."""
        name, value = unpack_value(content)
        types = [dict, bool, dict]
        if name != _NAME or type(value) is not list or [*map(type, value)] != types:
            raise ModelFileError("it is not a checkpoint")
        search, is_done, records = value
        now = self._search
        differences = "; ".join(
            f"{name} was {str(search.get(name))[:60]} and is {now.get(name)} now"
            for name in {**now, **search}
            if search.get(name) != now.get(name)
        )
        if differences and is_done:
            return {}
        if differences:
            raise CheckpointError(
                f"the checkpoint {self._path!r} is of another fit, which is not "
                f"finished: {differences}. Continue that fit, or: {_ADVICE}"
            )
        for name, record in records.items():
            if name not in names or not _is_sound(record, sizes):
                raise ModelFileError(
                    f"the checkpoint is damaged: its record of {name!r} is incomplete"
                )
        return dict(records)


def _describe(
    rows: SearchRows, setting: SearchSetting, candidates: Sequence[Candidate]
) -> dict[str, str]:
    table, target = rows.given.table, rows.given.target
    columns = (target.weights, target.queries, target.groups, target.times)
    folds = [test for _, test in rows.plan.folds]
    return {
        "aucmax": __version__,
        "lightgbm": version("lightgbm"),
        "scikit-learn": version("scikit-learn"),
        "the digest of the rows": digest_rows(table, (target.labels, *columns)),
        "the digest of the folds": digest_rows(rows.plan.rows, folds),
        "the part of the ROC curve": str(setting.part),
        "the metric": setting.metric,
        "random_state": str(setting.random_state),
        **{f"the model {one.name!r}": _parameters(one) for one in candidates},
    }


def _parameters(candidate: Candidate) -> str:
    """Return a digest of all parameters; functions count by their names."""
    model = candidate.estimator
    parameters = {k: v for k, v in model.get_params().items() if k != "n_jobs"}
    text = re.sub(r" at 0x[0-9a-f]+", "", f"{type(model).__name__} {parameters}")
    return digest_rows(np.frombuffer(text.encode(), np.uint8), ())


def _is_sound(record: Any, sizes: Sequence[int]) -> bool:
    """Return whether a record has one model and finite scores per fold."""
    try:
        models, parts, seconds = (record[key] for key in _RECORD)
        shapes = [(part.shape, part.dtype) for part in parts]
        return (
            len(record) == len(_RECORD)
            and [hasattr(model, "get_params") for model in models]
            == [True] * len(sizes)
            and shapes == [((n,), np.float64) for n in sizes]
            and bool(np.isfinite([*np.concatenate(parts), seconds]).all())
            and seconds >= 0.0
        )
    except (AttributeError, LookupError, TypeError, ValueError):
        return False
