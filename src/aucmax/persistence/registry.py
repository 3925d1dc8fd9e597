"""The classes that a model file may name; there are no others."""

from contextlib import suppress
from importlib import import_module
from typing import Any

__all__ = ["REGISTRY", "RETIRED", "find_class", "public_name"]

#: public name in the file -> (module, name in that module), imported when needed
REGISTRY: dict[str, tuple[str, str]] = {
    "AUCSVC": ("aucmax.linear", "AUCSVC"),
    "AdditiveLogistic": (
        "aucmax.model_selection.additive_logistic",
        "AdditiveLogistic",
    ),
    "AutoRanker": ("aucmax.model_selection", "AutoRanker"),
    "Certificate": ("aucmax.margin", "Certificate"),
    "GraphRanker": ("aucmax.graphs", "GraphRanker"),
    "KernelLogistic": ("aucmax.model_selection.kernel_logistic", "KernelLogistic"),
    "LambdaMART": ("aucmax.trees", "LambdaMART"),
    "LambdaRankBaseline": ("aucmax.trees", "LambdaRankBaseline"),
    "LevelSumRanker": ("aucmax.linear", "LevelSumRanker"),
    "LinearRankerCV": ("aucmax.linear", "LinearRankerCV"),
    "LightGBMBaseline": ("aucmax.trees", "LightGBMBaseline"),
    "LogisticRegression": ("sklearn.linear_model", "LogisticRegression"),
    "MarginCurve": ("aucmax.margin", "MarginCurve"),
    "MarginRanker": ("aucmax.margin", "MarginRanker"),
    "RankBoost": ("aucmax.boosting", "RankBoost"),
    "SoftRankBoost": ("aucmax.boosting", "SoftRankBoost"),
    "TableEncoder": ("aucmax.tables", "TableEncoder"),
    "TableModel": ("aucmax.tables", "TableModel"),
}

#: parameters that a class has lost, or will lose, since files were written: with this
#: value they meant nothing, and are passed over where the class does not have them
RETIRED: dict[str, dict[str, Any]] = {
    "LogisticRegression": {"n_jobs": None, "penalty": "deprecated"},
}


def find_class(name: str) -> type[Any]:
    """Return the class of a public name.

    Raises LookupError if the name is not registered or its module has no such class,
    ImportError if the module, or something it needs, is not installed.
    """
    if name not in REGISTRY:
        known = ", ".join(sorted(REGISTRY))
        raise LookupError(f"unknown class {name!r}; this version knows {known}")
    module, attribute = REGISTRY[name]
    found = getattr(import_module(module), attribute, None)
    if not isinstance(found, type):
        raise LookupError(f"{module} has no class {attribute!r}")
    return found


def public_name(cls: type[Any]) -> str | None:
    """Return the registered name of exactly this class (no subclass), or None."""
    for name, (_, attribute) in REGISTRY.items():
        if attribute == cls.__name__:
            with suppress(ImportError, LookupError):
                if find_class(name) is cls:
                    return name
    return None
