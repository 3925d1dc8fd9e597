"""The models that the command line knows: one line each."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

__all__ = [
    "BASELINES",
    "COMPARED",
    "LEVEL_MODELS",
    "MODELS",
    "ModelChoice",
    "find_model",
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

    def make(self, n_rows: int | None = None) -> Any:
        """Return a new, unfitted estimator, for so many rows if they are known."""
        module, name = self.home.split(":")
        estimator = getattr(import_module(module), name)(**self.settings)
        if n_rows is None:
            return estimator
        scaled = {name: value * n_rows for name, value in self.per_row.items()}
        return estimator.set_params(**scaled)


def _lambdamart(
    objective: str,
    *,
    on_request: bool = True,
    learns_levels: bool = False,
    **settings: Any,
) -> ModelChoice:
    return ModelChoice(
        "aucmax.trees:LambdaMART",
        {"objective": objective, **settings},
        view="trees",
        on_request=on_request,
        learns_levels=learns_levels,
    )


# Settings are fixed, none is tuned: LogisticRegression and LightGBM have their own
# defaults; C = rows / 10 was chosen once for AUCSVC, on public tables; epsilon = 0.2
# leaves a margin above 0 on most tables. LambdaMART has its own, with plain pairs.
MODELS: dict[str, ModelChoice] = {
    "aucsvc": ModelChoice("aucmax.linear:AUCSVC", per_row={"C": 0.1}),
    "logistic": ModelChoice(
        "sklearn.linear_model:LogisticRegression", {"max_iter": 1000}, is_baseline=True
    ),
    "lightgbm": ModelChoice(
        "aucmax.trees:LightGBMBaseline",
        view="trees",
        is_baseline=True,
    ),
    "lambdamart": _lambdamart("logistic", on_request=False),
    "lambdamart-auc": _lambdamart("auc"),
    "lambdamart-pauc": _lambdamart("pauc", fpr_range=(0.0, 0.1)),
    "lambdamart-mauc": _lambdamart("mauc", learns_levels=True),
    "lambdamart-ordinal": _lambdamart("ordinal", learns_levels=True),
    "margin": ModelChoice(
        "aucmax.margin:MarginRanker",
        {"hypotheses": "stumps", "epsilon": 0.2},
        on_request=True,
    ),
    "rankboost": ModelChoice("aucmax.boosting:RankBoost", on_request=True),
    "pauc": ModelChoice(
        "aucmax.linear:AUCSVC",
        {"fpr_range": (0.0, 0.1)},
        per_row={"C": 0.1},
        on_request=True,
    ),
}

COMPARED = tuple(name for name, choice in MODELS.items() if not choice.on_request)
BASELINES = tuple(name for name, choice in MODELS.items() if choice.is_baseline)
LEVEL_MODELS = tuple(name for name, choice in MODELS.items() if choice.learns_levels)


def find_model(name: str) -> ModelChoice:
    """Return a choice by its name, or raise with the names there are."""
    if name not in MODELS:
        known = ", ".join(MODELS)
        raise ValueError(f"there is no model {name!r}; choose from {known}.")
    return MODELS[name]


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
        The model, by its name.
    """
    from aucmax.tables import TableModel

    choice = find_model(name)
    settings.setdefault("levels", "learn" if choice.learns_levels else None)
    return TableModel(
        choice.make(),
        per_row=choice.per_row or None,
        view=choice.view,
        name=name,
        **settings,
    )
