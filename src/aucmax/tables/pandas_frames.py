"""Give pipelines that were written for pandas the frames they know."""

from importlib import import_module
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin, clone

from aucmax.tables.cross_fit import TableCandidate, score_rows


def for_frame(candidate: TableCandidate, X: Any) -> TableCandidate:
    """Return a candidate whose estimator gets frames of pandas if X is one."""
    takes_polars = hasattr(candidate.estimator, "leaderboard")  # AutoRanker
    if candidate.view != "frame" or not hasattr(X, "iloc") or takes_polars:
        return candidate
    dtypes = {str(name): dtype for name, dtype in zip(X.columns, X.dtypes, strict=True)}
    return candidate._replace(estimator=PandasFrames(candidate.estimator, dtypes))


class PandasFrames(ClassifierMixin, BaseEstimator):
    """An estimator of frames of pandas that takes frames of polars."""

    def __init__(self, estimator: object, dtypes: dict[str, object]) -> None:
        self.estimator = estimator
        self.dtypes = dtypes

    def fit(self, X: object, y: object) -> Self:
        """Fit a copy of the estimator."""
        self.estimator_ = clone(self.estimator).fit(self._frame(X), y)
        self.classes_ = self.estimator_.classes_
        return self

    def decision_function(self, X: object) -> Any:
        """Return the scores of the estimator, or its probabilities."""
        return score_rows(self.estimator_, self._frame(X))

    def _frame(self, X: Any) -> Any:
        pandas: Any = import_module("pandas")
        columns = self.dtypes.items()
        return pandas.DataFrame({n: _column(pandas, X[n], d) for n, d in columns})


def _column(pandas: Any, series: Any, dtype: object) -> Any:
    """Return a column with its type of training, unless its cells do not fit."""
    cells = series.to_numpy() if series.dtype.is_numeric() else series.to_list()
    if dtype == "object":
        return pandas.Series(cells, dtype=object).fillna(float("nan"))
    plain = pandas.Series(cells)
    # pandas makes True or False of any cell, and a missing value of a new category
    if dtype == "bool" and plain.dtype != "bool":
        return plain
    categories = getattr(dtype, "categories", None)
    if categories is not None and not set(plain.dropna()) <= set(categories):
        return plain
    try:
        return pandas.Series(cells, dtype=dtype)
    except (TypeError, ValueError):
        return plain
