"""The models that AutoRanker tries: one table, one line each, the most useful first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from aucmax.linear import LinearRankerCV
from aucmax.model_selection.additive_logistic import AdditiveLogistic
from aucmax.model_selection.kernel_logistic import KernelLogistic
from aucmax.trees import LambdaMART, LightGBMBaseline

__all__ = ["CANDIDATES", "Candidate", "Setting", "choose_candidates"]


@dataclass(frozen=True)
class Setting:
    """What a candidate should know of the task before it is made.

    Attributes
    ----------
    n_rows, n_columns : int
        Training rows of a fold, and columns of the table.
    is_sparse : bool
        Whether the table is a sparse matrix.
    part : dict
        `fpr_range` and `tpr_range`, the part of the curve that counts.
    n_jobs, random_state : int
        Threads, and the seed.
    is_limited : bool
        Whether there is a time limit.
    """

    n_rows: int
    n_columns: int
    is_sparse: bool
    part: dict[str, Any]
    n_jobs: int
    random_state: int
    is_limited: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether a part of the curve counts, not all of it."""
        return set(self.part.values()) != {(0.0, 1.0)}


def _always(setting: Setting) -> bool:
    return True


@dataclass(frozen=True)
class Candidate:
    """A model to try.

    Attributes
    ----------
    name : str
        What it is called.
    make : callable
        Returns the estimator, unfitted, for a setting.
    view : {"linear", "trees"}
        Scaled one-hot matrix, or gaps and category codes as they are.
    suits : callable
        Whether it is worth its time in a setting.
    most_rows : int
        It learns from so many rows at most, drawn at random.
    """

    name: str
    make: Callable[[Setting], Any]
    view: str = "linear"
    suits: Callable[[Setting], bool] = _always
    most_rows: int = 10**9


def _trees(
    name: str,
    n_estimators: int,
    most_rows: int = 10**9,
    *,
    even_if_wide: bool = False,
    **params: Any,
) -> Candidate:
    def make(setting: Setting) -> Any:
        return LightGBMBaseline(
            n_estimators if _is_not_very_wide(setting) else n_estimators // 3,
            n_jobs=setting.n_jobs,
            random_state=setting.random_state,
            params=params,
        )

    suits = _always if even_if_wide else _is_not_very_wide
    return Candidate(name, make, "trees", suits, most_rows)


def _is_narrow(setting: Setting) -> bool:
    return not setting.is_sparse and setting.n_columns <= 300


def _is_not_very_wide(setting: Setting) -> bool:
    return setting.n_columns <= 20_000


def _is_partial(setting: Setting) -> bool:
    return setting.is_partial and _is_not_very_wide(setting)


def _logistic(setting: Setting) -> Any:
    return LogisticRegression(max_iter=200, tol=1e-3)


def _linear(setting: Setting) -> Any:
    return LinearRankerCV(
        **setting.part, C_values=(0.1, 1.0), random_state=setting.random_state
    )


def _kernel(C: float, width: float, setting: Setting) -> Any:
    return KernelLogistic(C=C, width=width, random_state=setting.random_state)


def _additive(setting: Setting) -> Any:
    return AdditiveLogistic()


def _pairs(setting: Setting) -> Any:
    fpr_range = setting.part["fpr_range"]
    is_early = fpr_range[0] == 0.0 and fpr_range[1] < 1.0
    return LambdaMART(
        "pauc" if is_early else "logistic",
        fpr_range=fpr_range if is_early else (0.0, 0.1),
        learning_rate=0.04,
        n_jobs=setting.n_jobs,
        random_state=setting.random_state,
    )


_FOREST: dict[str, Any] = {
    "boosting": "rf",
    "bagging_freq": 1,
    "feature_fraction_bynode": 0.3,
    "num_leaves": 512,
    "min_data_in_leaf": 2,
    "min_sum_hessian_in_leaf": 0.0,
    "max_bin": 63,  # twice as fast as 255, and no worse
}

#: The models in the order in which they are tried.
CANDIDATES: tuple[Candidate, ...] = (
    Candidate("logistic regression", _logistic, most_rows=200_000),
    _trees(
        "boosted trees",
        300,
        200_000,
        even_if_wide=True,
        learning_rate=0.04,
        num_leaves=15,
        min_data_in_leaf=5,
        lambda_l2=3.0,
        feature_fraction=0.7,
    ),
    Candidate("kernel", partial(_kernel, 100.0, 0.7), most_rows=20_000),
    _trees("forest", 100, 50_000, bagging_fraction=0.632, **_FOREST),
    Candidate("additive", _additive, suits=_is_narrow, most_rows=50_000),
    _trees(
        "shallow trees",
        300,
        200_000,
        learning_rate=0.05,
        num_leaves=4,
        min_data_in_leaf=5,
        lambda_l2=1.0,
        feature_fraction=0.5,
    ),
    _trees(
        "random boosted trees",
        300,
        200_000,
        learning_rate=0.05,
        num_leaves=15,
        min_data_in_leaf=5,
        lambda_l2=1.0,
        feature_fraction=0.7,
        extra_trees=True,
    ),
    _trees(
        "large boosted trees",
        400,
        learning_rate=0.02,
        num_leaves=31,
        min_data_in_leaf=3,
        lambda_l2=1.0,
        feature_fraction=0.5,
        bagging_fraction=0.8,
        bagging_freq=1,
    ),
    Candidate("smooth kernel", partial(_kernel, 10.0, 0.7), most_rows=20_000),
    Candidate("narrow kernel", partial(_kernel, 10.0, 2.0), most_rows=20_000),
    _trees(
        "forest with random thresholds",
        100,
        50_000,
        bagging_fraction=0.632,
        extra_trees=True,
        **_FOREST,
    ),
    Candidate("trees of pairs", _pairs, "trees", _is_partial),
    Candidate("linear", _linear, most_rows=10_000),
)
_BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}


def choose_candidates(models: Any, setting: Setting) -> list[Candidate]:
    """Return the candidates for a setting: the default ones, or those asked for.

    Raises ValueError or TypeError for what is no model, and for two of one name.
    """
    if isinstance(models, str):
        if models != "default":
            raise ValueError(
                f"models must be 'default' or a list of names and estimators, got "
                f"{models!r}; put one model into a list, too."
            )
        return [candidate for candidate in CANDIDATES if candidate.suits(setting)]
    if not isinstance(models, Sequence) or len(models) == 0:
        raise ValueError(f"models must name at least one model, got {models!r}.")
    found = [_as_candidate(model) for model in models]
    names = [candidate.name for candidate in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"two models have the name {name!r}; give one of them another: "
                '("another name", estimator).'
            )
    return found


def _as_candidate(model: Any) -> Candidate:
    if isinstance(model, str):
        if model not in _BY_NAME:
            raise ValueError(
                f"there is no model {model!r}; choose from {', '.join(_BY_NAME)}."
            )
        return _BY_NAME[model]
    name, estimator = (
        model
        if isinstance(model, tuple) and len(model) == 2
        else (type(model).__name__, model)
    )
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise TypeError(
            "a model is a name, an estimator, or a pair (name, estimator), got "
            f"{model!r}."
        )
    is_tree = "categorical_features" in estimator.get_params()
    return Candidate(
        name, partial(_copy, estimator), view="trees" if is_tree else "linear"
    )


def _copy(estimator: Any, setting: Setting) -> Any:
    return clone(estimator)
