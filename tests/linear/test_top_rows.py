"""Fits that leave rows out against fits that do not."""

import numpy as np
import pytest
from scipy import sparse

from aucmax import AUCSVC
from aucmax.linear.objective import LinearObjective
from aucmax.linear.top_rows import TopRowsSolver
from aucmax.risks import PairHinge, PartialHinge

RANGE = (0.0, 0.1)


def numbers(n_rows=1500, n_columns=1500, noise=0.5, seed=0):
    """Draw sparse numbers whose sum, with noise, decides on the class."""
    generator = np.random.default_rng(seed)
    X = sparse.random_array((n_rows, n_columns), density=0.03, rng=generator)
    X = sparse.csr_array(X)
    score = X @ generator.normal(size=n_columns)
    score = score / score.std() + noise * generator.normal(size=n_rows)
    return X, score > np.quantile(score, 0.9)


def value_of(model, X, y, **ranges):
    w = model.coef_[0]
    scores = np.asarray(X @ w.astype(X.dtype), dtype=float)
    return 0.5 * w @ w + model.C * PartialHinge(**ranges).value(scores, y)


@pytest.mark.parametrize(
    "make", [lambda X: X, sparse.csc_array, lambda X: X.toarray().astype(np.float32)]
)
@pytest.mark.parametrize(
    "ranges",
    [{"fpr_range": RANGE}, {"fpr_range": (0.0, 0.2), "tpr_range": (0.5, 1.0)}],
)
def test_fits_agree_and_the_certificate_holds_for_all_rows(make, ranges):
    X, y = numbers()
    X = make(X)
    ours = AUCSVC(100.0, **ranges).fit(X, y)
    theirs = AUCSVC(100.0, solver="bundle", **ranges).fit(X, y)
    value = value_of(ours, X, y, **ranges)
    rel = 1e-5 if X.dtype == np.float32 else 1e-9
    assert ours.objective_ == pytest.approx(value, rel=rel)
    assert ours.dual_gap_ <= 1e-3 * ours.objective_
    assert ours.objective_ - ours.dual_gap_ <= theirs.objective_ * (1.0 + rel)
    assert theirs.objective_ - theirs.dual_gap_ <= ours.objective_ * (1.0 + rel)
    assert ours.n_passes_ < 0.8 * theirs.n_passes_


def test_weights_of_rows_count():
    X, y = numbers()
    weight = np.random.default_rng(1).uniform(0.0, 2.0, y.size)
    weight[::7] = 0.0
    ours = AUCSVC(100.0, fpr_range=RANGE).fit(X, y, sample_weight=weight)
    theirs = AUCSVC(100.0, fpr_range=RANGE, solver="bundle")
    theirs.fit(X, y, sample_weight=weight)
    assert ours.dual_gap_ <= 1e-3 * ours.objective_
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-3)


def test_what_callbacks_and_the_history_tell_holds_for_all_rows():
    X, y = numbers()
    seen = []
    model = AUCSVC(100.0, fpr_range=RANGE, callback=seen.append).fit(X, y)
    best = AUCSVC(100.0, fpr_range=RANGE, tol=1e-5).fit(X, y)
    assert [progress.n_iter for progress in seen] == list(range(1, model.n_iter_ + 1))
    passes = [progress.n_passes for progress in seen]
    assert passes == sorted(passes)
    for progress in seen:
        assert progress.value >= best.objective_ - best.dual_gap_
        assert progress.value - progress.gap <= best.objective_
    assert model.history_["n_passes"][-1] == model.n_passes_
    assert model.history_["dual_gap"][-1] == pytest.approx(model.dual_gap_)


@pytest.mark.parametrize("max_iter", [5, 20, 33, 47])
def test_iterations_run_out_where_they_should(max_iter):
    X, y = numbers()
    model = AUCSVC(100.0, fpr_range=RANGE, max_iter=max_iter, tol=1e-7)
    with pytest.warns(UserWarning, match=f"{max_iter} iterations"):
        model.fit(X, y)
    assert model.n_iter_ == max_iter
    assert model.objective_ == pytest.approx(value_of(model, X, y, fpr_range=RANGE))


def test_a_callback_ends_a_fit_among_few_rows():
    X, y = numbers()
    model = AUCSVC(100.0, fpr_range=RANGE, callback=lambda p: p.n_iter == 40)
    with pytest.warns(UserWarning, match="callback"):
        model.fit(X, y)
    assert model.n_iter_ == 40
    assert model.objective_ == pytest.approx(value_of(model, X, y, fpr_range=RANGE))


def test_a_path_gives_what_single_fits_give():
    X, y = numbers(600, 600)
    for model in AUCSVC(fpr_range=RANGE).fit_path(X, y, [1.0, 10.0, 100.0]):
        alone = AUCSVC(model.C, fpr_range=RANGE).fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1.1e-3)


def test_only_risks_and_data_that_allow_it_lose_rows(tmp_path):
    X, y = numbers(200, 200)

    def can_leave_rows_out(data, risk):
        return TopRowsSolver.can_leave_rows_out(LinearObjective(data, y, risk, 1.0))

    assert can_leave_rows_out(X, PartialHinge(RANGE))
    assert not can_leave_rows_out(X, PartialHinge((0.0, 1.0)))
    assert not can_leave_rows_out(X, PartialHinge((0.1, 0.2)))
    assert not can_leave_rows_out(X, PairHinge())
    np.save(tmp_path / "X.npy", X.toarray())
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert not can_leave_rows_out(mapped, PartialHinge(RANGE))
