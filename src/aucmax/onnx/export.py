"""Export of fitted models to ONNX."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from sklearn.utils.validation import check_is_fitted

from aucmax._core.atomic import atomic_output
from aucmax.hypotheses.hypothesis_ensembles import StumpEnsemble, fitted_ensemble
from aucmax.linear import LevelSumRanker
from aucmax.onnx.onnx_graph import OnnxGraph
from aucmax.onnx.onnx_trees import add_trees
from aucmax.onnx.table_columns import add_table
from aucmax.tables import TableModel


def to_onnx(model: Any) -> onnx.ModelProto:
    """Convert a fitted model to an ONNX graph with the same scores in double precision.

    Linear models, stumps and boosted trees of arrays have one input, "X", of shape
    (rows, columns). Models of tables have one named input of shape (rows, 1) per column
    in use: numbers (NaN is missing), or strings without surrounding blanks (the empty
    string is missing). The output is "score", one number per row, equal to
    `decision_function`.

    Parameters
    ----------
    model : AUCSVC, LinearRankerCV, LevelSumRanker, MarginRanker, RankBoost, \
SoftRankBoost, LambdaMART or TableModel
        A fitted model. GraphRanker, AutoRanker, and models of functions or dates
        cannot be exported.

    Returns
    -------
    onnx.ModelProto
        For onnxruntime 1.20 or later, and other readers of opset 18 and ai.onnx.ml 5.

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
    if isinstance(model, TableModel):
        matrix = add_table(graph, model.encoder_, model.view)
        return graph.model(_add_scores(graph, matrix, model.estimator_))
    if not isinstance(getattr(model, "hypotheses", ""), str):
        raise _cannot(model, "its hypotheses are functions of your own")
    if hasattr(model, "categories_"):
        raise _cannot(model, "its categories come from the types of a data frame")
    matrix = graph.input("X", int(model.n_features_in_))
    return graph.model(_add_scores(graph, matrix, model))


def save_onnx(model: Any, path: str | Path, *, overwrite: bool = False) -> None:
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


def _add_scores(graph: OnnxGraph, matrix: str, model: Any) -> str:
    """Add the nodes that score the rows of a matrix; return a column."""
    if hasattr(model, "model_text_"):
        return _add_tree_scores(graph, matrix, model)
    if isinstance(model, LevelSumRanker):
        return _add_level_scores(graph, matrix, model)
    if hasattr(model, "coef_"):
        return _add_product(graph, matrix, model.coef_[0], float(model.intercept_[0]))
    if hasattr(model, "columns_") and hasattr(model, "weights_"):
        return _add_hypotheses(graph, matrix, model)
    raise _cannot(model, "it is neither linear nor made of trees")


def _add_level_scores(graph: OnnxGraph, matrix: str, model: LevelSumRanker) -> str:
    parts = [
        graph.add("Mul", _add_scores(graph, matrix, part), graph.number(level))
        for level, part in zip(
            model.levels_[model.levels_ > 0], model.estimators_, strict=True
        )
    ]
    return graph.add("Sum", *parts)


def _add_product(graph: OnnxGraph, matrix: str, weights: Any, offset: float) -> str:
    column = graph.constant(np.asarray(weights, dtype=np.float64)[:, None])
    product = graph.add("MatMul", matrix, column)
    return graph.add("Add", product, graph.number(offset))


def _add_hypotheses(graph: OnnxGraph, matrix: str, model: Any) -> str:
    ensemble, threshold = fitted_ensemble(vars(model)), float(model.threshold_)
    if not isinstance(ensemble, StumpEnsemble):
        line = ensemble.linear_form(threshold)
        weights, offset = line["coef_"][0], float(line["intercept_"][0])
        return _add_product(graph, matrix, weights, offset)
    columns = graph.constant(np.asarray(ensemble.columns, dtype=np.int64))
    values = graph.add("Gather", matrix, columns, axis=1)
    is_above = graph.add("Greater", values, graph.constant(ensemble.thresholds))
    signs = graph.add("Where", is_above, graph.number(1.0), graph.number(-1.0))
    return _add_product(graph, signs, ensemble.weights, -threshold)


def _add_tree_scores(graph: OnnxGraph, matrix: str, model: Any) -> str:
    exponents = getattr(model, "column_exponents_", None)
    if exponents is not None:
        factors = graph.constant(np.ldexp(1.0, -exponents)[None, :])
        matrix = graph.add("Mul", matrix, factors)
    scores = add_trees(graph, matrix, model.model_text_)
    offset = graph.number(getattr(model, "threshold_", 0.0))
    return graph.add("Sub", scores, offset)


def _cannot(model: Any, reason: str) -> TypeError:
    return TypeError(
        f"{type(model).__name__} cannot be exported to ONNX: {reason}. Use aucmax.save "
        "and aucmax.load instead."
    )
