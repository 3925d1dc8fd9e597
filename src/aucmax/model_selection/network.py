r"""Small neural networks for tables, trained side by side with NumPy.

Every column becomes its normal scores, so its scale and its outliers do not matter.
With the columns :math:`x`, a scale :math:`s` per column and SELU :math:`\sigma`, a
network scores

.. math:: f(x) = \sigma(\sigma((s \circ x) W_1 + b_1) W_2 + b_2) w_3 + b_3

It minimises the cross-entropy by Adam, with dropout, and keeps the epoch with the
lowest cross-entropy of its own held-out rows. Several networks differ by their seeds;
the score is their mean. Their weights are stacked along the first axis, so that one
batched product trains all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtri
from scipy.stats import rankdata

from aucmax._core import saved_state as saved
from aucmax._core.features import check_two_labels
from aucmax._core.mapped import row_blocks
from aucmax._core.parameters import check_integer
from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.binary_ranker import BinaryRanker
from aucmax.exceptions import IncompatibleError
from aucmax.model_selection.baselines import check_fitted_columns
from aucmax.trees.booster import n_threads

# The weights of networks in float32, or in float64 to check gradients.
Array = NDArray[np.floating]
Arrays = Sequence[Array]

_MAX_KNOTS = 64  # of a column; between them normal scores are linear
_MAX_NORMAL_SCORE = 3.0  # further ones are clipped
_MAX_CELLS = 50_000_000  # of the dense matrix in single precision, 200 MB
# SELU keeps mean 0 and variance 1 of normal inputs (Klambauer et al., 2017)
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
# Taken over unchanged from a prototype; docs/studies/network.md has what was measured.
_BATCH_ROWS = 128
_VALIDATION_SHARE = 0.15
_RATE, _SCALE_RATE, _WARM_UP = 0.01, 0.03, 0.05
_DROPOUT, _DECAY = 0.15, 0.01
_MOMENTUM, _SECOND_MOMENTUM = 0.9, 0.98


def _n_networks(state: Mapping[str, Any]) -> int:
    return int(state["first_"].shape[0])


def _n_inputs(state: Mapping[str, Any]) -> int:
    """Return the number of units of the first layer, and the constant."""
    return int(state["first_"].shape[2]) + 1


@dataclass(eq=False, repr=False)
class Network(BinaryRanker):
    """The mean score of small neural networks.

    Sparse rows become dense in single precision; matrices of more than 50 million
    cells are rejected.

    Parameters
    ----------
    n_networks : int, default=4
        Number of networks, which differ by their random numbers.
    n_units : int, default=96
        Units of each of the two hidden layers.
    n_epochs : int, default=60
        Passes over the training rows.
    n_jobs : int, default=None
        Threads, as for :class:`~aucmax.LambdaMART`; at most one per network is used.
    random_state : int, default=0
        Seed. The number of threads does not change the result.
    callback : callable, default=None
        Called with the number of epochs after each; an exception ends the fit. Not
        stored by :func:`aucmax.save`.

    Attributes
    ----------
    knots_, normal_scores_ : ndarray of shape (n_features, n_knots)
        Rising values of each column, and their normal scores.
    first_, second_, last_ : ndarray of shape (n_networks, n_inputs + 1, n_units)
        The weights of the layers, the constants in the last row.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.
    """

    _unsaved_params = ("callback",)
    _saved_state = saved.fields(
        n_features_in_=saved.count,
        knots_=saved.array("f", "n_features_in_", None),
        normal_scores_=saved.array(
            "f", "n_features_in_", lambda state: state["knots_"].shape[1]
        ),
        first_=saved.array("f", None, lambda state: state["n_features_in_"] + 1, None),
        second_=saved.array("f", _n_networks, _n_inputs, lambda s: _n_inputs(s) - 1),
        last_=saved.array("f", _n_networks, _n_inputs, 1),
    )

    n_networks: int = 4
    n_units: int = 96
    n_epochs: int = 60
    n_jobs: int | None = None
    random_state: int = 0
    callback: Callable[[int], object] | None = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features, without missing values.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.

        Returns
        -------
        self : object
            The fitted model.
        """
        for name in ("n_networks", "n_units", "n_epochs"):
            check_integer(name, getattr(self, name))
        classes, labels, weight = check_two_labels(self, y, sample_weight, X.shape[0])
        if X.shape[0] * X.shape[1] > _MAX_CELLS:
            raise IncompatibleError(
                f"a network needs a dense matrix of at most {_MAX_CELLS:,} cells, got "
                f"{X.shape[0]:,} rows of {X.shape[1]:,} columns. Use fewer rows or "
                "columns, or another model."
            )
        rows = _dense(X)
        if weight is not None:
            # a batch whose rows all have the weight 0 would divide 0 by 0
            kept = np.flatnonzero(weight)
            rows, labels, weight = rows[kept], labels[kept], weight[kept]
        knots, heights = _learn_normal_scores(rows)
        inputs = _to_normal_scores(rows, knots, heights).astype(np.float32)
        seeds = np.random.SeedSequence(self.random_state).spawn(self.n_networks)
        n_parts = min(n_threads(self.n_jobs, X.shape[0]), self.n_networks)
        parts = [
            _Training(self, inputs, labels, weight, [seeds[k] for k in numbers])
            for numbers in np.array_split(np.arange(self.n_networks), n_parts)
        ]
        with one_blas_thread(), ThreadPoolExecutor(n_parts) as pool:
            for epoch in range(self.n_epochs):
                list(pool.map(_Training.run_epoch, parts))
                if self.callback is not None:
                    self.callback(epoch + 1)
        best = zip(*(part.best for part in parts), strict=True)
        scale, *layers = (np.concatenate(layer) for layer in best)
        layers[0] *= scale.transpose(0, 2, 1)
        stacked = (np.concatenate(layers[k : k + 2], axis=1) for k in (0, 2, 4))
        # all at once: an interrupted fit leaves the model as it was
        self.__dict__.update(
            dict(zip(("first_", "second_", "last_"), stacked, strict=True)),
            classes_=classes,
            n_features_in_=int(X.shape[1]),
            knots_=knots,
            normal_scores_=heights,
        )
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the mean log-odds of the networks.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features, without missing values.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        check_fitted_columns(self, X)
        scores = np.empty(X.shape[0])
        for rows in row_blocks(X):
            inputs = _to_normal_scores(
                _dense(X[rows]), self.knots_, self.normal_scores_
            )
            hidden = _selu(inputs @ self.first_[:, :-1] + self.first_[:, -1:])[0]
            hidden = _selu(hidden @ self.second_[:, :-1] + self.second_[:, -1:])[0]
            log_odds = hidden @ self.last_[:, :-1] + self.last_[:, -1:]
            scores[rows] = log_odds[..., 0].mean(axis=0)
        return scores


