"""Parameters and rows, checked before anything is solved."""

from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._parameters import check_choice, check_max_time, check_positive
from aucmax._validation import BoolArray, FloatArray
from aucmax.hypotheses import ScaledColumns
from aucmax.margin.certificate import Certificate
from aucmax.margin.curve import MarginCurve
from aucmax.margin.formulations import FORMULATIONS
from aucmax.margin.hypothesis_sets import HYPOTHESES, SOLVERS

__all__ = [
    "check_class_rows",
    "check_parameters",
    "check_state",
    "without_weightless_rows",
]


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise an error that names the first parameter without sense."""
    for name, known in (("formulation", FORMULATIONS), ("solver", SOLVERS)):
        check_choice(name, parameters[name], known)
    _check_hypotheses(parameters["hypotheses"])
    epsilon = parameters["epsilon"]
    if not isinstance(epsilon, Real) or not 0.0 < float(epsilon) <= 1.0:
        raise ValueError(
            "epsilon, the share of the pairs that may miss the margin, must be above 0 "
            f"and at most 1, got {epsilon!r}."
        )
    for name in ("tol", "max_iter", "nu_pos", "nu_neg"):
        value = parameters[name]
        if value is None and name.startswith("nu"):
            continue
        check_positive(name, value)
    check_max_time(parameters["max_time"])
    curve_points = parameters["curve_points"]
    if not isinstance(curve_points, Integral) or curve_points < 0:
        raise ValueError(
            f"curve_points must be a number of points, got {curve_points!r}."
        )


def _check_hypotheses(hypotheses: Any) -> None:
    if isinstance(hypotheses, str) and hypotheses in HYPOTHESES:
        return
    is_list = isinstance(hypotheses, Sequence) and not isinstance(hypotheses, str)
    if not is_list or not all(callable(function) for function in hypotheses):
        raise ValueError(
            f"hypotheses must be one of {_listed(HYPOTHESES)} or a list of functions, "
            f"got {hypotheses!r}."
        )
    if len(hypotheses) == 0:
        raise ValueError("hypotheses is an empty list; give one function at least.")


def _listed(choices: Any) -> str:
    return ", ".join(repr(choice) for choice in choices)


def check_class_rows(
    classes: NDArray[Any], labels: BoolArray, weight: FloatArray | None
) -> None:
    """Raise an error if a class has one row only, and that not by weight of two."""
    for label, members in zip(classes, (~labels, labels), strict=True):
        rows = np.flatnonzero(members)
        if rows.size < 2 and (weight is None or weight[rows].sum() < 2.0):
            raise ValueError(
                f"class {label!r} has 1 row with a weight; a margin over pairs "
                "needs two rows of each class at least."
            )


def without_weightless_rows(
    X: Any, labels: BoolArray, weight: FloatArray | None, names: Any
) -> tuple[Any, BoolArray, FloatArray | None]:
    """Leave out rows of weight 0: no range and no threshold may come from them."""
    if weight is None or weight.all():
        return X, labels, weight
    ScaledColumns.fit(X, names)  # a NaN is an error there, too
    kept = np.flatnonzero(weight)
    return X[kept], labels[kept], weight[kept]


def check_state(state: Mapping[str, Any]) -> None:
    """Raise an error about fitted attributes that do not fit together."""
    width = state["n_features_in_"]
    vectors = [state["weights_"], state["columns_"], state["directions_"]]
    if "thresholds_" in state:
        vectors.append(state["thresholds_"])
    elif not state["low_"].shape == state["high_"].shape == (width,):
        raise ValueError("low_ and high_ do not fit n_features_in_")
    columns, shape = state["columns_"], (state["weights_"].size,)
    if any(vector.shape != shape for vector in vectors):
        raise ValueError("weights_, columns_ and directions_ do not fit together")
    if columns.dtype.kind != "i" or not ((columns >= 0) & (columns < width)).all():
        raise ValueError(f"columns_ are not among the {width} columns")
    if not all(np.isfinite(vector).all() for vector in vectors):
        raise ValueError("weights_, directions_ or thresholds_ are not finite")
    if state["classes_"].shape != (2,) or not isfinite(state["threshold_"]):
        raise ValueError("classes_ or threshold_ are not those of two classes")
    if not isinstance(state["certificate_"], Certificate):
        raise ValueError("certificate_ is no certificate")
    if not isinstance(state.get("curve_"), MarginCurve | None):
        raise ValueError("curve_ is no curve")
