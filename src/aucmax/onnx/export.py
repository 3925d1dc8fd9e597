"""Export of fitted models to ONNX."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from sklearn.utils.validation import check_is_fitted

from aucmax._core.atomic import atomic_output
from aucmax.hypotheses.hypothesis_ensembles import StumpEnsemble, fitted_ensemble
from aucmax.linear import LevelSumRanker
from aucmax.linear.additive_logistic import AdditiveLogistic
from aucmax.linear.kernel_logistic import KernelLogistic
from aucmax.model_selection import AutoRanker
from aucmax.model_selection.forest import Forest
from aucmax.model_selection.network import Network
from aucmax.onnx.network_nodes import add_network
from aucmax.onnx.onnx_graph import OnnxGraph
from aucmax.onnx.onnx_trees import add_forest, add_trees
from aucmax.onnx.smooth_nodes import (
    add_curves,
    add_kernel,
    add_knots,
    add_probability,
    add_product,
)
from aucmax.onnx.table_columns import ENCODED, add_table
from aucmax.tables.encoder import encoder_and_estimator


def to_onnx(model: Any) -> onnx.ModelProto:
    """Convert a fitted model to an ONNX graph with the same scores in double precision.

    Linear models, stumps and boosted trees of arrays have one input, "X", of shape
    (rows, columns). Models of tables have one named input of shape (rows, 1) per column
    in use: numbers (NaN is missing), or strings, of which blanks at the ends, missing
    values such as "" or "NA", "True" and "1.0" mean the same as in Python. The output
    "score" has one number per row, equal to `decision_function`, but NaN where a string
    starts or ends with other white space, such as a tab; a calibrated AutoRanker also
    has "probability", that of the positive class.

    Parameters
    ----------
    model : AUCSVC, LinearRankerCV, LevelSumRanker, MarginRanker, RankBoost, \
SoftRankBoost, LambdaMART, AutoRanker, or Pipeline of TableEncoder and one of these
        A fitted model. GraphRanker, models of functions, dates or sparse columns, and
        an AutoRanker with members of another library cannot be exported.

    Returns
    -------
    onnx.ModelProto
        For onnxruntime 1.20 or later, and other readers of opset 20 and ai.onnx.ml 5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax import AUCSVC
    >>> from aucmax.onnx import to_onnx
    >>> model = AUCSVC().fit(*load_breast_cancer(return_X_y=True))
    >>> [output.name for output in to_onnx(model).graph.output]
    ['score']
    """
    check_is_fitted(model)
    graph = OnnxGraph()
    if isinstance(model, AutoRanker):
        scores = _add_combination(graph, model)
    elif (encoder := encoder_and_estimator(model)[0]) is not None:
        matrix = add_table(graph, encoder, encoder.view)
        scores = _add_scores(graph, matrix, model[-1])
    elif not isinstance(getattr(model, "hypotheses", ""), str):
        raise _cannot(model, "its hypotheses are functions of your own")
    elif hasattr(model, "categories_"):
        raise _cannot(model, "its categories come from the types of a data frame")
    else:
        array = graph.input("X", int(model.n_features_in_))
        scores = _add_scores(graph, array, model)
    probability = None
    if isinstance(model, AutoRanker) and hasattr(model, "calibration_"):
        probability = add_probability(graph, scores, model.calibration_)
    return graph.model(score=scores, probability=probability)


def save_onnx(model: object, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a fitted model as an ONNX file, completely or not at all.

    Parameters
    ----------
    model : estimator
        See :func:`to_onnx`.
    path : str or Path
        Where to write it.
    overwrite : bool, default=False
        Whether to replace a file of this name.
    """
    content = to_onnx(model).SerializeToString()
    with atomic_output(path, overwrite=overwrite) as file:
        file.write(content)


def _add_scores(graph: OnnxGraph, matrix: str, model: object) -> str:
    """Add the nodes that score the rows of a matrix; return a column."""
    for is_kind, add in _SCORES:
        if is_kind(model):
            return add(graph, matrix, model)
    raise _cannot(model, "it is neither linear nor made of trees")


def _add_combination(graph: OnnxGraph, model: AutoRanker) -> str:
    """Add all members on their scales, and the weighted sum of their logits."""
    array = None
    if not hasattr(model, "feature_names_in_"):
        array = graph.input("X", int(model.n_features_in_))
    parts = []
    for k, encoder in enumerate(model.encoders_):
        matrices: dict[str, str] = {}
        for member in model.members_:
            one, view = member["models"][k], member["view"]
            can_score = any(is_kind(one) for is_kind, _ in _SCORES)
            if view not in ENCODED or not can_score:
                reason = f"its member {member['name']!r} is a {type(one).__name__}"
                raise _cannot(model, f"{reason}, which is not supported")
            if view not in matrices:
                matrices[view] = add_table(graph, encoder, view, array)
            scores = _add_scores(graph, matrices[view], one)
            logits = add_knots(graph, scores, member["scales"][k])
            weight = member["weight"] / len(model.encoders_)
            parts.append(graph.add("Mul", logits, weight))
    return graph.add("Sub", graph.add("Sum", *parts), model.threshold_)


def _add_level_scores(graph: OnnxGraph, matrix: str, model: LevelSumRanker) -> str:
    parts = [
        graph.add("Mul", _add_scores(graph, matrix, part), level)
        for level, part in zip(
            model.levels_[model.levels_ > 0], model.estimators_, strict=True
        )
    ]
    return graph.add("Sum", *parts)


def _add_hypotheses(graph: OnnxGraph, matrix: str, model: Any) -> str:
    ensemble, threshold = fitted_ensemble(vars(model)), float(model.threshold_)
    if not isinstance(ensemble, StumpEnsemble):
        line = ensemble.linear_form(threshold)
        weights, offset = line["coef_"][0], float(line["intercept_"][0])
        return add_product(graph, matrix, weights, offset)
    columns = np.asarray(ensemble.columns, dtype=np.int64)
    values = graph.add("Gather", matrix, columns, axis=1)
    is_above = graph.add("Greater", values, ensemble.thresholds)
    signs = graph.add("Where", is_above, 1.0, -1.0)
    return add_product(graph, signs, ensemble.weights, -threshold)


def _add_tree_scores(graph: OnnxGraph, matrix: str, model: Any) -> str:
    scores = add_trees(graph, matrix, model.model_text_)
    offset = getattr(model, "threshold_", 0.0)
    return graph.add("Sub", scores, offset)


def _add_line(graph: OnnxGraph, matrix: str, model: Any) -> str:
    return add_product(graph, matrix, model.coef_[0], float(model.intercept_[0]))


# the models that can be exported: the first condition that holds chooses
_SCORES: tuple[tuple[Callable[[Any], bool], Callable[..., str]], ...] = (
    (lambda model: hasattr(model, "model_text_"), _add_tree_scores),
    (lambda model: isinstance(model, LevelSumRanker), _add_level_scores),
    (lambda model: isinstance(model, Forest), add_forest),
    (lambda model: isinstance(model, Network), add_network),
    (lambda model: isinstance(model, KernelLogistic), add_kernel),
    (lambda model: isinstance(model, AdditiveLogistic), add_curves),
    (lambda model: hasattr(model, "coef_"), _add_line),
    (lambda m: hasattr(m, "columns_") and hasattr(m, "weights_"), _add_hypotheses),
)


def _cannot(model: object, reason: str) -> TypeError:
    return TypeError(
        f"{type(model).__name__} cannot be exported to ONNX: {reason}. Use aucmax.save "
        "and aucmax.load instead."
    )
