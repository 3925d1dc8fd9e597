"""What tells one fit of trees from another, and the checkpoint that knows it."""

import os
from collections.abc import Mapping
from typing import Any

from aucmax._core.digest import digest_rows
from aucmax._version import __version__
from aucmax.exceptions import IncompatibleError
from aucmax.persistence.checkpoint import Checkpoint
from aucmax.trees.data import TreeRows
from aucmax.trees.evaluation import Evaluation

__all__ = ["open_checkpoint"]

# besides LightGBM's; threads, callbacks and lines of text change nothing
_OWN = ("objective", "fpr_range", "outside_weight", "n_iter_no_change", "max_time")
_WITHOUT_EFFECT = ("num_threads", "verbosity")


def open_checkpoint(
    path: str | os.PathLike[str] | None,
    estimator: Any,
    parameters: Mapping[str, Any],
    rows: TreeRows,
    evaluation: Evaluation | None,
) -> Checkpoint | None:
    """Return the checkpoint of a fit by LightGBM's parameters, if it has a path."""
    if path is None:
        return None
    import lightgbm

    if "goss" in (parameters.get("boosting"), parameters.get("data_sample_strategy")):
        raise IncompatibleError(
            "goss takes all rows in the first rounds of a booster, and with a "
            "checkpoint a new booster begins every few rounds; leave out one of them."
        )
    metric = estimator.eval_metric
    settings = {
        **{
            name: parameters[name] for name in parameters if name not in _WITHOUT_EFFECT
        },
        **{name: getattr(estimator, name) for name in _OWN},
        "eval_metric": getattr(metric, "__qualname__", metric),
    }
    fit = {
        "the model": type(estimator).__name__,
        "the version of aucmax": __version__,
        "the version of LightGBM": lightgbm.__version__,
        "the digest of the rows": digest_rows(
            rows.X, (rows.labels, rows.weight, rows.qid)
        ),
        **{name: str(value) for name, value in settings.items()},
    }
    if evaluation is not None:
        fit["the digest of the validation rows"] = digest_rows(
            evaluation.X, evaluation.vectors
        )
    return Checkpoint(path, fit)
