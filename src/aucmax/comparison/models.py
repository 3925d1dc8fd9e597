"""The models that can be compared: those with a name, one line each, and others."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

__all__ = [
    "BASELINES",
    "COMPARED",
    "LEVEL_MODELS",
    "MODELS",
    "ModelChoice",
    "name_models",
    "table_model",
]


@dataclass(frozen=True)
class ModelChoice:
    """How to make a model, and which form of a table it learns from.

    Attributes
    ----------
    home : str
        ``"module:class"``; imported on first use, since this list must load fast.
    settings : dict
        Parameters that differ from the class's defaults.
    per_row : dict
        Parameters given for one training row: they are multiplied by the number of
        rows. A risk that is a mean needs this to be penalised like one that is a sum.
    view : {"linear", "trees"}
        Scaled one-hot matrix, or gaps and category codes as they are.
    is_baseline : bool
        Whether other models are tested against it.
    on_request : bool
        Whether a comparison leaves it out unless it is named.
    learns_levels : bool
        Whether it learns more than two levels of relevance.
    """

    home: str
    settings: dict[str, Any] = field(default_factory=dict)
    per_row: dict[str, float] = field(default_factory=dict)
    view: str = "linear"
    is_baseline: bool = False
    on_request: bool = False
    learns_levels: bool = False


_LAMBDAMART = partial(
    ModelChoice, "aucmax.trees:LambdaMART", view="trees", on_request=True
)
_AUCSVC = partial(ModelChoice, "aucmax.linear:AUCSVC", per_row={"C": 0.1})

#: The models that have a name. Settings are fixed, none is tuned: LogisticRegression
#: and LightGBM have their own defaults; C = rows / 10 was chosen once for AUCSVC, on
#: public tables. The others have their own defaults; the linear ones choose by folds.
MODELS: dict[str, ModelChoice] = {
    "aucsvc": _AUCSVC(),
    "logistic": ModelChoice(
        "sklearn.linear_model:LogisticRegression", {"max_iter": 1000}, is_baseline=True
    ),
    "lightgbm": ModelChoice(
        "aucmax.trees:LightGBMBaseline", view="trees", is_baseline=True
    ),
    "lambdamart": _LAMBDAMART({"objective": "logistic"}, on_request=False),
    "lambdamart-auc": _LAMBDAMART({"objective": "auc"}),
    "lambdamart-pauc": _LAMBDAMART({"objective": "pauc", "fpr_range": (0.0, 0.1)}),
    "lambdamart-mauc": _LAMBDAMART({"objective": "mauc"}, learns_levels=True),
    "lambdamart-ordinal": _LAMBDAMART({"objective": "ordinal"}, learns_levels=True),
    "margin": ModelChoice(
        "aucmax.margin:MarginRanker",
        {"hypotheses": "stumps"},
        on_request=True,
    ),
    "rankboost": ModelChoice("aucmax.boosting:RankBoost", on_request=True),
    "pauc": _AUCSVC({"fpr_range": (0.0, 0.1)}, on_request=True),
    "linear": ModelChoice("aucmax.linear:LinearRankerCV", on_request=True),
    "linear-pauc": ModelChoice(
        "aucmax.linear:LinearRankerCV", {"fpr_range": (0.0, 0.1)}, on_request=True
    ),
}

#: Names of the models that are compared unless others are named.
COMPARED = tuple(name for name, choice in MODELS.items() if not choice.on_request)
#: Names of the models that others are tested against.
BASELINES = tuple(name for name, choice in MODELS.items() if choice.is_baseline)
#: Names of the models that learn more than two levels of relevance.
LEVEL_MODELS = tuple(name for name, choice in MODELS.items() if choice.learns_levels)


def table_model(name: str, **settings: Any) -> Any:
    """Make an unfitted :class:`aucmax.tables.TableModel` from the list of models.

    Parameters
    ----------
    name : str
        A key of :data:`MODELS`.
    **settings
        Further parameters of the table model; `levels` is "learn" for a model that can,
        unless given.

    Returns
    -------
    TableModel
        Its name is `name`.
    """
    from aucmax.tables import TableModel

    if name not in MODELS:
        known = ", ".join(MODELS)
        raise ValueError(f"there is no model {name!r}; choose from {known}.")
    choice = MODELS[name]
    module, class_name = choice.home.split(":")
    settings.setdefault("levels", "learn" if choice.learns_levels else None)
    return TableModel(
        getattr(import_module(module), class_name)(**choice.settings),
        per_row=choice.per_row or None,
        view=choice.view,
        name=name,
        **settings,
    )


def name_models(models: Sequence[Any]) -> dict[str, Any]:
    """Return an unfitted table model for each name, estimator or pair, by its name."""
    if isinstance(models, str) or len(models) == 0:
        raise ValueError(f"give a list of at least one model, got {models!r}.")
    named: dict[str, Any] = {}
    for model in models:
        is_pair = isinstance(model, tuple) and len(model) == 2
        name, choice = model if is_pair else (None, model)
        found = _as_table_model(choice)
        name = name or found.name or _class_name(found.estimator)
        if name in named:
            raise ValueError(
                f"two models have the name {name!r}; give one of them another: "
                f'("another name", {_class_name(found.estimator)}(...)).'
            )
        named[name] = found
    return named


def _as_table_model(model: Any) -> Any:
    from aucmax.tables import TableModel

    if isinstance(model, str):
        return table_model(model)
    if isinstance(model, TableModel):
        return model
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(
            "a model is a name, an estimator, or a pair (name, estimator), got "
            f"{model!r}."
        )
    is_tree = "categorical_features" in model.get_params()
    return TableModel(model, view="trees" if is_tree else "linear")


def _class_name(estimator: Any) -> str:
    """Name of an estimator's class; of a pipeline that of its last step."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__
