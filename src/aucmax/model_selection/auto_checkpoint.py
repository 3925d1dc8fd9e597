"""A file from which a killed search of AutoRanker resumes."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aucmax._version import __version__
from aucmax.exceptions import ModelFileError
from aucmax.model_selection.fitted_candidates import FittedCandidate, SearchRows
from aucmax.model_selection.models import SearchCandidate, SearchSetting
from aucmax.persistence.checkpoint import Checkpoint
from aucmax.persistence.model_file import pack_value
from aucmax.tables.digest import digest_rows

_KEYS = ("models", "parts", "seconds")


class SearchCheckpoint:
    """A file of the candidates that are done."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        rows: SearchRows,
        setting: SearchSetting,
        candidates: Sequence[SearchCandidate],
    ) -> None:
        self._file = Checkpoint(path, _fit(rows, setting, candidates))
        self._records: dict[str, Any] = dict(self._file.state)
        names = {candidate.name for candidate in candidates}
        sizes = [test.size for _, test in rows.plan.folds]
        for name, record in self._records.items():
            if name not in names or not _is_sound(record, sizes):
                raise ModelFileError(
                    f"the checkpoint is damaged: its record of {name!r} is incomplete",
                    "Delete the file to fit from the beginning.",
                )

    @property
    def seconds(self) -> float:
        """Seconds that the candidates took."""
        return float(sum(record["seconds"] for record in self._records.values()))

    def find(self, candidate: SearchCandidate) -> FittedCandidate | None:
        """Return a candidate that is done, or None."""
        record = self._records.get(candidate.name)
        return None if record is None else FittedCandidate(candidate, **record)

    def keep(self, found: FittedCandidate) -> None:
        """Write a candidate that is done."""
        record = {key: getattr(found, key) for key in _KEYS}
        try:
            pack_value(record, found.candidate.name)
        except (TypeError, MemoryError):  # no file can hold it: it is fitted again
            return
        self._records[found.candidate.name] = record
        self._file.write(self._records)

    def finish(self) -> None:
        """Release the file for another fit."""
        self._file.write(self._records, is_done=True)


def _fit(
    rows: SearchRows, setting: SearchSetting, candidates: Sequence[SearchCandidate]
) -> dict[str, str]:
    import lightgbm
    import sklearn

    given, target = rows.given, rows.given.target
    described = (target.weights, target.queries, target.groups, target.times)
    folds = [test for _, test in rows.plan.folds]
    return {
        "the model": "AutoRanker",
        "the version of aucmax": __version__,
        "the version of LightGBM": lightgbm.__version__,
        "the version of scikit-learn": sklearn.__version__,
        "the digest of the rows": digest_rows(given.table, (target.labels, *described)),
        "the digest of the folds": digest_rows(rows.plan.rows, folds),
        "the part of the ROC curve": str(setting.part),
        "the metric": setting.metric,
        "random_state": str(setting.random_state),
        **{
            f"the model {candidate.name!r}": _settings(candidate)
            for candidate in candidates
        },
    }


def _settings(candidate: SearchCandidate) -> str:
    """Return a digest of all parameters; functions count by their names."""
    model = candidate.model.estimator
    parameters = {k: v for k, v in model.get_params().items() if k != "n_jobs"}
    text = re.sub(r" at 0x[0-9a-f]+", "", f"{type(model).__name__} {parameters}")
    return digest_rows(np.frombuffer(text.encode(), np.uint8), ())


def _is_sound(record: Any, sizes: Sequence[int]) -> bool:
    if not isinstance(record, Mapping) or set(record) != set(_KEYS):
        return False
    models, parts, seconds = (record[key] for key in _KEYS)
    return (
        isinstance(models, list)
        and len(models) == len(sizes)
        and all(hasattr(model, "get_params") for model in models)
        and isinstance(parts, list)
        and [getattr(part, "shape", None) for part in parts] == [(n,) for n in sizes]
        and all(part.dtype == np.float64 for part in parts)
        and all(bool(np.isfinite(part).all()) for part in parts)
        and isinstance(seconds, float)
        and 0.0 <= seconds < np.inf
    )
