"""The list of models: one name per model, for comparisons, AutoRanker and the CLI."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # this list must load fast
    from aucmax.model_selection.goals import Goal
    from aucmax.tables.cross_fit import TableCandidate

Ranges = Mapping[str, tuple[float, float]]

_ANY_NUMBER = 10**9  # of rows or columns
# with more columns trees are slow: AutoRanker tries one model of them, of fewer trees
_MAX_COLUMNS_OF_TREES = 20_000
# with more columns than these, curves and networks of dense rows are slow, and others
# rank as well
_MAX_COLUMNS_OF_CURVES = 300
_WHOLE = (0.0, 1.0)


class SearchSetting(NamedTuple):
    """The facts that decide which models AutoRanker tries, and how."""

    n_columns: int
    is_sparse: bool
    goal: "Goal"
    n_jobs: int
    random_state: int
    is_limited: bool = False  # whether there is a time limit
    refits: bool = True  # whether the chosen models are fitted to all rows in the end
    stores_rows: bool = True  # whether a model may hold training rows
    is_ranking: bool = False  # whether it is of levels, or of the top of queries
    is_survival: bool = False  # whether rows have censored times

    @property
    def other_metric(self) -> str | None:
        """The metric, unless it is an area or one of levels."""
        return None if self.is_ranking else self.goal.other_metric


@dataclass(frozen=True)
class NamedModel:
    """How to make a model of the list, and which form of a table it learns from."""

    import_path: str  # "module:class", imported on first use: this list must load fast
    settings: dict[str, Any] = field(default_factory=dict)  # unlike the defaults
    # parameters to multiply by the number of training rows: a risk that is a mean needs
    # this to be penalised like one that is a sum
    per_row: dict[str, float] = field(default_factory=dict)
    ranges: tuple[str, ...] = ()  # its parameters for the part of the ROC curve
    takes_metric: bool = False  # whether it is chosen by a metric that it is given
    learns_levels: bool = False  # whether it learns more than two levels of relevance
    learns_survival: bool = False  # whether it learns censored times, and only these
    # parameters that differ within AutoRanker, where models share the time
    search_settings: dict[str, Any] = field(default_factory=dict)
    search_rows: int = _ANY_NUMBER  # AutoRanker draws at most this number of rows
    max_columns: int = _ANY_NUMBER  # AutoRanker tries it on narrower tables by default
    is_dense: bool = False  # and whether only on dense ones
    needs: str = "sklearn"  # the package that it needs
    stores_rows: bool = False  # whether a fitted model holds some of the training rows

    def is_tried(self, setting: SearchSetting) -> bool:
        """Whether AutoRanker tries it by default."""
        return (
            (setting.stores_rows or not self.stores_rows)
            and setting.n_columns <= self.max_columns
            and not (self.is_dense and setting.is_sparse)
            and find_spec(self.needs) is not None
        )


_RANGES = ("fpr_range", "tpr_range")
_LAMBDAMART = partial(
    NamedModel, "aucmax.trees:LambdaMART", search_settings={"learning_rate": 0.04}
)
_AUCSVC = partial(NamedModel, "aucmax.linear:AUCSVC", per_row={"C": 0.1})


# of trees within AutoRanker, unlike LightGBM's defaults
_SEARCH_TREES = {
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 5,
    "lambda_l2": 1.0,
    "feature_fraction": 0.7,
}


def _lightgbm(n_estimators: int, search_rows: int, **params: object) -> NamedModel:
    return NamedModel(
        "aucmax.model_selection.baselines:LightGBMBaseline",
        {"n_estimators": n_estimators, "params": {**_SEARCH_TREES, **params}},
        search_rows=search_rows,
        max_columns=_MAX_COLUMNS_OF_TREES,
    )


def _forest(**params: object) -> NamedModel:
    return NamedModel(
        "aucmax.model_selection.forest:Forest",
        {"n_estimators": 300, **params},
        search_rows=50_000,
    )


def _strong_logistic(C: float) -> NamedModel:
    return NamedModel(
        "sklearn.linear_model:LogisticRegression",
        {"C": C, "max_iter": 1000},
        search_settings={"max_iter": 200, "tol": 1e-3},
        search_rows=200_000,
    )


# of a hundred to some thousand rows, chosen on public tables of censored times
_SURVIVAL_TREES = {
    "n_estimators": 150,
    "learning_rate": 0.03,
    "num_leaves": 8,
    "min_child_samples": 10,
    "colsample_bytree": 0.8,
    "reg_lambda": 20.0,
    "params": {"extra_trees": True},
}
_RANKING_TREES = {**_SEARCH_TREES, "lambda_l2": 3.0}


def _ranker(**params: object) -> NamedModel:
    return NamedModel(
        "aucmax.model_selection.baselines:LambdaRankBaseline",
        {"n_estimators": 200, "params": {**_RANKING_TREES, **params}},
        learns_levels=True,
    )


def _survival_trees(objective: str, **settings: object) -> NamedModel:
    return NamedModel(
        "aucmax.trees:LambdaMART",
        {"objective": objective, **_SURVIVAL_TREES, **settings},
        learns_survival=True,
    )


def _survival_line(loss: str, C: float) -> NamedModel:
    return NamedModel(
        "aucmax.linear:AUCSVC", {"loss": loss}, per_row={"C": C}, learns_survival=True
    )


def _kernel(C: float, width: float) -> NamedModel:
    return NamedModel(
        "aucmax.linear.kernel_logistic:KernelLogistic",
        {"C": C, "width": width},
        search_rows=20_000,
        stores_rows=True,
    )


#: The models that have a name. The first tries many and combines them, the linear one
#: chooses its settings; both use inner folds. All others have fixed settings: their own
#: defaults, but for C = rows / 10 of AUCSVC, chosen once on public tables, and for the
#: trees, forests and kernels at the end, chosen to differ.
MODELS: dict[str, NamedModel] = {
    "auto": NamedModel(
        "aucmax.model_selection.auto_ranker:AutoRanker",
        ranges=_RANGES,
        takes_metric=True,
        learns_levels=True,
    ),
    "linear": NamedModel(
        "aucmax.linear:LinearRankerCV",
        {"standardize": False},  # the columns of a table are on one scale already
        ranges=_RANGES,
        takes_metric=True,
        search_settings={"standardize": True, "C_values": (0.1, 1.0)},
        search_rows=10_000,
    ),
    "logistic": NamedModel(
        "sklearn.linear_model:LogisticRegression",
        {"max_iter": 1000},
        search_settings={"max_iter": 200, "tol": 1e-3},
        search_rows=200_000,
    ),
    "lightgbm": NamedModel("aucmax.model_selection.baselines:LightGBMBaseline"),
    "lambdarank": NamedModel(
        "aucmax.model_selection.baselines:LambdaRankBaseline",
        learns_levels=True,
        search_settings={"n_estimators": 200, "params": _RANKING_TREES},
    ),
    "lambdamart": _LAMBDAMART({"objective": "logistic"}),
    "lambdamart-auc": _LAMBDAMART({"objective": "auc"}),
    "lambdamart-pauc": _LAMBDAMART(
        {"objective": "pauc", "fpr_range": (0.0, 0.1)}, ranges=("fpr_range",)
    ),
    "lambdamart-mauc": _LAMBDAMART({"objective": "mauc"}, learns_levels=True),
    "lambdamart-ordinal": _LAMBDAMART({"objective": "ordinal"}, learns_levels=True),
    "lambdamart-ndcg": _LAMBDAMART({"objective": "ndcg"}, learns_levels=True),
    "xendcg": _ranker(objective="rank_xendcg"),
    "lightgbm-levels": _ranker(objective="regression"),
    "xgboost-ndcg": NamedModel(
        "aucmax.model_selection.baselines:XGBoostRanker",
        {"n_estimators": 200},
        learns_levels=True,
        search_settings={"params": {"max_depth": 4, "eta": 0.08, "subsample": 0.8}},
        needs="xgboost",
    ),
    "svm-auc": _AUCSVC(),
    "svm-pauc": _AUCSVC({"fpr_range": (0.0, 0.1)}, ranges=_RANGES),
    "margin": NamedModel("aucmax.margin:MarginRanker", {"hypotheses": "stumps"}),
    "rankboost": NamedModel("aucmax.boosting:RankBoost"),
    # the one model of trees of wide tables
    "lightgbm-small": replace(
        _lightgbm(300, 200_000, learning_rate=0.04, lambda_l2=3.0),
        max_columns=_ANY_NUMBER,
    ),
    "lightgbm-shallow": _lightgbm(300, 200_000, num_leaves=4, feature_fraction=0.5),
    "lightgbm-extra": _lightgbm(300, 200_000, extra_trees=True),
    "lightgbm-large": _lightgbm(
        400,
        _ANY_NUMBER,
        learning_rate=0.02,
        num_leaves=31,
        min_data_in_leaf=3,
        feature_fraction=0.5,
        bagging_fraction=0.8,
        bagging_freq=1,
    ),
    "extra-trees": _forest(),
    "random-forest": _forest(thresholds="best", criterion="entropy"),
    "logistic-strong": _strong_logistic(0.01),
    "logistic-strongest": _strong_logistic(0.001),
    "kernel": _kernel(100.0, 0.7),
    "kernel-smooth": _kernel(10.0, 0.7),
    "kernel-narrow": _kernel(10.0, 2.0),
    "network": NamedModel(
        "aucmax.model_selection.network:Network",
        search_rows=10_000,
        max_columns=_MAX_COLUMNS_OF_CURVES,
    ),
    "additive": NamedModel(
        "aucmax.linear.additive_logistic:AdditiveLogistic",
        search_rows=50_000,
        max_columns=_MAX_COLUMNS_OF_CURVES,
        is_dense=True,
    ),
    "cox": _survival_line("cox", 0.02),
    "concordance": _survival_line("logistic", 0.1),
    "additive-cox": NamedModel(
        "aucmax.linear.additive_logistic:AdditiveCox",
        learns_survival=True,
        max_columns=_MAX_COLUMNS_OF_CURVES,
        is_dense=True,
    ),
    "lambdamart-cox": _survival_trees("cox"),
    "lambdamart-concordance": _survival_trees("concordance"),
}

#: Names of the models that others are tested against.
BASELINES = ("logistic", "lightgbm", "lambdarank", "cox")
#: Names of the models that learn more than two levels of relevance.
LEVEL_MODELS = tuple(name for name, choice in MODELS.items() if choice.learns_levels)
#: Names of those that AutoRanker tries for levels, and for the top of queries.
RANKING_CANDIDATES = (
    "xendcg",
    "lambdamart-ordinal",
    "xgboost-ndcg",
    "lightgbm-levels",
    "lambdarank",
    "svm-auc",
    "lambdamart-ndcg",
    "lambdamart-mauc",
    "lambdamart",
)
#: Names of those that it tries for censored times.
SURVIVAL_CANDIDATES = (
    "cox",
    "additive-cox",
    "lambdamart-cox",
    "concordance",
    "lambdamart-concordance",
)
#: Names of the models that AutoRanker tries where they suit, the most useful first.
CANDIDATES = (
    "logistic",
    "lightgbm-small",
    "kernel",
    "extra-trees",
    "additive",
    "lightgbm-shallow",
    "logistic-strong",
    "network",
    "random-forest",
    "lightgbm-extra",
    "lightgbm-large",
    "kernel-smooth",
    "kernel-narrow",
    "logistic-strongest",
    "linear",
)


def compared_models(
    by_part: bool = False, has_queries: bool = False
) -> tuple[str, ...]:
    """Return the names of the models that a comparison includes by default."""
    ranked = ("lambdarank",) if has_queries else ()
    part = ("lambdamart-pauc",) if by_part else ()
    return ("linear", "logistic", "lightgbm", *ranked, "lambdamart", *part)


def find_model(name: str, names: Sequence[str] = tuple(MODELS)) -> NamedModel:
    """Return a model of the list, or raise an error with similar names."""
    if name not in names:
        from aucmax.datasets.column_names import near_names

        near = near_names(name, names, or_list=False)
        raise ValueError(
            f"there is no model {name!r}.{near} Choose from {', '.join(names)}."
        )
    return MODELS[name]


def named_candidate(
    name: str,
    *,
    ranges: Ranges | None = None,
    metric: str | None = None,
    parameters: Mapping[str, object] | None = None,
) -> "TableCandidate":
    """Make a candidate of the list, for the goal as far as it can be trained for it."""
    from aucmax.tables.cross_fit import TableCandidate

    choice = find_model(name)
    module, class_name = choice.import_path.split(":")
    part = {key: ends for key, ends in (ranges or {}).items() if key in choice.ranges}
    chosen = dict(parameters or {})
    if metric is not None and choice.takes_metric:
        chosen.setdefault("metric", metric)
    model = getattr(import_module(module), class_name)
    estimator = model(**{**choice.settings, **part, **chosen})
    return TableCandidate(
        name,
        estimator,
        _view_of(estimator),
        {key: v for key, v in choice.per_row.items() if key not in chosen},
        choice.learns_levels,
    )


def trained_ranges(model: Any) -> dict[str, Any]:
    """Return the ranges that a fitted AutoRanker was trained for; none if all."""
    if getattr(model, "metric_", None) not in ("auc", "partial_auc"):
        return {}
    ranges = model._part_of_the_curve()
    return {name: ends for name, ends in ranges.items() if ends != _WHOLE}


def learns_levels(models: Sequence[object], has_queries: bool) -> bool:
    """Return whether one of some models learns more than two levels of relevance.

    AutoRanker does within queries; several values alone may be classes of no order.
    """
    choices = [
        (m[0] if isinstance(m[1], Mapping) else m[1])
        if isinstance(m, tuple) and len(m) == 2
        else m
        for m in models
    ]
    return any(
        choice in LEVEL_MODELS and (has_queries or choice != "auto")
        for choice in choices
        if isinstance(choice, str)
    )


def require_survival(models: Sequence[object]) -> None:
    """Reject models of the list that do not learn from censored times."""
    able = ["auto", *(name for name, one in MODELS.items() if one.learns_survival)]
    named = [model for model in models if isinstance(model, str)]
    if unable := [name for name in named if name not in able]:
        raise ValueError(
            f"{', '.join(unable)} cannot learn from censored times; choose from "
            f"{', '.join(able)}."
        )


def name_candidates(
    models: object, make: "Callable[..., TableCandidate]" = named_candidate
) -> "dict[str, TableCandidate]":
    """Return a candidate for each name, estimator or pair, by its name."""
    if isinstance(models, str) or not isinstance(models, Sequence) or len(models) == 0:
        raise ValueError(f"give a list of at least one model, got {models!r}.")
    candidates: dict[str, TableCandidate] = {}
    for model in models:
        is_pair = isinstance(model, tuple) and len(model) == 2
        name, choice = model if is_pair else (None, model)
        if isinstance(choice, Mapping):
            candidate = make(name, parameters=choice)
        elif isinstance(choice, str):
            candidate = make(choice)
        else:
            candidate = _as_candidate(choice)
        name = name or candidate.name
        if name in candidates:
            raise ValueError(
                f"two models have the name {name!r}; rename one of them: "
                f'("another name", {_class_name(candidate.estimator)}(...)).'
            )
        candidates[name] = candidate._replace(name=name)
    return candidates


def _as_candidate(model: object) -> "TableCandidate":
    from aucmax.tables.cross_fit import TableCandidate

    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(
            "a model must be a name, an estimator, or a pair (name, estimator), got "
            f"{model!r}."
        )
    return TableCandidate(_class_name(model), model, _view_of(model))


def _view_of(model: Any) -> str:
    """Return the form of a table that an estimator learns from."""
    from sklearn.compose import ColumnTransformer

    from aucmax.tables import TableEncoder

    parameters = model.get_params()
    parts = (model, *parameters.values())
    if _class_name(model) == "AutoRanker" or any(
        isinstance(part, ColumnTransformer | TableEncoder) for part in parts
    ):
        return "frame"  # it encodes the columns itself
    # missing values and category codes, or a scaled one-hot matrix
    return "trees" if "categorical_features" in parameters else "linear"


def _class_name(estimator: object) -> str:
    """Return the class name of an estimator, or of the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def choose_candidates(
    models: Any, setting: SearchSetting
) -> "dict[str, TableCandidate]":
    """Return the candidates for a setting: the default ones, or those given."""
    if isinstance(models, str):
        if models != "default":
            raise ValueError(
                f"models must be 'default' or a list of names and estimators, got "
                f"{models!r}; write models=[{models!r}] for a single model."
            )
        names: Sequence[str] = CANDIDATES
        if setting.other_metric is not None:
            # the linear model can be trained for the top of the list
            names = tuple(dict.fromkeys([CANDIDATES[0], "linear", *CANDIDATES]))
        if setting.is_ranking:
            names = RANKING_CANDIDATES
        if setting.is_ranking and setting.n_columns > _MAX_COLUMNS_OF_TREES:
            names = ("lightgbm-levels", "svm-auc")
        if setting.is_survival:
            names = SURVIVAL_CANDIDATES
        models = [name for name in names if MODELS[name].is_tried(setting)]
    elif setting.is_survival:
        require_survival(models)
    is_alone = isinstance(models, Sequence) and len(models) == 1
    make = partial(_search_candidate, setting, is_alone=is_alone)
    return name_candidates(models, make)