class _Training:
    """Some of the networks, with the state of Adam and the best weights so far."""

    def __init__(
        self,
        model: Network,
        inputs: NDArray[np.float32],
        labels: BoolArray,
        weight: FloatArray | None,
        seeds: Sequence[np.random.SeedSequence],
    ) -> None:
        n_features, n_units = inputs.shape[1], model.n_units
        weight = np.ones(labels.size) if weight is None else weight / weight.mean()
        self.inputs = inputs
        self.labels = labels.astype(np.float32)
        # a weight that single precision rounds to 0 counts as its smallest number
        self.weight = weight.astype(np.float32).clip(np.finfo(np.float32).tiny)
        self.draws = [np.random.default_rng(seed) for seed in seeds]
        splits = [split_validation_rows(labels, draw) for draw in self.draws]
        self.trained, self.held_out = (
            np.stack(rows) for rows in zip(*splits, strict=True)
        )
        share = float(np.average(labels, weights=weight))
        networks = [
            _first_weights(n_features, n_units, share, draw) for draw in self.draws
        ]
        self.layers = [np.stack(layer) for layer in zip(*networks, strict=True)]
        self.gradients, self.means, self.squares = (
            [np.zeros_like(layer) for layer in self.layers] for _ in range(3)
        )
        self.batch = min(_BATCH_ROWS, self.trained.shape[1])
        self.n_batches = self.trained.shape[1] // self.batch
        self.step, self.n_steps = 0, model.n_epochs * self.n_batches
        self.best = [layer.copy() for layer in self.layers]
        self.lowest = np.full(len(seeds), np.inf)

    def run_epoch(self) -> None:
        """Run all batches, and keep networks that predict their held-out rows best."""
        n_rows, n_units = self.trained.shape[1], self.layers[1].shape[2]
        order = np.stack([draw.permutation(n_rows) for draw in self.draws])
        shuffled = np.take_along_axis(self.trained, order, axis=1)
        for k in range(self.n_batches):
            rows = shuffled[:, k * self.batch : (k + 1) * self.batch]
            shape = (2, self.batch, n_units)
            kept = np.stack(
                [draw.random(shape, np.float32) >= _DROPOUT for draw in self.draws],
                axis=1,
            )
            factors = kept * np.float32(1.0 / (1.0 - _DROPOUT))
            self._measure(rows, factors, self.gradients)
            self._update()
        loss = self._measure(self.held_out)
        is_lower = loss < self.lowest
        self.lowest[is_lower] = loss[is_lower]
        for best, layer in zip(self.best, self.layers, strict=True):
            best[is_lower] = layer[is_lower]

    def _measure(
        self,
        rows: IntArray,
        factors: Array | None = None,
        gradients: Arrays | None = None,
    ) -> FloatArray:
        batch = self.inputs[rows], self.labels[rows], self.weight[rows]
        return cross_entropy(self.layers, *batch, factors, gradients)

    def _update(self) -> None:
        """Take one step of Adam with decoupled weight decay."""
        self.step += 1
        share = self.step / self.n_steps
        factor = min(1.0, share / _WARM_UP) * (1.0 + np.cos(np.pi * share)) / 2.0
        parts = self.layers, self.gradients, self.means, self.squares
        for k, (layer, gradient, mean, square) in enumerate(zip(*parts, strict=True)):
            mean += (1.0 - _MOMENTUM) * (gradient - mean)
            square += (1.0 - _SECOND_MOMENTUM) * (gradient**2 - square)
            deviation = np.sqrt(square / (1.0 - _SECOND_MOMENTUM**self.step)) + 1e-8
            change = mean / ((1.0 - _MOMENTUM**self.step) * deviation)
            if k % 2:  # not of the scale and the constants
                change += _DECAY * layer
            layer -= np.float32(factor * (_RATE if k else _SCALE_RATE)) * change


