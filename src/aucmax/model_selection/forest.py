"""Forests of scikit-learn, stored as arrays of splits and scored by our own loop."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.docstrings import documented
from aucmax._core.features import check_two_labels
from aucmax._core.parameters import check_choice, check_integer
from aucmax._core.validation import FloatArray
from aucmax.binary_ranker import BinaryRanker
from aucmax.exceptions import ModelFileError
from aucmax.model_selection._forest_kernels import add_shares
from aucmax.trees.booster import n_threads

_CELLS_AT_ONCE = 1 << 22  # of a matrix in single precision: 16 megabytes
# Trees that are grown between two calls of the callback.
_TREES_AT_ONCE = 20
_LARGEST = np.finfo(np.float32).max


@documented
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

    def __init__(
        self,
        n_estimators: int = 300,
        thresholds: str = "random",
        criterion: str = "gini",
        max_features: str | None = "sqrt",
        min_samples_leaf: int = 1,
        max_rows: int = 10_000,
        max_splits: int = 600_000,
        n_jobs: int | None = None,
        random_state: int = 0,
        callback: Callable[[int], object] | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.thresholds = thresholds
        self.criterion = criterion
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_rows = max_rows
        self.max_splits = max_splits
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The features; NaN in an ndarray is a missing value.
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

    def decision_function(self, X: Any) -> FloatArray:
        """Return the mean share of positives, less one half."""
        return self._shares(X) - 0.5

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mean shares of both classes in the leaves.

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
        values = [tree.value[:, 0, 1] for tree in trees]
        self.shares_, share = np.unique(np.concatenate(values), return_inverse=True)
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        is_split = np.concatenate([tree.children_left >= 0 for tree in trees])
        # the place of each node: that of its split, or of its share, counted from -1
        place = np.where(is_split, np.cumsum(is_split) - 1, -1 - share)
        sides = [
            np.concatenate(
                [
                    getattr(tree, f"children_{side}") + start
                    for tree, start in zip(trees, starts[:-1], strict=True)
                ]
            )[is_split]
            for side in ("left", "right")
        ]
        self.children_ = place[np.column_stack(sides)].astype(np.int32)
        self.roots_ = place[starts[:-1]].astype(np.int32)
        columns, missing, exact = (
            np.concatenate([getattr(tree, name) for tree in trees])[is_split]
            for name in ("feature", "missing_go_to_left", "threshold")
        )
        self.features_ = columns.astype(np.int32)
        self.missing_left_ = missing.astype(bool)
        # the largest number of single precision that is not above the threshold
        near = exact.astype(np.float32)
        below = np.nextafter(near, np.float32(-np.inf))
        self.thresholds_ = np.where(near > exact, below, near)

    def _shares(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, the model was trained on "
                f"{self.n_features_in_}."
            )
        shares = np.zeros(X.shape[0])
        step = max(1, _CELLS_AT_ONCE // max(1, X.shape[1]))
        for start in range(0, shares.size, step):
            rows = X[start : start + step]
            add_shares(
                _single_precision(rows.toarray() if hasattr(rows, "toarray") else rows),
                (self.features_, self.thresholds_, self.missing_left_),
                self.children_,
                self.roots_,
                self.shares_,
                shares[start : start + step],
            )
        return np.asarray(shares / self.roots_.size)

    def _check_state(self) -> None:
        """Reject a loaded state whose walks from a root might not end at a leaf."""
        if not hasattr(self, "roots_"):
            return
        n_splits, n_shares = self.features_.size, self.shares_.size
        if self.roots_.size == 0:
            raise ModelFileError("a forest has no trees")
        if n_splits and not 0 <= self.features_.min() <= self.features_.max() < (
            self.n_features_in_
        ):
            raise ModelFileError("a split is on a column that does not exist")
        for places in (self.roots_, self.children_):
            if places.size and not -n_shares <= places.min() <= places.max() < n_splits:
                raise ModelFileError("a split or leaf does not exist")
        above = np.arange(n_splits)[:, None]
        if ((self.children_ >= 0) & (self.children_ <= above)).any():
            raise ModelFileError("a split comes before the one above it")


def _single_precision(X: Any) -> Any:
    """Return rows as scikit-learn's trees compare them, without infinities."""
    if sparse.issparse(X):
        given: Any = X
        rows: Any = sparse.csr_array(given)
        values = _single_precision(rows.data)
        # scikit-learn's trees take no other type of indices
        parts = (
            one.astype(np.int32, copy=False) for one in (rows.indices, rows.indptr)
        )
        return sparse.csr_array((values, *parts), shape=rows.shape)
    return np.clip(np.asarray(X), -_LARGEST, _LARGEST).astype(np.float32)
