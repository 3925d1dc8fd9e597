"""Importance, probabilities, certificates and parts of fitted models."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.feature_selection import f_classif
from sklearn.utils import _safe_indexing

from aucmax._core.validation import BoolArray
from aucmax.decisions.calibrated import along_knots
from aucmax.decisions.calibration import learn_calibration
from aucmax.inspection import permutation_importance
from aucmax.inspection._rows import used_columns
from aucmax.model_selection.goals import Goal
from aucmax.report.sections import Section, importance_section
from aucmax.tables import Target
from aucmax.tables.encoder import encoder_and_estimator
from aucmax.tables.folds import sample_classes
from aucmax.tables.frames import as_table

Floats = NDArray[np.float64]

# Rows per class in which columns are shuffled; the AUC does not depend on the shares of
# the classes.
_MAX_ROWS_PER_CLASS = 2500
_MIN_ROWS_PER_CLASS = 200
# Cells to score per shuffled column, and columns to shuffle: a report takes seconds.
_MAX_CELLS = 1_000_000
_MAX_COLUMNS = 40
# Up to this many columns are shuffled three times each.
_FEW_COLUMNS = 15


def importance_of(
    model: Any, table: Any, target: Target, goal: Goal, rows: str
) -> Section | None:
    """Measure the importance of columns; None for too few rows, and for queries."""
    is_few = min(target.n_positive, target.n_negative) < 2
    if target.queries is not None or (is_few and not target.is_survival):
        return None
    names = [f"x{place}" for place in range(table.shape[1])]
    names = [str(name) for name in getattr(table, "columns", names)]
    names = [names[place] for place in used_columns(model, names)]
    if not names:
        return None
    tried = _separating(table, target.high == 1, names)
    n_rows = _MAX_CELLS // (2 * len(names))
    n_rows = min(max(n_rows, _MIN_ROWS_PER_CLASS), _MAX_ROWS_PER_CLASS)
    sample = sample_classes(target, n_rows)
    importances = permutation_importance(
        model,
        _safe_indexing(table, sample),
        target.take(sample),
        columns=tried,
        n_repeats=3 if len(tried) <= _FEW_COLUMNS else 1,
        **goal.ranges,
    )
    note = f"Measured on {sample.size:,} {rows}."
    if len(tried) < len(names):
        note += (
            f" Of {len(names):,} columns, only the {len(tried)} that separate the "
            "classes best alone were shuffled."
        )
    return importance_section(importances, len(names), note)


def cross_fitted_probabilities(
    scores: Floats, fold_numbers: NDArray[np.intp], target: Target
) -> tuple[BoolArray, Floats] | None:
    """Return labels and probabilities of rows, by ``calibrate="auto"`` on other folds.

    Each fold is calibrated by all others, or by the earlier ones if rows have times.
    None for one fold, for other folds of one class, for queries and for levels.
    """
    labels = target.relevant == 1
    folds = np.unique(fold_numbers)
    if target.is_graded or target.queries is not None or folds.size < 2:
        return None
    probabilities = np.empty(scores.size)
    is_forward = target.times is not None
    for fold in folds[is_forward:]:
        test = fold_numbers == fold
        train = fold_numbers < fold if is_forward else ~test
        if labels[train].all() or not labels[train].any():
            return None
        weights = None if target.weights is None else target.weights[train]
        learned = learn_calibration("auto", scores[train], labels[train], weights)
        probabilities[test] = expit(along_knots(scores[test], learned["calibration_"]))
    scored = np.isin(fold_numbers, folds[is_forward:])
    return labels[scored], probabilities[scored]


def certificates_of(models: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the certificate of each model that has one."""
    certificates = []
    for name, model in models.items():
        _, fitted = encoder_and_estimator(model)
        margin = getattr(fitted, "certificate_", None)
        if getattr(fitted, "is_certified_", False):
            share = fitted.dual_gap_ / max(abs(fitted.objective_), 1e-300)
            text = (
                f"a dual bound proves that its objective, {fitted.objective_:.6g}, is "
                f"within a relative {share:.2g} of the optimum."
            )
        elif margin is not None:
            text = (
                f"at least {margin.pairs_guaranteed:,.0f} of {margin.n_pairs:,.0f} "
                f"training pairs have a margin of {margin.rho_hat:.4g} (in fact "
                f"{margin.pairs_achieved:,.0f}); the largest possible margin is at "
                f"most a relative {margin.gap:.2g} larger."
            )
        else:
            continue
        certificates.append((name, text))
    return certificates


def combination_of(model: Any) -> Section:
    """Return what an AutoRanker combines and how many models it tried, else nothing."""
    weights = getattr(model, "weights_", None)
    if not isinstance(weights, dict):
        return {}
    # the first row of the leaderboard is the combination
    return {"parts": weights, "n_candidates": len(model.board_["model"]) - 1}


def _separating(table: Any, is_positive: BoolArray, names: Sequence[str]) -> list[str]:
    """Choose columns to shuffle: text, and those that best separate the classes."""
    if len(names) <= _MAX_COLUMNS:
        return list(names)
    table = as_table(table)
    if isinstance(table, pl.DataFrame):
        table = table.select(names)
        numbers = table.select(cs.numeric().cast(pl.Float64).fill_nan(None))
        numbers = numbers.fill_null(strategy="mean").fill_null(0.0)
        separation = dict.fromkeys(names, np.inf)  # of text columns, which come first
        numeric, matrix = numbers.columns, numbers.to_numpy()
    else:
        separation, numeric, matrix = {}, list(names), table
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # constant columns, whose statistic is NaN
        statistics = np.nan_to_num(f_classif(matrix, is_positive)[0])
    separation.update(zip(numeric, statistics, strict=True))
    best = sorted(names, key=lambda name: -separation[name])[:_MAX_COLUMNS]
    return [name for name in names if name in best]
