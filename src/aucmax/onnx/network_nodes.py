"""Nodes for small neural networks on normal scores of the columns."""

import numpy as np
from numpy.typing import NDArray

from aucmax.model_selection.network import SELU_ALPHA, SELU_SCALE, Network
from aucmax.onnx.onnx_graph import OnnxGraph


def add_network(graph: OnnxGraph, matrix: str, model: Network) -> str:
    """Add the mean score of the networks; all are one batched product per layer."""
    columns = graph.add("Unsqueeze", matrix, np.array([2]))
    ramps = graph.ramps(columns, model.knots_, model.knots_[:, :-1].shape)
    rises = graph.add("Mul", ramps, np.diff(model.normal_scores_, axis=1))
    rise = graph.add("ReduceSum", rises, np.array([2]), keepdims=0)
    values = graph.add("Add", rise, model.normal_scores_[:, 0])
    # of the inputs of a layer, into its weights: readers fuse it in single precision
    scale = 1.0
    for weights in (model.first_, model.second_):
        values = _add_selu(graph, _add_layer(graph, values, weights, scale))
        scale = SELU_SCALE
    log_odds = _add_layer(graph, values, model.last_, scale)
    return graph.add("ReduceMean", log_odds, np.array([0]), keepdims=0)


def _add_layer(
    graph: OnnxGraph, values: str, weights: NDArray[np.float32], scale: float
) -> str:
    exact = weights.astype(np.float64)
    product = graph.add("MatMul", values, scale * exact[:, :-1])
    return graph.add("Add", product, exact[:, -1:])


def _add_selu(graph: OnnxGraph, values: str) -> str:
    """Add SELU without its scale."""
    curve = graph.add("Exp", graph.add("Min", values, 0.0))
    below = graph.add("Mul", graph.add("Sub", curve, 1.0), SELU_ALPHA)
    return graph.add("Add", graph.add("Max", values, 0.0), below)
