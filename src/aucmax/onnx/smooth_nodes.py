"""Nodes for kernels, curves, the scale of a member, and probabilities."""

import numpy as np
from numpy.typing import NDArray

from aucmax.decisions.calibrated import LOGISTIC_BETWEEN
from aucmax.linear.additive_logistic import AdditiveLogistic, is_bent
from aucmax.linear.kernel_logistic import KernelLogistic
from aucmax.onnx.onnx_graph import OnnxGraph
from aucmax.onnx.onnx_trees import add_steps

Knots = NDArray[np.float64]  # rising scores and their heights, of shape (2, n_knots)


def add_product(
    graph: OnnxGraph, matrix: str, weights: NDArray[np.float64], offset: float = 0.0
) -> str:
    """Add the product of a matrix and weights, and an offset."""
    column = np.asarray(weights, dtype=np.float64)[:, None]
    product = graph.add("MatMul", matrix, column)
    return graph.add("Add", product, offset)


def add_kernel(graph: OnnxGraph, matrix: str, model: KernelLogistic) -> str:
    """Add a Gaussian kernel with the landmarks, summed by their weights."""
    landmarks = model.landmarks_
    if not isinstance(landmarks, np.ndarray):
        landmarks = landmarks.toarray()
    squares = graph.add("ReduceSumSquare", matrix, np.array([1]))
    products = graph.add("MatMul", matrix, -2.0 * landmarks.T)
    landmark_squares = np.square(landmarks).sum(axis=1)[None, :]
    distances = graph.add("Sum", squares, products, landmark_squares)
    distances = graph.add("Max", distances, 0.0)
    kernel = graph.add("Exp", graph.add("Mul", distances, -model.gamma_))
    return add_product(graph, kernel, model.weights_)


def add_curves(graph: OnnxGraph, matrix: str, model: AdditiveLogistic) -> str:
    """Add the values and the ramps of all columns, summed by their weights."""
    scores = add_product(graph, matrix, model.weights_[:, 0])
    (bent,) = np.nonzero(is_bent(model.knots_))
    if not bent.size:
        return scores
    places = np.repeat(bent, model.knots_.shape[1] - 1)
    values = graph.add("Gather", matrix, places, axis=1)
    ramps = graph.ramps(values, model.knots_[bent], (1, -1))
    curved = add_product(graph, ramps, model.weights_[bent, 1:].ravel())
    return graph.add("Add", scores, curved)


def add_knots(graph: OnnxGraph, scores: str, knots: Knots) -> str:
    """Add a rising line through knots, with the mean slope beyond the ends."""
    known, heights = knots
    if known.size == 1:
        zeros = graph.add("Mul", scores, 0.0)
        return graph.add("Add", zeros, heights[0])
    mean = (heights[-1] - heights[0]) / (known[-1] - known[0])
    starts = np.concatenate([known[:1], known])
    levels = np.concatenate([heights[:1], heights])
    slopes = np.concatenate([[mean], np.diff(heights) / np.diff(known), [mean]])
    pieces = add_steps(graph, scores, known)
    start, level, slope = (
        graph.add("Gather", values, pieces, axis=0)
        for values in (starts, levels, slopes)
    )
    rise = graph.add("Mul", graph.add("Sub", scores, start), slope)
    return graph.add("Add", rise, level)


def add_probability(graph: OnnxGraph, scores: str, knots: Knots) -> str:
    """Add the probability of a score, as in ``aucmax/_core/calibrated.py``."""
    log_odds = add_knots(graph, scores, knots)
    ends = (np.array(end) for end in LOGISTIC_BETWEEN)
    within = graph.add("Clip", log_odds, *ends)
    beyond = graph.add("Abs", graph.add("Sub", log_odds, within))
    odds = graph.add("Add", graph.add("Exp", graph.add("Abs", within)), 1.0)
    complement = graph.add("Mul", odds, graph.add("Add", beyond, 1.0))
    complement = graph.add("Div", 1.0, complement)
    is_high = graph.add("Greater", log_odds, 0.0)
    return graph.add("Where", is_high, graph.add("Sub", 1.0, complement), complement)