def cross_entropy(
    layers: Arrays,
    inputs: Array,
    labels: Array,
    weight: Array,
    factors: Array | None = None,
    gradients: Arrays | None = None,
) -> FloatArray:
    """Return the mean cross-entropy of each network, and write its gradient if asked.

    `inputs` has the shape (n_networks, n_rows, n_features); `factors` of dropout
    multiply the units of both hidden layers.
    """
    scale, weights, constants = layers[0], layers[1::2], layers[2::2]
    hidden, slopes = [inputs * scale], [inputs]
    for k in range(2):
        outputs, slope = _selu(hidden[k] @ weights[k] + constants[k])
        factor = 1.0 if factors is None else factors[k]
        hidden.append(outputs * factor)
        slopes.append(slope * factor)
    log_odds = (hidden[2] @ weights[2] + constants[2])[..., 0]
    share = weight / weight.sum(axis=1, keepdims=True)
    loss = share * (np.logaddexp(0.0, log_odds) - labels * log_odds)
    if gradients is not None:
        error = (share * (expit(log_odds) - labels))[..., None]
        for k in (2, 1, 0):
            np.matmul(hidden[k].transpose(0, 2, 1), error, out=gradients[2 * k + 1])
            np.sum(error, axis=1, keepdims=True, out=gradients[2 * k + 2])
            error = (error @ weights[k].transpose(0, 2, 1)) * slopes[k]
        np.sum(error, axis=1, keepdims=True, out=gradients[0])
    return np.asarray(loss.sum(axis=1, dtype=np.float64))


def _selu(values: Array) -> tuple[Array, Array]:
    """Return SELU and its derivative."""
    curve = SELU_ALPHA * np.exp(np.minimum(values, 0.0))
    is_positive = values > 0.0
    outputs = SELU_SCALE * np.where(is_positive, values, curve - SELU_ALPHA)
    return outputs, SELU_SCALE * np.where(is_positive, 1.0, curve).astype(values.dtype)


def _first_weights(
    n_features: int, n_units: int, positive_share: float, draw: np.random.Generator
) -> list[NDArray[np.float32]]:
    """Draw scale, weights and constants that keep the variance of the inputs.

    The score starts near the log-odds.
    """
    layers = [np.ones((1, n_features))]
    for a, b in ((n_features, n_units), (n_units, n_units), (n_units, 1)):
        layers += [draw.normal(size=(a, b), scale=a**-0.5), np.zeros((1, b))]
    layers[5] *= 0.1
    layers[6] += np.log(positive_share) - np.log1p(-positive_share)
    return [layer.astype(np.float32) for layer in layers]


def split_validation_rows(
    labels: BoolArray, draw: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return training and held-out rows, 15% of each class that has several rows."""
    parts = [draw.permutation(np.flatnonzero(labels == k)) for k in np.unique(labels)]
    counts = [min(int(np.ceil(_VALIDATION_SHARE * p.size)), p.size - 1) for p in parts]
    trained = np.concatenate([p[n:] for p, n in zip(parts, counts, strict=True)])
    held_out = np.concatenate([p[:n] for p, n in zip(parts, counts, strict=True)])
    return trained, held_out if held_out.size else trained


def _dense(X: object) -> FloatArray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _learn_normal_scores(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return knots of each column, and the normal scores of their midranks."""
    knots = np.empty((X.shape[1], _MAX_KNOTS))
    heights = np.empty_like(knots)
    even = np.linspace(0.0, 1.0, _MAX_KNOTS)
    for k, column in enumerate(X.T):
        values, first = np.unique(column, return_index=True)
        shares = (rankdata(column)[first] - 0.5) / column.size
        chosen = np.searchsorted(shares, even).clip(max=values.size - 1)
        if values.size <= _MAX_KNOTS:
            chosen = np.arange(_MAX_KNOTS).clip(max=values.size - 1)
        knots[k], heights[k] = values[chosen], ndtri(shares[chosen])
    return knots, heights.clip(-_MAX_NORMAL_SCORE, _MAX_NORMAL_SCORE)


def _to_normal_scores(
    X: FloatArray, knots: FloatArray, heights: FloatArray
) -> FloatArray:
    """Interpolate the columns between their knots; beyond them they are constant."""
    columns = zip(X.T, knots, heights, strict=True)
    scores = np.empty_like(X)
    for k, (column, known, values) in enumerate(columns):
        scores[:, k] = np.interp(column, known, values)
    return scores