def _search_candidate(
    setting: SearchSetting,
    name: str,
    *,
    is_alone: bool,
    parameters: Mapping[str, object] | None = None,
) -> "TableCandidate":
    """Make a candidate of the list as AutoRanker tries it."""
    one_model = [name for name, choice in MODELS.items() if name != "auto"]
    choice = find_model(name, one_model)
    if choice.stores_rows and not setting.stores_rows:
        raise ValueError(
            f"{name!r} stores training rows, which stores_rows=False rules out; leave "
            "out one of them."
        )
    # only models that share the time need other settings, and fewer rows
    settings = {} if is_alone else dict(choice.search_settings)
    if setting.n_columns > _MAX_COLUMNS_OF_TREES and "n_estimators" in choice.settings:
        settings["n_estimators"] = choice.settings["n_estimators"] // 3
    settings |= parameters or {}
    ranges = setting.goal.ranges
    low, high = setting.goal.fpr_range
    if name == "lambdamart-pauc" and (low > 0.0 or high == 1.0):
        ranges = {}  # it learns a range that begins at 0
    metric = setting.other_metric
    candidate = named_candidate(name, ranges=ranges, metric=metric, parameters=settings)
    names = candidate.estimator.get_params(deep=False).keys() - settings
    shared = {"random_state": setting.random_state}
    # threads within a model, not processes for its folds
    if not choice.import_path.startswith(("sklearn.", "aucmax.linear:")):
        shared["n_jobs"] = setting.n_jobs
    applied = {key: value for key, value in shared.items() if key in names}
    candidate.estimator.set_params(**applied)
    return candidate if is_alone else candidate._replace(max_rows=choice.search_rows)
