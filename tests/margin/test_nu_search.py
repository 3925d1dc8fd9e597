"""The heuristic for nu+, and its certified global minimum."""

from functools import cache

import numpy as np
import pytest

from aucmax.margin import MarginRanker
from margin import samples
from margin_programs import solve_instances, solve_tangent
from persistence.equality import same

pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
CASES = [
    pytest.param(make, kind, id=f"{make.__name__}-{kind}")
    for make in (samples.binary, samples.continuous)
    for kind in ("features", "signed")
]
for_every_case = pytest.mark.parametrize(("make", "kind"), CASES)


class Curve:
    """The curve gamma_hat(nu+) by linear programs."""

    def __init__(self, X, labels, kind, epsilon, weight=None):
        self.H, self.weights_set = samples.hypotheses_of(kind, X)
        self.labels, self.weight = labels, weight
        totals = np.ones(labels.size) if weight is None else weight
        self.totals = totals[labels].sum(), totals[~labels].sum()
        self.nu = epsilon * self.totals[0] * self.totals[1]
        self.start = np.sqrt(epsilon) * self.totals[0]
        self.bounds = self.nu / self.totals[1], self.totals[0]
        self.options = {"weights_set": self.weights_set, "sample_weight": weight}

    def __call__(self, nu_pos):
        nu_pos = np.clip(nu_pos, *self.bounds)
        nus = nu_pos, self.nu / nu_pos
        return solve_instances(self.H, self.labels, *nus, **self.options)

    def descend(self, tol):
        """Problems (9) and (7) in turn, as the paper says."""
        nu_pos, gamma = self.start, self(self.start)
        while True:
            _, tangent = solve_tangent(
                self.H, self.labels, self.nu, nu_pos, **self.options
            )
            candidate = self(tangent)
            if candidate >= gamma - tol * abs(gamma):
                return nu_pos, gamma
            nu_pos, gamma = tangent, candidate


@cache
def adaptive_fit(make, kind, weighted):
    X, labels = make(1, n_rows=16)
    weight = samples.integer_weights(0, labels) + 0.5 if weighted else None
    model = MarginRanker(kind, "adaptive", 0.3, tol=1e-4)
    return model.fit(X, labels, sample_weight=weight)


@for_every_case
def test_the_heuristic_falls_to_a_local_minimum(make, kind):
    X, labels = make(1, n_rows=16)
    model = adaptive_fit(make, kind, weighted=False)
    curve = Curve(X, labels, kind, 0.3)
    nu_pos, gamma_hat = model.history_["nu_pos"], model.history_["margin"]
    assert nu_pos[0] == pytest.approx(curve.start)
    assert (np.diff(gamma_hat) < 0.0).all()
    assert gamma_hat[-1] == model.objective_
    assert nu_pos[-1] == model.certificate_.nu_pos
    for step, gamma in zip(nu_pos, gamma_hat, strict=True):
        assert gamma == pytest.approx(curve(step), rel=2e-4, abs=1e-6)
    allowed = 3e-4 * abs(model.objective_) + 1e-6
    for factor in (0.97, 0.99, 1.01, 1.03):
        assert curve(factor * nu_pos[-1]) >= model.objective_ - allowed


@pytest.mark.parametrize("weighted", [False, True])
@for_every_case
def test_the_heuristic_does_as_well_as_a_literal_one(make, kind, weighted):
    X, labels = make(1, n_rows=16)
    weight = samples.integer_weights(0, labels) + 0.5 if weighted else None
    model = adaptive_fit(make, kind, weighted)
    curve = Curve(X, labels, kind, 0.3, weight)
    _, gamma = curve.descend(1e-4)
    # of several optimal nu+ of (9) each takes its own, so local minima may differ
    assert model.objective_ == pytest.approx(gamma, rel=0.02, abs=1e-4)
    assert model.objective_ <= curve(curve.start) + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@for_every_case
