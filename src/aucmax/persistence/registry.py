"""The classes that a model file may name; there are no others."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from aucmax._core import saved_state as saved

#: class name -> module, imported when needed
REGISTRY: dict[str, str] = {
    "AUCSVC": "aucmax.linear",
    "AdditiveCox": "aucmax.linear.additive_logistic",
    "AdditiveLogistic": "aucmax.linear.additive_logistic",
    "AutoRanker": "aucmax.model_selection",
    "Certificate": "aucmax.margin",
    "Forest": "aucmax.model_selection.forest",
    "GraphRanker": "aucmax.graphs",
    "KernelLogistic": "aucmax.linear.kernel_logistic",
    "LambdaMART": "aucmax.trees",
    "LambdaRankBaseline": "aucmax.model_selection",
    "LevelSumRanker": "aucmax.linear",
    "LinearRankerCV": "aucmax.linear",
    "LightGBMBaseline": "aucmax.model_selection",
    "LogisticRegression": "sklearn.linear_model",
    "MarginCurve": "aucmax.margin",
    "MarginRanker": "aucmax.margin",
    "Network": "aucmax.model_selection.network",
    "RankBoost": "aucmax.boosting",
    "SoftRankBoost": "aucmax.boosting",
    "TableEncoder": "aucmax.tables",
    "XGBoostRanker": "aucmax.model_selection.baselines",
}


def find_class(name: str) -> type[Any]:
    """Return a registered class; raise LookupError or ImportError if there is none."""
    if name not in REGISTRY:
        names = ", ".join(sorted(REGISTRY))
        raise LookupError(f"unknown class {name!r}; this version knows {names}")
    cls = getattr(import_module(REGISTRY[name]), name, None)
    if not isinstance(cls, type):
        raise LookupError(f"{REGISTRY[name]} has no class {name!r}")
    return cls


def public_name(cls: type[object]) -> str | None:
    """Return the registered name of exactly this class (no subclass), or None."""
    name = cls.__name__
    try:
        return name if find_class(name) is cls else None
    except (ImportError, LookupError):
        return None


def saved_fields(cls: type[object]) -> dict[str, saved.SavedField] | None:
    """Return the declared state of a class and its bases; None if there is none."""
    if cls.__name__ in _SKLEARN:
        return _SKLEARN[cls.__name__]
    fields: dict[str, saved.SavedField] = {}
    for base in reversed(cls.__mro__):
        fields |= vars(base).get("_saved_state", {})
    return fields or None


def _n_rows(state: Mapping[str, Any]) -> int:
    """Count the rows of ``coef_``: one per class, or one for two classes."""
    n_classes = np.size(state["classes_"])
    return 1 if n_classes == 2 else n_classes


#: declarations for classes of scikit-learn
_SKLEARN = {
    "LogisticRegression": {
        "n_features_in_": saved.count,
        "classes_": saved.array(saved.LABEL_KINDS, None),
        # sparse after ``sparsify()``
        "coef_": saved.array("f", _n_rows, "n_features_in_", may_be_sparse=True),
        "intercept_": saved.array("f", _n_rows),
        **saved.optional(
            feature_names_in_=saved.COLUMNS["feature_names_in_"],
            n_iter_=saved.array("iu", None),
        ),
    }
}
