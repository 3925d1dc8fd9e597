"""What the fitted attributes of a model must be, by their names.

An attribute of one name is the same kind of thing in every class: a type, a range, and
a length that fits the others. This is checked for all attributes before any of them is
used, so that no number in a file decides how much memory is taken, and no loaded model
fails later, when it is to score.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from aucmax.exceptions import ModelFileError

__all__ = ["ATTRIBUTES", "NEEDED", "check_attributes"]

#: says what is wrong with a value, given all attributes, or None
Check: TypeAlias = Callable[[Any, Mapping[str, Any]], str | None]

_LARGEST_COUNT = 2**53  # beyond it float64 skips whole numbers
_LABELS = "biufUO"
_MEMBER = {"name", "weight", "view", "models", "scales"}
_VIEWS = ("linear", "trees")


def check_attributes(name: str, state: Mapping[str, Any]) -> None:
    """Refuse fitted attributes of class `name` that no fit could have left."""
    if not state or name not in NEEDED:
        return
    for attribute in NEEDED[name]:
        if attribute not in state:
            raise ModelFileError(f"{name} has no attribute {attribute!r}")
    for attribute, value in state.items():
        check = _SPECIAL.get((name, attribute), ATTRIBUTES.get(attribute))
        if check is None:
            raise ModelFileError(
                f"{name} has a fitted attribute {attribute[:40]!r}, which is not known"
            )
        complaint = check(value, state)
        if complaint is not None:
            raise ModelFileError(f"{name}.{attribute} is not {complaint}")


def _array(kinds: str, *shape: int | str, finite: bool = True) -> Check:
    """Take arrays of a shape; a name stands for the length of what it names."""

    def complain(value: Any, state: Mapping[str, Any]) -> str | None:
        wanted = tuple(_length(size, state) for size in shape)
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            return f"an array of one of the kinds {kinds!r}"
        if value.shape != wanted:
            return f"of shape {wanted}, but of shape {value.shape}"
        if not value.dtype.isnative:
            return "in the byte order of this machine"
        if finite and value.dtype.kind == "f" and not np.isfinite(value).all():
            return "finite"
        return None

    return complain


def _length(size: int | str, state: Mapping[str, Any]) -> int:
    if isinstance(size, int):
        return size
    known: Any = state.get(size)
    if isinstance(known, np.ndarray):
        return known.size
    return int(known) if _is_integer(known) else -1


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _names(value: Any, state: Mapping[str, Any]) -> str | None:
    complaint = _array("UO", "n_features_in_")(value, state)
    if complaint is None and not all(isinstance(name, str) for name in value):
        return "made of texts"
    return complaint


def _sklearn_coef(value: Any, state: Mapping[str, Any]) -> str | None:
    """Take the weights of all classes, dense or as ``sparsify()`` leaves them."""
    n_classes, width = np.size(state["classes_"]), _length("n_features_in_", state)
    shape = (1 if n_classes == 2 else n_classes, width)
    if not isinstance(value, np.ndarray):
        if getattr(value, "format", None) != "csr" or value.shape != shape:
            return f"a matrix of shape {shape}"
        value, shape = value.data, value.data.shape
    return _array("f", *shape)(value, state)


def _sklearn_intercept(value: Any, state: Mapping[str, Any]) -> str | None:
    n_classes = np.size(state["classes_"])
    return _array("f", 1 if n_classes == 2 else n_classes)(value, state)


def _count(value: Any, state: Mapping[str, Any]) -> str | None:
    is_count = _is_integer(value) and 0 <= value < _LARGEST_COUNT
    return None if is_count else "a count"


def _number(value: Any, state: Mapping[str, Any]) -> str | None:
    """Take any number, NaN as well: it is to be read, not to compute with."""
    is_number = isinstance(value, float | np.floating) or _is_integer(value)
    return None if is_number else "a number"


def _finite(value: Any, state: Mapping[str, Any]) -> str | None:
    is_finite = _number(value, state) is None and math.isfinite(value)
    return None if is_finite else "a finite number"


def _is(*kinds: type[Any]) -> Check:
    """Take values of these types, which are to be read, not to compute with."""
    listed = " or ".join(kind.__name__ for kind in kinds)
    return lambda value, state: None if type(value) in kinds else f"of type {listed}"


def _record(name: str) -> Check:
    """Take another part of the file, which was checked when it was built."""
    return lambda value, state: None if type(value).__name__ == name else f"a {name}"


def _places(value: Any, state: Mapping[str, Any]) -> str | None:
    """Take columns by their numbers."""
    is_list = isinstance(value, list) and len(set(map(repr, value))) == len(value)
    if not is_list or any(_count(place, state) for place in value):
        return "a list of different columns"
    return None


def _all_of_one_width(value: Any, state: Mapping[str, Any]) -> str | None:
    """Take models, one for each level above 0, of the columns of the whole."""
    n_models = np.count_nonzero(np.asarray(state["levels_"]) > 0)
    if not isinstance(value, list) or len(value) != n_models:
        return f"a list of {n_models} models"
    for model in value:
        width = getattr(model, "n_features_in_", None)
        if width != state["n_features_in_"] or not _can_score(model):
            return f"made of fitted models of {state['n_features_in_']} columns"
    return None


def _can_score(model: Any) -> bool:
    return any(hasattr(model, way) for way in ("decision_function", "predict_proba"))


def _scorer(value: Any, state: Mapping[str, Any]) -> str | None:
    is_fitted = _can_score(value) and "n_features_in_" in vars(value)
    return None if is_fitted else "a fitted model"


def _members(value: Any, state: Mapping[str, Any]) -> str | None:
    """Take the models of a combination, each with its share and its scales."""
    if not isinstance(value, list) or not value:
        return "a list of models"
    for member in value:
        if not isinstance(member, dict) or set(member) != _MEMBER:
            return f"made of records of {sorted(_MEMBER)}"
        if _finite(member["weight"], state) or not 0.0 < member["weight"] <= 1.0:
            return "made of models with shares from 0 to 1"
        if type(member["name"]) is not str or member["view"] not in _VIEWS:
            return "made of models with names and views"
        if not all(isinstance(member[key], list) for key in ("models", "scales")):
            return "made of models and scales for each fold"
        if not all(map(_can_score, member["models"])):
            return "made of fitted models"
        if not all(map(_is_rising, member["scales"])):
            return "made of models with rising scales"
    return None


def _is_rising(scale: Any) -> bool:
    """Whether scores and their logits both rise, or there is one of each."""
    return (
        isinstance(scale, np.ndarray)
        and scale.dtype == np.float64
        and scale.ndim == 2
        and scale.shape[0] == 2
        and scale.shape[1] > 0
        and bool(np.isfinite(scale).all())
        and bool((np.diff(scale) > 0.0).all())
    )


def _rising_knots(value: Any, state: Mapping[str, Any]) -> str | None:
    return None if _is_rising(value) else "made of rising scores and log-odds"


def _share(value: Any, state: Mapping[str, Any]) -> str | None:
    is_share = _finite(value, state) is None and 0.0 < value < 1.0
    return None if is_share else "a number between 0 and 1"


def _encoders(value: Any, state: Mapping[str, Any]) -> str | None:
    is_list = isinstance(value, list) and len(value) > 0
    if not is_list or any(type(one).__name__ != "TableEncoder" for one in value):
        return "a list of encoders"
    return None


def _landmarks(value: Any, state: Mapping[str, Any]) -> str | None:
    """Take rows, dense or sparse, one for each weight."""
    shape: Any = getattr(value, "shape", ())
    if len(shape) != 2 or shape[0] != _length("weights_", state):
        return "one row for each weight"
    if not isinstance(value, np.ndarray):
        if getattr(value, "format", None) != "csr":
            return "a matrix"
        value = value.data
    return _array("f", *value.shape)(value, state)


def _knots(value: Any, state: Mapping[str, Any]) -> str | None:
    weights: Any = state.get("weights_")
    if not isinstance(weights, np.ndarray) or weights.ndim != 2:
        return "in use with weights of two dimensions"
    complaint = _array("f", *weights.shape)(value, state)
    if complaint is None and (np.diff(value) < 0.0).any():
        return "rising"
    return complaint


def _positive(value: Any, state: Mapping[str, Any]) -> str | None:
    if _finite(value, state) is None and value > 0.0:
        return None
    return "a positive number"


def _table_of_weights(value: Any, state: Mapping[str, Any]) -> str | None:
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        return "of two dimensions"
    return _array("f", *value.shape)(value, state)


#: what attributes are, whichever class has them
ATTRIBUTES: dict[str, Check] = {
    "n_features_in_": _count,
    "feature_names_in_": _names,
    "classes_": _array(_LABELS, 2),
    "levels_": _array("iu", "levels_"),
    "coef_": _array("f", 1, "n_features_in_"),
    "intercept_": _array("f", 1),
    "threshold_": _finite,
    # weighted sums of hypotheses
    "weights_": _array("f", "weights_"),
    "directions_": _array("f", "weights_"),
    "thresholds_": _array("f", "weights_"),
    "columns_": _array("i", "weights_"),
    "low_": _array("f", "n_features_in_"),
    "high_": _array("f", "n_features_in_"),
    # trees
    "model_text_": _is(str),
    "categorical_features_": _places,
    "categories_": _is(dict),
    "column_exponents_": _array("i", "n_features_in_"),
    "feature_importances_": _array("f", "n_features_in_"),
    # graphs
    "n_node_features_in_": _count,
    "n_edge_features_in_": _count,
    "edge_coef_": _array("f", 1, "n_edge_features_in_"),
    # parts that were checked when they were built
    "certificate_": _record("Certificate"),
    "curve_": _record("MarginCurve"),
    "encoder_": _record("TableEncoder"),
    "estimator_": _scorer,
    "estimators_": _all_of_one_width,
    "encoders_": _encoders,
    "members_": _members,
    "calibration_": _rising_knots,
    "base_rate_": _share,
    "landmarks_": _landmarks,
    "gamma_": _positive,
    "knots_": _knots,
    # networks
    # for the reader alone
    "n_iter_": _count,
    "n_rounds_": _count,
    "n_graphs_": _count,
    "n_splits_": _count,
    "n_folds_": _count,
    "n_skipped_": _count,
    "n_rows_": _count,
    "n_positive_": _count,
    "best_index_": _count,
    "best_iteration_": _count,
    "n_passes_": _number,
    "objective_": _number,
    "dual_gap_": _number,
    "gradient_norm_": _number,
    "best_score_": _number,
    "epsilon_": _number,
    "margin_": _number,
    "nu_pos_": _number,
    "nu_neg_": _number,
    "pairs_guaranteed_": _number,
    "is_certified_": _is(bool),
    "stop_reason_": _is(str),
    "history_": _is(dict),
    "starts_": _is(list),
    "best_params_": _is(dict),
    "cv_results_": _is(dict),
    "estimate_": _is(dict),
    "board_": _is(dict),
    "combiner_": _is(str),
    # tables
    "values_": _array(_LABELS, "levels_"),
    "row_sketch_": _array("u", "row_sketch_"),
    "dropped_": _is(dict),
    "notices_": _is(list),
    "scales_": _is(dict, type(None)),
}

#: the few attributes that are something else in one class
_SPECIAL: dict[tuple[str, str], Check] = {
    ("AdditiveLogistic", "weights_"): _table_of_weights,
    ("AutoRanker", "weights_"): _is(dict),
    ("GraphRanker", "coef_"): _array("f", 1, "n_node_features_in_"),
    ("LogisticRegression", "classes_"): _array(_LABELS, "classes_"),
    ("LogisticRegression", "coef_"): _sklearn_coef,
    ("LogisticRegression", "intercept_"): _sklearn_intercept,
    ("LogisticRegression", "n_iter_"): _array("iu", "n_iter_"),
    ("TableEncoder", "columns_"): _is(list),
    ("TableModel", "classes_"): _array(_LABELS, "classes_"),
    ("TableModel", "threshold_"): _number,
}

_LINEAR = ("n_features_in_", "classes_", "coef_", "intercept_")
_SUM = ("n_features_in_", "classes_", "weights_", "directions_", "columns_")

#: the attributes without which a fitted model of a class cannot score
NEEDED: dict[str, tuple[str, ...]] = {
    "AUCSVC": _LINEAR,
    "AdditiveLogistic": ("classes_", "knots_", "weights_"),
    "AutoRanker": (
        *("n_features_in_", "classes_", "members_", "encoders_", "threshold_"),
    ),
    "Certificate": (),
    "GraphRanker": (
        *("n_node_features_in_", "n_edge_features_in_"),
        *("classes_", "coef_", "edge_coef_", "intercept_"),
    ),
    "KernelLogistic": ("classes_", "landmarks_", "weights_", "gamma_"),
    "LambdaMART": ("n_features_in_", "model_text_", "categorical_features_", "n_iter_"),
    "LambdaRankBaseline": ("n_features_in_", "model_text_"),
    "LevelSumRanker": ("n_features_in_", "levels_", "estimators_"),
    "LightGBMBaseline": ("n_features_in_", "classes_", "model_text_"),
    "LinearRankerCV": _LINEAR,
    "LogisticRegression": _LINEAR,
    "MarginCurve": (),
    "MarginRanker": (*_SUM, "threshold_", "certificate_"),
    "RankBoost": (*_SUM, "threshold_"),
    "SoftRankBoost": (*_SUM, "threshold_"),
    "TableEncoder": ("n_features_in_", "columns_", "scales_", "categorical_features_"),
    "TableModel": ("encoder_", "estimator_", "classes_", "values_", "levels_"),
}
