"""The models that can be compared: those with a name, one line each, and others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

__all__ = [
    "BASELINES",
    "LEVEL_MODELS",
    "MODELS",
    "ModelChoice",
    "compared_models",
    "name_models",
    "table_model",
    "trained_ranges",
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
    view : {"linear", "trees", "raw"}
        Scaled one-hot matrix, or gaps and category codes as they are, or the table.
    is_baseline : bool
        Whether other models are tested against it.
    compared : {"always", "ranges", "queries", "on request"}
        When a comparison has it without naming it; "ranges" is when a part of the ROC
        curve decides.
    ranges : tuple of str
        Its parameters for the part of the ROC curve that counts.
    learns_levels : bool
        Whether it learns more than two levels of relevance.
    """

    home: str
    settings: dict[str, Any] = field(default_factory=dict)
    per_row: dict[str, float] = field(default_factory=dict)
    view: str = "linear"
    is_baseline: bool = False
    compared: str = "on request"
    ranges: tuple[str, ...] = ()
    learns_levels: bool = False


_LAMBDAMART = partial(ModelChoice, "aucmax.trees:LambdaMART", view="trees")
_AUCSVC = partial(ModelChoice, "aucmax.linear:AUCSVC", per_row={"C": 0.1})
_RANGES = ("fpr_range", "tpr_range")

#: The models that have a name. The first tries many and combines them, and the linear
#: one chooses its settings, both by folds inside. All others have fixed ones: their own
#: defaults, but for C = rows / 10 of AUCSVC, chosen once on public tables.
MODELS: dict[str, ModelChoice] = {
    "auto": ModelChoice(
        "aucmax.model_selection:AutoRanker", view="raw", ranges=_RANGES
    ),
    "linear": ModelChoice(
        "aucmax.linear:LinearRankerCV",
        {"standardize": False},  # the columns of a table are on one scale already
        compared="always",
        ranges=_RANGES,
    ),
    "logistic": ModelChoice(
        "sklearn.linear_model:LogisticRegression",
        {"max_iter": 1000},
        is_baseline=True,
        compared="always",
    ),
    "lightgbm": ModelChoice(
        "aucmax.trees:LightGBMBaseline",
        view="trees",
        is_baseline=True,
        compared="always",
    ),
    "lambdarank": ModelChoice(
        "aucmax.trees:LambdaRankBaseline",
        view="trees",
        is_baseline=True,
        compared="queries",
        learns_levels=True,
    ),
    "lambdamart": _LAMBDAMART({"objective": "logistic"}, compared="always"),
    "lambdamart-auc": _LAMBDAMART({"objective": "auc"}),
    "lambdamart-pauc": _LAMBDAMART(
        {"objective": "pauc", "fpr_range": (0.0, 0.1)},
        compared="ranges",
        ranges=("fpr_range",),
    ),
    "lambdamart-mauc": _LAMBDAMART({"objective": "mauc"}, learns_levels=True),
    "lambdamart-ordinal": _LAMBDAMART({"objective": "ordinal"}, learns_levels=True),
    "svm-auc": _AUCSVC(),
    "svm-pauc": _AUCSVC({"fpr_range": (0.0, 0.1)}, ranges=_RANGES),
    "margin": ModelChoice("aucmax.margin:MarginRanker", {"hypotheses": "stumps"}),
    "rankboost": ModelChoice("aucmax.boosting:RankBoost"),
}

#: Names of the models that others are tested against.
BASELINES = tuple(name for name, choice in MODELS.items() if choice.is_baseline)
#: Names of the models that learn more than two levels of relevance.
LEVEL_MODELS = tuple(name for name, choice in MODELS.items() if choice.learns_levels)


def compared_models(
    by_part: bool = False, has_queries: bool = False
) -> tuple[str, ...]:
    """Name the models that are compared unless others are named.

    Parameters
    ----------
    by_part : bool, default=False
        Whether a part of the ROC curve decides.
    has_queries : bool, default=False
        Whether rows are ranked within queries.

    Returns
    -------
    tuple of str
    """
    wanted = {"always"}
    wanted |= {"ranges"} if by_part else set()
    wanted |= {"queries"} if has_queries else set()
    return tuple(name for name, model in MODELS.items() if model.compared in wanted)


def table_model(
    name: str,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Any:
    """Make an unfitted :class:`aucmax.tables.TableModel` from the list of models.

    Parameters
    ----------
    name : str
        A key of :data:`MODELS`.
    ranges : mapping of str to pair of float, optional
        The part of the ROC curve to train for, if the model can: ``fpr_range``,
        ``tpr_range``.
    parameters : mapping of str to object, optional
        Parameters of the estimator to set.
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
    part = {key: ends for key, ends in (ranges or {}).items() if key in choice.ranges}
    chosen = dict(parameters or {})
    per_row = {key: v for key, v in choice.per_row.items() if key not in chosen}
    settings.setdefault("levels", "learn" if choice.learns_levels else None)
    return TableModel(
        getattr(import_module(module), class_name)(
            **{**choice.settings, **part, **chosen}
        ),
        per_row=per_row or None,
        view=choice.view,
        name=name,
        **settings,
    )


def trained_ranges(model: Any) -> dict[str, Any]:
    """Return the part of the ROC curve that a model of the list was trained for.

    Parameters
    ----------
    model : TableModel
        A fitted one.

    Returns
    -------
    dict of str to pair of float
        Empty if that is all of the curve, or not known.
    """
    name = getattr(model, "name", None)
    names = MODELS[name].ranges if name in MODELS else ()
    ranges = {name: tuple(getattr(model.estimator_, name)) for name in names}
    return {name: ends for name, ends in ranges.items() if ends != (0.0, 1.0)}


def name_models(
    models: Sequence[Any], ranges: Mapping[str, tuple[float, float]] | None = None
) -> dict[str, Any]:
    """Return an unfitted table model for each name, estimator or pair, by its name.

    Models of the list are to be trained for the part of the ROC curve, if they can.
    """
    if isinstance(models, str) or len(models) == 0:
        raise ValueError(f"give a list of at least one model, got {models!r}.")
    named: dict[str, Any] = {}
    for model in models:
        is_pair = isinstance(model, tuple) and len(model) == 2
        name, choice = model if is_pair else (None, model)
        found = _as_table_model(choice, ranges)
        name = name or found.name or _class_name(found.estimator)
        if name in named:
            raise ValueError(
                f"two models have the name {name!r}; give one of them another: "
                f'("another name", {_class_name(found.estimator)}(...)).'
            )
        named[name] = found
    return named


def _as_table_model(
    model: Any, ranges: Mapping[str, tuple[float, float]] | None
) -> Any:
    from aucmax.tables import TableModel

    if isinstance(model, str):
        return table_model(model, ranges=ranges)
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