def test_the_global_minimum_is_that_of_a_fine_grid(make, kind, weighted):
    X, labels = make(1, n_rows=16)
    weight = samples.integer_weights(0, labels) + 0.5 if weighted else None
    model = MarginRanker(kind, "global", 0.3, tol=1e-4)
    model.fit(X, labels, sample_weight=weight)
    adaptive = adaptive_fit(make, kind, weighted)
    assert model.objective_ <= adaptive.objective_
    assert same(model.history_, adaptive.history_)
    curve = Curve(X, labels, kind, 0.3, weight)
    grid = np.append(np.geomspace(*curve.bounds, 60), model.certificate_.nu_pos)
    lowest = min(map(curve, grid))
    assert model.dual_gap_ <= 1e-4 * abs(model.objective_) + 1e-6
    # the certified minimum is at most any point, and at least the certified bound
    assert model.objective_ - model.dual_gap_ <= lowest + 1e-8
    assert model.objective_ + model.dual_gap_ >= lowest - 1e-8


@for_every_case
def test_the_curve_is_right_where_solved_and_bounded_elsewhere(make, kind):
    X, labels = make(2, n_rows=16)
    options = {"epsilon": 0.2, "hypotheses": kind, "tol": 1e-3}
    model = MarginRanker(formulation="global", curve_points=7, **options).fit(X, labels)
    known, curve = model.curve_, Curve(X, labels, kind, 0.2)
    assert known.nu == pytest.approx(curve.nu)
    assert (np.diff(known.nu_pos) >= 0.0).all()
    assert known.nu_pos.size >= 7
    assert known.nu_pos[0] == pytest.approx(curve.bounds[0])
    assert known.nu_pos[-1] == pytest.approx(curve.bounds[1])
    for nu_pos, gamma in zip(known.nu_pos, known.gamma_hat, strict=True):
        assert gamma == pytest.approx(curve(nu_pos), rel=2e-3, abs=1e-5)
    lower = zip(known.lower_nu_pos[::10], known.lower_bound[::10], strict=True)
    for nu_pos, bound in lower:
        assert bound <= curve(nu_pos) + 1e-8
    assert known.lower_bound.min() >= model.objective_ - model.dual_gap_ - 1e-9
    assert known.gamma_hat[known.best] == known.gamma_hat.min() == model.objective_
    assert known.nu_pos[known.best] == model.certificate_.nu_pos


@pytest.mark.parametrize("formulation", ["adaptive", "global"])
def test_the_search_starts_at_a_given_nu_pos(formulation):
    X, labels = samples.binary(3)
    model = MarginRanker("signed", formulation, 0.3, nu_pos=5.0).fit(X, labels)
    assert model.history_["nu_pos"][0] == 5.0
    both = MarginRanker("signed", formulation, 0.3, nu_pos=5.0, nu_neg=6.0)
    certificate = both.fit(X, labels).certificate_
    assert certificate.nu_pos * certificate.nu_neg == pytest.approx(30.0)


@pytest.mark.parametrize("formulation", ["adaptive", "global"])
def test_all_pairs_leave_no_choice(formulation):
    X, labels = samples.binary(3)
    model = MarginRanker("signed", formulation, 1.0).fit(X, labels)
    pairs = MarginRanker("signed", "pairs", 1.0).fit(X, labels)
    assert model.certificate_.nu_pos == labels.sum()
    assert model.objective_ == pytest.approx(pairs.objective_, rel=2e-3)


@pytest.mark.parametrize("seed", range(4))
def test_stumps_choose_nu_as_well(seed):
    X, labels = samples.binary(seed, n_rows=16, n_columns=4)
    _, _, H = samples.all_stumps(X)
    options = {"epsilon": 0.3, "tol": 1e-3}
    model = MarginRanker("stumps", "global", **options).fit(X, labels)
    listed = MarginRanker("precomputed", "global", **options)
    listed.fit(np.hstack([H, -H]), labels)
    assert model.objective_ == pytest.approx(listed.objective_, rel=3e-3, abs=1e-7)
    adaptive = MarginRanker("stumps", "adaptive", **options).fit(X, labels)
    assert model.objective_ <= adaptive.objective_


def test_a_best_point_that_changes_late_keeps_the_gap_within_the_tolerance():
    X, labels = samples.duplicated(2261)  # whose optimum is nearly 0
    weight = samples.integer_weights(2261, labels).astype(float)
    model = MarginRanker("signed", "global", 0.2556992653130145, tol=1e-2)
    assert model.fit(X, labels, sample_weight=weight).certificate_.gap <= 1e-2
