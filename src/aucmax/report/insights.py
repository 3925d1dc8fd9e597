"""What fitted models can tell of themselves on rows that they have not seen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import _safe_indexing

from aucmax.decisions.calibration import along_knots, learn_calibration
from aucmax.inspection import permutation_importance
from aucmax.report.contents import Importance, Probabilities
from aucmax.tables import Target, as_table

Floats = NDArray[np.float64]

# Rows of either class that columns are shuffled in: the AUC does not depend on how many
# there are of each.
_MAX_ROWS_OF_A_CLASS = 2500
_MIN_ROWS_OF_A_CLASS = 200
# Rows of either class that probabilities are learned from.
_MAX_ROWS_TO_CALIBRATE = 20_000
# Cells to score per shuffled column, and columns to try: a report takes seconds.
_MAX_CELLS = 1_000_000
_MAX_COLUMNS = 40
# So few columns are shuffled several times.
_FEW_COLUMNS = 15
_REPEATS_OF_FEW = 3


def importance_of(
    name: str, model: Any, table: Any, target: Target, goal: Any, rows: str
) -> Importance | None:
    """Measure what a model looks at; None if rows are too few, or in queries."""
    if target.queries is not None or min(target.n_positive, target.n_negative) < 2:
        return None
    names = _columns(model, table)
    if not names:
        return None
    tried = _promising(table, target, names)
    chosen = _sample(target, len(names))
    taken = target.take(chosen)
    labels: Any = taken
    if not hasattr(model, "grading_"):
        labels = np.asarray(model.classes_)[taken.relevant]
    found = permutation_importance(
        model,
        _safe_indexing(table, chosen),
        labels,
        columns=tried,
        sample_weight=taken.weights,
        n_repeats=_REPEATS_OF_FEW if len(tried) <= _FEW_COLUMNS else 1,
        **goal.ranges,
    )
    note = f"Measured on {chosen.size:,} {rows}."
    if len(tried) < len(names):
        note += (
            f" Of {len(names):,} columns, {len(tried)} were tried, which tell the "
            "classes apart best on their own."
        )
    return Importance(name, found, len(names), note)


def probabilities_of(
    models: Mapping[str, Any], table: Any, target: Target
) -> list[Probabilities]:
    """Return the probabilities of those models that give some."""
    if target.is_graded:
        return []
    return [
        Probabilities(
            name,
            target.relevant == 1,
            np.asarray(model.predict_proba(table), dtype=np.float64)[:, 1],
        )
        for name, model in models.items()
        if hasattr(model, "predict_proba")
    ]


def cross_fitted_probabilities(
    name: str, scores: Floats, fold_numbers: NDArray[np.intp], target: Target
) -> list[Probabilities]:
    """Return the probabilities that ``calibrate="auto"`` gives rows it has not seen.

    Each fold is calibrated by all others, or by the earlier ones if rows have times.
    Empty for one fold, for other folds of one class, for queries and for levels.
    """
    labels = target.relevant == 1
    folds = np.unique(fold_numbers)
    if target.is_graded or target.queries is not None or folds.size < 2:
        return []
    chances = np.empty(scores.size)
    is_forward = target.times is not None
    for fold in folds[is_forward:]:
        own = fold_numbers == fold
        known = fold_numbers < fold if is_forward else ~own
        if labels[known].all() or not labels[known].any():
            return []
        rows, weights = _thinned(np.flatnonzero(known), labels, target.weights)
        learned = learn_calibration("auto", scores[rows], labels[rows], weights)
        chances[own] = expit(along_knots(scores[own], learned["calibration_"]))
    scored = np.isin(fold_numbers, folds[is_forward:])
    return [Probabilities(name, labels[scored], chances[scored])]


def _thinned(
    rows: NDArray[np.intp], labels: NDArray[np.bool_], weights: Floats | None
) -> tuple[NDArray[np.intp], Floats]:
    """Leave out rows of a class that has many, and let the others count for them."""
    kept, counted = [], []
    for is_positive in (False, True):
        own = rows[labels[rows] == is_positive]
        step = -(-own.size // _MAX_ROWS_TO_CALIBRATE)
        chosen = own[::step]
        mass = np.ones(chosen.size) if weights is None else weights[chosen]
        kept.append(chosen)
        counted.append(mass * (own.size / chosen.size))
    return np.concatenate(kept), np.concatenate(counted)


def certificates_of(models: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield how close to its optimum each model is that can prove it."""
    for name, model in models.items():
        fitted = getattr(model, "estimator_", model)
        margin = getattr(fitted, "certificate_", None)
        if getattr(fitted, "is_certified_", False):
            share = fitted.dual_gap_ / max(abs(fitted.objective_), 1e-300)
            yield (
                name,
                f"its objective, {fitted.objective_:.6g}, is within {share:.2g} of "
                "the optimum (relative), proven by a dual bound.",
            )
        elif margin is not None:
            yield (
                name,
                f"at least {margin.pairs_guaranteed:,.0f} of {margin.n_pairs:,.0f} "
                f"training pairs have a margin of {margin.rho_hat:.4g}, and "
                f"{margin.pairs_achieved:,.0f} do; the margin can be larger by "
                f"{margin.gap:.2g} (relative) at most.",
            )


def _columns(model: Any, table: Any) -> list[str]:
    """Name the columns that a model looks at."""
    if not hasattr(table, "columns"):
        return [f"x{place}" for place in range(table.shape[1])]
    names = [str(name) for name in table.columns]
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        return names
    known = {column["name"] for column in encoder.columns_}
    return [name for name in names if name in known]


def _sample(target: Target, n_columns: int) -> NDArray[np.intp]:
    """Choose as many rows of either class as can be scored quickly, evenly."""
    fair = _MAX_CELLS // (2 * n_columns)
    most = min(max(fair, _MIN_ROWS_OF_A_CLASS), _MAX_ROWS_OF_A_CLASS)
    kept = []
    for is_relevant in (0, 1):
        (rows,) = np.nonzero(target.relevant == is_relevant)
        places = np.linspace(0, rows.size - 1, min(rows.size, most))
        kept.append(rows[places.round().astype(np.intp)])
    return np.sort(np.concatenate(kept))


def _promising(table: Any, target: Target, names: Sequence[str]) -> list[str]:
    """Choose columns to try: all, or those that tell the classes apart on their own."""
    if len(names) <= _MAX_COLUMNS:
        return list(names)
    is_positive = target.relevant == 1
    table = as_table(table)
    if isinstance(table, pl.DataFrame):
        apart = np.array([_apart(table[name], is_positive) for name in names])
    else:
        negative, positive = (
            np.asarray(table[np.flatnonzero(rows)].mean(axis=0)).ravel()
            for rows in (~is_positive, is_positive)
        )
        squares = np.asarray(table.multiply(table).mean(axis=0)).ravel()
        apart = np.abs(positive - negative) / np.sqrt(np.maximum(squares, 1e-300))
    best = np.sort(np.argsort(-apart, kind="stable")[:_MAX_COLUMNS])
    return [names[place] for place in best]


def _apart(column: pl.Series, is_positive: NDArray[np.bool_]) -> float:
    """Return the difference of the classes' means in standard deviations."""
    if not column.dtype.is_numeric():
        return np.inf  # text has no mean, and comes first
    numbers = column.cast(pl.Float64).fill_nan(None)
    values: NDArray[np.float64] = numbers.fill_null(strategy="mean").to_numpy()
    spread = float(values.std())
    if not np.isfinite(spread) or spread == 0.0:
        return 0.0
    difference = values[is_positive].mean() - values[~is_positive].mean()
    return float(abs(difference)) / spread
