"""Contributions of the columns to the scores of single rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from aucmax._core.parameters import check_integer, random_generator
from aucmax._core.validation import FloatArray, IntArray
from aucmax.inference.results import Result
from aucmax.inspection._rows import (
    CELLS_AT_A_TIME,
    changed_scores,
    mix_cells,
    read_scores,
    read_table,
    stack_tables,
    used_columns,
)
from aucmax.tables.encoder import encoder_and_estimator

_N_PRINTED = 5  # rows, and columns of a row


@dataclass(frozen=True, repr=False)
class Contributions(Result):
    """Contributions of the columns to the score of each row.

    Attributes
    ----------
    column : list of str
        Names of the columns.
    values : ndarray of shape (n_rows, n_columns)
        A row sums to its score less `expected`.
    expected : float
        The mean score, before any column is known.
    scores : ndarray of shape (n_rows,)
        The scores.
    method : {"trees", "linear", "sampled"}
        How they were computed.

    See Also
    --------
    contributions : Returns them, with an example.
    """

    column: list[str]
    values: FloatArray
    expected: float
    scores: FloatArray
    method: str

    def __repr__(self) -> str:
        lines = [
            f"contributions of {len(self.column)} columns to {self.scores.size} scores "
            f"({self.method}), relative to {self.expected:.4g}"
        ]
        for row, score in enumerate(self.scores[:_N_PRINTED]):
            terms = self.top(row, _N_PRINTED)
            shown = ", ".join(f"{name} {value:+.4g}" for name, value in terms)
            lines.append(f"row {row}, score {score:.4g}: {shown}")
        return "\n".join(lines)

    def _records(self) -> Any:
        table = {name: self.values[:, k] for k, name in enumerate(self.column)}
        ends = {"expected": np.full(self.scores.size, self.expected)}
        return {**table, **ends, "score": self.scores}

    def top(self, row: int, n_columns: int = 10) -> list[tuple[str, float]]:
        """Return the columns with the largest contributions to the score of a row.

        Parameters
        ----------
        row : int
            Number of the row, from 0.
        n_columns : int, default=10
            Maximum number of columns.

        Returns
        -------
        list of (str, float)
            Names and contributions, the largest in absolute value first.
        """
        order = np.argsort(-np.abs(self.values[row]), kind="stable")[:n_columns]
        return [(self.column[k], float(self.values[row, k])) for k in order]


def contributions(
    model: object,
    X: object,
    background: object = None,
    *,
    n_orders: int = 50,
    random_state: int = 0,
) -> Contributions:
    r"""Split the scores of rows into contributions of the columns.

    The method depends on the model:

    - **trees** of LightGBM: its SHAP values, relative to the training rows;
    - **linear** models: weight times value, column by column; relative to the mean of
      `background` if that is given, and to the intercept otherwise;
    - **any other**, combinations included, by sampling: columns are switched one by
      one, in a random order, from the cells of a background row to those of the row
      itself, and each is credited with the change of the score that it makes. The mean
      over orders and background rows estimates the Shapley value [1]_.

    A table's column stands for all indicators that were made of it. Scores are those of
    `decision_function`, before any calibration.

    Parameters
    ----------
    model : estimator
        Any fitted model that scores rows.
    X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_columns)
        The rows to explain; sampling takes `n_orders` x (columns + 1) scores for each.
    background : like X, default=None
        Rows of the same columns to compare with, as a sample. Needed for sampling.
    n_orders : int, default=50
        Orders in which columns are switched, each second one the reverse of another.
    random_state : int, default=0
        Seed of the orders and of the background rows.

    Returns
    -------
    Contributions
        One value per row and column.

    See Also
    --------
    permutation_importance : The columns that matter for all rows.

    References
    ----------
    .. [1] E. Strumbelj, I. Kononenko. Explaining prediction models and individual
       predictions with feature contributions. Knowledge and Information Systems 41,
       2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucmax.inspection import contributions
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = LogisticRegression().fit(X, 2 * X[:, 1] + X[:, 2] > 1)
    >>> found = contributions(model, X[:5], background=X)
    >>> sums = found.values.sum(axis=1) + found.expected
    >>> bool(np.allclose(sums, model.decision_function(X[:5])))
    True
    """
    check_integer("n_orders", n_orders)
    table, names = read_table(model, X)
    scores = read_scores(model, table)
    additive = _additive_terms(model, table, names, background)
    if additive is not None:
        names, terms, expected, method = additive
        return Contributions(names, terms, expected, scores, method)
    if background is None:
        raise ValueError(
            f"contributions to the scores of {type(model).__name__} are relative to "
            "other rows; pass some as background."
        )
    background, other_names = read_table(model, background)
    if other_names != names:
        raise ValueError("X and background must have the same columns, in one order.")
    generator = random_generator(random_state)
    return _sampled(model, table, names, scores, background, n_orders, generator)


def _additive_terms(
    model: object, table: object, names: list[str], background: object
) -> tuple[list[str], FloatArray, float, str] | None:
    """Return columns, terms, the expected score and the method; None without terms."""
    if hasattr(model, "encoders_"):  # its scores are not a sum of terms
        return None
    encoder, estimator = encoder_and_estimator(model)

    def matrix(table: object) -> Any:
        return table if encoder is None else encoder.transform(table)

    if hasattr(estimator, "contributions"):
        terms = np.asarray(estimator.contributions(matrix(table)))
        expected, method = float(terms[0, -1]), "trees"
        terms = terms[:, :-1]
    elif getattr(getattr(estimator, "coef_", None), "shape", ())[:1] == (1,):
        coef, intercept = estimator.coef_, float(np.ravel(estimator.intercept_)[0])
        terms, expected = _weighed(matrix(table), coef), intercept
        if background is not None:
            others, _ = read_table(model, background)
            centre = _weighed(matrix(others), coef).mean(axis=0)
            terms, expected = terms - centre, expected + float(centre.sum())
        method = "linear"
    else:
        return None
    if encoder is not None:
        names, terms = _by_source(encoder.source_columns(encoder.view), terms)
    return names, terms, expected, method


def _weighed(matrix: Any, coef: Any) -> FloatArray:
    weights = coef.toarray() if hasattr(coef, "toarray") else coef
    if hasattr(matrix, "multiply"):
        terms = matrix.multiply(weights).toarray()
    else:
        terms = np.asarray(matrix, dtype=np.float64) * weights
    return np.asarray(terms, dtype=np.float64)


def _by_source(sources: list[str], terms: FloatArray) -> tuple[list[str], FloatArray]:
    """Sum the terms of all features that were made from one column."""
    names = list(dict.fromkeys(sources))
    places = {name: place for place, name in enumerate(names)}
    sums = np.zeros((len(names), terms.shape[0]))
    np.add.at(sums, [places[name] for name in sources], terms.T)
    return names, sums.T


def _sampled(
    model: Any,
    table: Any,
    names: list[str],
    scores: FloatArray,
    background: Any,
    n_orders: int,
    generator: np.random.Generator,
) -> Contributions:
    places = np.array(used_columns(model, names))
    drawn = generator.integers(background.shape[0], size=(n_orders + 1) // 2)
    orders = [generator.permutation(places) for _ in drawn]
    values = np.zeros((scores.size, len(names)))
    expected = np.zeros(scores.size)
    others = _safe_indexing(background, drawn)
    for k in range(scores.size):
        both = stack_tables(_safe_indexing(table, [k]), others)
        plans = [
            (order[::step], 1 + which)
            for which, order in enumerate(orders)
            for step in (1, -1)
        ][:n_orders]
        at_a_time = max(CELLS_AT_A_TIME // ((places.size + 1) * len(names)), 1)
        for start in range(0, len(plans), at_a_time):
            some = plans[start : start + at_a_time]
            made = [_walk(order, other, len(names)) for order, other in some]
            changed = changed_scores(model, mix_cells(both, np.concatenate(made)))
            steps = changed.reshape(len(some), places.size + 1)
            for (order, _), walked in zip(some, steps, strict=True):
                values[k, order] += np.diff(walked) / n_orders
                expected[k] += walked[0] / n_orders
    used = [names[place] for place in places]
    return Contributions(
        used, values[:, places], float(expected.mean()), scores, "sampled"
    )


def _walk(order: IntArray, other: int, n_columns: int) -> IntArray:
    """Return rows of cells: all of row `other`, then one more of row 0 each."""
    turn = np.full(n_columns, n_columns)
    turn[order] = np.arange(order.size)
    return np.where(turn < np.arange(order.size + 1)[:, None], 0, other)
