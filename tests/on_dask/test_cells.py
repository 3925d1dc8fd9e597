"""Counts in cells in place of scores: bounds that hold, and the same models."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="dask is not installed")

import dask
from scipy import sparse

from aucmax import AUCSVC
from aucmax.dask import matrix
from aucmax.dask.parted_features import check_parted_features
from aucmax.linear.cell_objective import CellObjective
from aucmax.risks import PairHinge
from aucmax.solvers.risk_objective import LinearObjective


@pytest.fixture(autouse=True)
def many_rows(monkeypatch):
    """Let any rows be too many for scores, and compute in this thread."""
    monkeypatch.setattr(matrix, "MAX_SCORES", 0)
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(n_rows=900, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    y = X[:, 0] + 0.5 * X[:, 1] + generator.normal(size=n_rows) > 1.0
    weights = generator.integers(0, 3, n_rows).astype(float)
    return X, y, weights


def cut(array, size=250):
    return da.from_array(array, chunks=(size, *array.shape[1:]))


def both(X, y, weights, tol):
    """Return the objective in cells, and that of all scores."""
    parted = check_parted_features(AUCSVC(), cut(X))
    cells = CellObjective(parted, PairHinge().bind(y, weights), 2.0, None, tol)
    return cells, LinearObjective(X, PairHinge().bind(y, weights), 2.0)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e4])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_value_is_above_the_risk_and_lines_are_below(tol, scale, is_weighted):
    X, y, weights = rows()
    X[:300] = np.round(X[:300])  # ties, and pairs exactly at the kink
    cells, exact = both(X, y, weights if is_weighted else None, tol)
    generator = np.random.default_rng(1)
    points = scale * generator.normal(size=(4, 4))
    for w in points:
        risk = exact.risk_value(exact.at(w))
        assert risk <= cells.risk_value(cells.at(w)) * (1 + 1e-12)
        assert cells.risk_value(cells.at(w)) <= risk + 0.05 * tol + 1e-12 * risk
        for width in (0.0, 0.3):
            line = cells.support(cells.at(w), width)
            slope = cells.pull_back(line)
            assert line.value >= risk * (1 - 1e-12)
            for other in points:
                there = exact.risk_value(exact.at(other))
                assert line.offset + slope @ other <= there * (1 + 1e-9)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("plain", {}),
        ("plain", {"C": 1000.0, "tol": 1e-5}),
        ("plain", {"solver": "bundle"}),
        ("plain", {"penalty": "l1", "C": 20.0}),
        ("weighted", {}),
        ("float32", {}),
        ("sparse", {}),
    ],
)
def test_a_fit_in_cells_is_certified_for_the_scores_themselves(kind, options):
    X, y, weights = rows()
    weight = weights if kind == "weighted" else None
    if kind == "float32":
        X = X.astype(np.float32)
    parts = cut(X)
    if kind == "sparse":
        parts = parts.map_blocks(sparse.csr_matrix)
    model = AUCSVC(**options).fit(parts, cut(y), weight)
    best = AUCSVC(**{**options, "tol": 1e-7}).fit(X, y, weight)
    assert model.dual_gap_ <= model.tol * model.objective_
    lowest = best.objective_ - best.dual_gap_
    assert model.objective_ - model.dual_gap_ <= best.objective_
    exact = PairHinge().bind(y, weight).value(X @ model.coef_[0])
    norm = model.coef_[0] @ model.coef_[0] / 2.0
    if model.penalty == "l1":
        norm = np.abs(model.coef_).sum()
    assert lowest <= norm + model.C * exact <= model.objective_ * (1 + 1e-6)
    local = AUCSVC(**options).fit(X, y, weight)
    assert model.score(X, y) == pytest.approx(local.score(X, y), abs=2e-3)
    same = model.predict(X) == local.predict(X)
    assert same.mean() > 0.97


def test_rows_that_are_not_finite_are_named():
    X, y, _ = rows()
    X[600, 2] = np.nan
    with pytest.raises(ValueError, match=r"In partition 2: .* NaN in row 100"):
        AUCSVC().fit(cut(X), cut(y))


def test_paths_go_on_from_points_whose_scores_nobody_has():
    X, y, _ = rows()
    models = AUCSVC().fit_path(cut(X), cut(y), [1.0, 10.0])
    for model in models:
        assert model.dual_gap_ <= model.tol * model.objective_
