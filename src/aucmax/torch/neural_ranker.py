"""A network for tables as an estimator of scikit-learn."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from aucmax._features import check_features, check_two_labels, explain_non_finite
from aucmax._fitted_state import replace_state, unchanged_on_failure
from aucmax._parameters import (
    check_integer,
    check_interval,
    check_positive,
    check_range,
)
from aucmax._threshold import balanced_threshold
from aucmax._validation import FloatArray
from aucmax.base import BinaryRanker
from aucmax.exceptions import ModelFileError
from aucmax.torch._network_training import one_thread, train_network
from aucmax.torch._table_network import TableNetwork, find_knots, find_places

__all__ = ["NeuralRanker"]

_ROWS_AT_A_TIME = 10_000


class NeuralRanker(BinaryRanker):
    """A few small networks for a table, trained for the AUC or for a part of it.

    Each number of a row goes in standardized, and as a few piecewise-linear curves of
    it, each category as a vector; two layers turn them into a score. All of it is
    learned with the logistic loss of all pairs of a batch. Each network stops when the
    area of some rows put apart for it has not grown for a while, and the score is the
    mean of the networks.

    Try boosted trees first (:class:`aucmax.LambdaMART`), which take a fraction of the
    time. The default models of :class:`aucmax.AutoRanker` do not include networks: in
    the mean over six tables they brought it 0.0005 of AUC.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve that counts.
    categorical_features : sequence of int, default=None
        Columns whose numbers are names.
    n_networks : int, default=4
        Networks, each with rows of its own put apart.
    hidden_sizes : sequence of int, default=(256, 128)
        Units of the layers.
    embedding_size : int, default=2
        Curves of each column.
    n_ramps : int, default=16
        Pieces of a curve, of as many rows each.
    dropout : float, default=0.2
        Share of the units that are left out at a time in training, at most 0.9.
    learning_rate : float, default=0.002
        The step of the optimizer, AdamW.
    weight_decay : float, default=0.01
        How fast weights shrink that are not needed.
    batch_size : int, default=256
        Rows of a step.
    max_epochs : int, default=100
        Passes over the rows, at most.
    n_iter_no_change : int, default=12
        Passes without a better area after which a network is done.
    validation_fraction : float, default=0.2
        Share of the rows of each class that is put apart. With fewer than ten rows of a
        class none are, and there are `n_iter_no_change` passes.
    random_state : int, RandomState or None, default=0
        For weights, batches and the rows put apart. The same number gives the same
        model.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Negative and positive label.
    knots_ : ndarray of shape (n_numbers, n_ramps + 1)
        Where curves may bend.
    category_values_ : list of ndarray
        Known values of each column of categories.
    parameters_ : dict of str to ndarray
        Weights of the networks; the first axis is the network.
    n_epochs_ : ndarray of shape (n_networks,)
        Passes that each network has kept.
    threshold_ : float
        What is taken off the scores, so that `predict` has the best balanced accuracy
        on the training rows.

    See Also
    --------
    aucmax.LambdaMART : Boosted trees.
    aucmax.AutoRanker : Takes this model, too: ``models=[..., NeuralRanker()]``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax.torch import NeuralRanker
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NeuralRanker(n_networks=1, max_epochs=10).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.98)
    True
    """

    def __init__(
        self,
        fpr_range: Sequence[float] = (0.0, 1.0),
        *,
        tpr_range: Sequence[float] = (0.0, 1.0),
        categorical_features: Sequence[int] | None = None,
        n_networks: int = 4,
        hidden_sizes: Sequence[int] = (256, 128),
        embedding_size: int = 2,
        n_ramps: int = 16,
        dropout: float = 0.2,
        learning_rate: float = 0.002,
        weight_decay: float = 0.01,
        batch_size: int = 256,
        max_epochs: int = 100,
        n_iter_no_change: int = 12,
        validation_fraction: float = 0.2,
        random_state: Any = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.tpr_range = tpr_range
        self.categorical_features = categorical_features
        self.n_networks = n_networks
        self.hidden_sizes = hidden_sizes
        self.embedding_size = embedding_size
        self.n_ramps = n_ramps
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_rows,)
            Two distinct labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights; a pair weighs the product of its rows'. A row of weight 0 is
            left out.

        Returns
        -------
        self : NeuralRanker
            The fitted model.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X = self._check_rows(X, fitting=True)
            classes, labels, weight = check_two_labels(
                self, y, sample_weight, X.shape[0]
            )
            if weight is not None:
                kept = weight > 0.0
                X, labels, weight = X[kept], labels[kept], weight[kept]
            places = self._categorical_places()
            numbers = np.delete(X, places, axis=1)
            values = [np.unique(X[:, p][~np.isnan(X[:, p])]) for p in places]
            fitted: dict[str, Any] = {
                "classes_": classes,
                "knots_": find_knots(numbers, self.n_ramps),
                "category_values_": values,
            }
            replace_state(self, fitted)
            seeds = check_random_state(self.random_state).randint(
                2**31 - 1, size=self.n_networks
            )
            inputs = self._tensors(X)
            with one_thread():
                results = [
                    train_network(self, inputs, labels, weight, int(seed))
                    for seed in seeds
                ]
            names = results[0][0]
            fitted["parameters_"] = {
                name: np.stack([own[name] for own, _ in results]) for name in names
            }
            fitted["n_epochs_"] = np.array([epochs for _, epochs in results])
            fitted["threshold_"] = 0.0
            replace_state(self, fitted)
            scores = self.decision_function(X)
            fitted["threshold_"] = balanced_threshold(scores, labels, weight)
            replace_state(self, fitted)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        check_is_fitted(self)
        X = self._check_rows(X, fitting=False)
        scores = np.zeros(X.shape[0])
        with one_thread(), torch.no_grad():
            for network in self._networks():
                for start in range(0, scores.size, _ROWS_AT_A_TIME):
                    rows = slice(start, start + _ROWS_AT_A_TIME)
                    scores[rows] += network(*self._tensors(X[rows])).double().numpy()
        scores /= len(self.n_epochs_)
        return scores - float(self.threshold_)

    def new_network(self) -> TableNetwork:
        """Return a network for the columns that were seen, with weights at random.

        Returns
        -------
        TableNetwork
            To be trained, or to be given weights.
        """
        return TableNetwork(
            self.knots_,
            [values.size for values in self.category_values_],
            self.embedding_size,
            self.hidden_sizes,
            self.dropout,
        )

    def _networks(self) -> list[TableNetwork]:
        found = []
        for place in range(len(self.n_epochs_)):
            network = self.new_network()
            own = {
                name: torch.from_numpy(values[place].copy())
                for name, values in self.parameters_.items()
            }
            network.load_state_dict(own)
            found.append(network.eval())
        return found

    def _tensors(self, X: FloatArray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return places of numbers, and codes of categories, 0 for what is unknown."""
        places = self._categorical_places()
        codes = np.zeros((X.shape[0], len(places)), dtype=np.int64)
        for column, (place, values) in enumerate(
            zip(places, self.category_values_, strict=True)
        ):
            if values.size:
                found = np.searchsorted(values, X[:, place]).clip(max=values.size - 1)
                is_known = values[found] == X[:, place]
                codes[:, column] = np.where(is_known, found + 1, 0)
        numbers = np.delete(X, places, axis=1)
        return find_places(numbers, self.knots_), torch.tensor(codes)

    def _check_rows(self, X: Any, *, fitting: bool) -> FloatArray:
        if sparse.issparse(X):
            raise TypeError(
                "NeuralRanker needs dense rows, got a sparse matrix. With many columns "
                "of zeros, use AUCSVC or LinearRankerCV."
            )
        rows = check_features(self, X, fitting=fitting, finite=False)
        rows = np.asarray(rows, dtype=np.float64)
        if np.isinf(rows).any():
            names = getattr(self, "feature_names_in_", None)
            raise ValueError(explain_non_finite(rows, names, gaps=True))
        return rows

    def _categorical_places(self) -> list[int]:
        given = [] if self.categorical_features is None else self.categorical_features
        places = [int(place) for place in given]
        width = self.n_features_in_
        for place in places:
            if not 0 <= place < width or places.count(place) > 1:
                raise ValueError(
                    f"categorical_features must be different columns from 0 to "
                    f"{width - 1}, got {list(given)!r}."
                )
        return places

    def _check_parameters(self) -> None:
        for name in (
            *("n_networks", "embedding_size", "n_ramps", "batch_size"),
            *("max_epochs", "n_iter_no_change"),
        ):
            check_integer(name, getattr(self, name))
        for size in self.hidden_sizes:
            check_integer("hidden_sizes", size)
        check_positive("learning_rate", self.learning_rate)
        check_interval("dropout", self.dropout, 0.9, zero=True)
        check_interval("validation_fraction", self.validation_fraction, 1.0)
        if not 0.0 <= self.weight_decay < np.inf:
            raise ValueError(
                f"weight_decay must be at least 0, got {self.weight_decay!r}."
            )
        for name, ends in self._part_of_the_curve().items():
            check_range(name, ends)

    def _part_of_the_curve(self) -> dict[str, Any]:
        return {"fpr_range": self.fpr_range, "tpr_range": self.tpr_range}

    def _check_state(self) -> None:
        """Refuse a loaded state that no fit could have left."""
        if not hasattr(self, "parameters_"):
            return
        try:
            n_numbers = self.n_features_in_ - len(self._categorical_places())
            fits = self.knots_.shape == (n_numbers, self.n_ramps + 1)
            sizes = {len(one) for one in self.parameters_.values()}
            fits = fits and sizes == {len(self.n_epochs_)}
            with torch.device("meta"):  # without memory for what a file may ask
                wanted = self.new_network().state_dict()
            given = {k: own.shape[1:] for k, own in self.parameters_.items()}
            fits = fits and given == {k: own.shape for k, own in wanted.items()}
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            raise ModelFileError("weights do not fit the network") from error
        if not fits:
            raise ModelFileError("weights do not fit the columns")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = True
        return tags
