"""Forests of scikit-learn, stored as arrays of splits and scored by our own loop."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from aucmax._core import saved_state as saved
from aucmax._core.features import check_two_labels
from aucmax._core.mapped import row_blocks
from aucmax._core.parameters import check_choice, check_integer
from aucmax._core.validation import FloatArray
from aucmax.binary_ranker import BinaryRanker
from aucmax.exceptions import ModelFileError
from aucmax.model_selection._forest_kernels import add_shares
from aucmax.model_selection.baselines import check_fitted_columns
from aucmax.trees.booster import n_threads

# Trees that are grown between two calls of the callback.
_TREES_AT_ONCE = 20
_LARGEST = np.finfo(np.float32).max


@dataclass(eq=False, repr=False)
class Forest(BinaryRanker):
    """A forest of scikit-learn: the mean share of positives in the leaves of a row.

    The probability of the positive class has the same bits as in scikit-learn's forest:
    values are compared in single precision, and those beyond its range count as its
    ends.

    Parameters
    ----------
    n_estimators : int, default=300
        Number of trees.
    thresholds : {"random", "best"}, default="random"
        "random" is scikit-learn's ``ExtraTreesClassifier``, where every tree learns
        from all rows; "best" is its ``RandomForestClassifier``.
    criterion : {"gini", "entropy"}, default="gini"
        The impurity that splits reduce.
    max_features : {"sqrt", None}, default="sqrt"
        Columns that a split is chosen from: the square root of their number, or all.
    min_samples_leaf : int, default=1
        Smallest number of rows in a leaf.
    max_rows : int, default=10000
        Rows per tree; with more, every tree learns from a bootstrap sample.
    max_splits : int, default=600000
        Splits of all trees, 17 bytes each. Trees that might have more grow the split
        with the largest gain first.
    n_jobs : int, default=None
        Threads of a fit, as for :class:`~aucmax.LambdaMART`.
    random_state : int, default=0
        Seed.
    callback : callable, default=None
        Called with the number of trees after every 20; an exception ends the fit. Not
        stored by :func:`aucmax.save`.

    Attributes
    ----------
    features_, thresholds_ : ndarray of shape (n_splits,)
        A row goes to the left if its value of the column is at most the threshold.
    missing_left_ : ndarray of shape (n_splits,)
        Whether a row without a value goes to the left.
    children_ : ndarray of shape (n_splits, 2)
        The splits to the left and right; below 0, the leaf of ``shares_[-1 - child]``.
    roots_ : ndarray of shape (n_estimators,)
        The first split of each tree, or its only leaf.
    shares_ : ndarray
        The distinct shares of positives of all leaves.
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
        features_=saved.array("i", None),
        thresholds_=saved.array("f", "features_"),
        missing_left_=saved.array("b", "features_"),
        children_=saved.array("i", "features_", 2),
        roots_=saved.array("i", None),
        shares_=saved.array("f", None),
    )

    n_estimators: int = 300
    thresholds: str = "random"
    criterion: str = "gini"
    max_features: str | None = "sqrt"
    min_samples_leaf: int = 1
    max_rows: int = 10_000
    max_splits: int = 600_000
    n_jobs: int | None = None
    random_state: int = 0
    callback: Callable[[int], object] | None = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN in an ndarray is a missing value.
        y : array-like of shape (n_rows,)
            Two distinct labels; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.

        Returns
        -------
        self : object
            The fitted model.
        """
        classes, labels, weight = check_two_labels(self, y, sample_weight, X.shape[0])
        grown = self._forest(X.shape[0])
        rows = _single_precision(X)
        numbers = range(_TREES_AT_ONCE, self.n_estimators, _TREES_AT_ONCE)
        for n_trees in [*numbers, self.n_estimators]:
            # the trees of one fit; scikit-learn sums columns, which may overflow
            with np.errstate(over="ignore", invalid="ignore"):
                grown.set_params(n_estimators=n_trees).fit(rows, labels, weight)
            if self.callback is not None:
                self.callback(n_trees)
        self.classes_ = classes
        self.n_features_in_ = int(X.shape[1])
        self._store([one.tree_ for one in grown.estimators_])
        return self

    def decision_function(self, X: object) -> FloatArray:
        """Return the mean share of positives, less one half.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN in an ndarray is a missing value.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, positive where `predict` gives the positive class.
        """
        return self._shares(X) - 0.5

    def predict_proba(self, X: object) -> FloatArray:
        """Return the mean shares of both classes in the leaves.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN in an ndarray is a missing value.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Not calibrated.
        """
        shares = self._shares(X)
        return np.column_stack([1.0 - shares, shares])

    def _forest(self, n_rows: int) -> Any:
        """Return an unfitted forest of scikit-learn."""
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

        kinds = {"random": ExtraTreesClassifier, "best": RandomForestClassifier}
        check_choice("thresholds", self.thresholds, tuple(kinds))
        for name in ("n_estimators", "max_rows", "max_splits"):
            check_integer(name, getattr(self, name))
        is_large = n_rows > self.max_rows
        # a tree has at most one leaf per row
        max_leaves = max(self.max_splits // self.n_estimators, 1) + 1
        is_deep = min(n_rows, self.max_rows) > max_leaves * self.min_samples_leaf
        return kinds[self.thresholds](
            criterion=self.criterion,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            max_leaf_nodes=max_leaves if is_deep else None,
            bootstrap=is_large or self.thresholds == "best",
            max_samples=self.max_rows if is_large else None,
            n_jobs=n_threads(self.n_jobs, n_rows),
            random_state=self.random_state,
            warm_start=True,
        )

    def _store(self, trees: list[Any]) -> None:
        """Keep the splits of all trees one after the other."""

        def joined(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(tree, name) for tree in trees])

        n_nodes = [tree.node_count for tree in trees]
        starts = np.cumsum(n_nodes) - n_nodes
        self.shares_, share = np.unique(joined("value")[:, 0, 1], return_inverse=True)
        is_split = joined("children_left") >= 0
        # the place of each node: that of its split, or of its share, counted from -1
        place = np.where(is_split, np.cumsum(is_split) - 1, -1 - share)
        sides = np.column_stack([joined("children_left"), joined("children_right")])
        children = (sides + np.repeat(starts, n_nodes)[:, None])[is_split]
        self.children_ = place[children].astype(np.int32)
        self.roots_ = place[starts].astype(np.int32)
        self.features_ = joined("feature")[is_split].astype(np.int32)
        self.missing_left_ = joined("missing_go_to_left")[is_split].astype(bool)
        # the largest number of single precision that is not above the threshold
        exact = joined("threshold")[is_split]
        near = exact.astype(np.float32)
        below = np.nextafter(near, np.float32(-np.inf))
        self.thresholds_ = np.where(near > exact, below, near)

    def _shares(self, X: Any) -> FloatArray:
        check_fitted_columns(self, X)
        shares = np.zeros(X.shape[0])
        splits = self.features_, self.thresholds_, self.missing_left_
        for rows in row_blocks(X):
            block: Any = X[rows]
            values = _single_precision(
                block.toarray() if hasattr(block, "toarray") else block
            )
            add_shares(
                values, splits, self.children_, self.roots_, self.shares_, shares[rows]
            )
        return np.asarray(shares / self.roots_.size)

    def _check_state(self) -> None:
        """Reject a loaded state whose walks from a root might not end at a leaf."""
        if not hasattr(self, "roots_"):
            return
        n_splits, n_shares = self.features_.size, self.shares_.size
        nodes = np.append(self.roots_, self.children_)
        above = np.arange(n_splits)[:, None]
        if self.roots_.size == 0:
            raise ModelFileError("a forest has no trees")
        if ((self.features_ < 0) | (self.features_ >= self.n_features_in_)).any():
            raise ModelFileError("a split is on a column that does not exist")
        if ((nodes < -n_shares) | (nodes >= n_splits)).any():
            raise ModelFileError("a split or leaf does not exist")
        if ((self.children_ >= 0) & (self.children_ <= above)).any():
            raise ModelFileError("a split comes before the one above it")


def _single_precision(X: object) -> Any:
    """Return rows as scikit-learn's trees compare them, without infinities."""
    if sparse.issparse(X):
        matrix: Any = X
        rows: Any = sparse.csr_array(matrix)
        # scikit-learn's trees take no other type of indices
        indices, starts = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        parts: Any = (_single_precision(rows.data), indices, starts)
        return sparse.csr_array(parts, shape=rows.shape)
    return np.clip(np.asarray(X), -_LARGEST, _LARGEST).astype(np.float32)
