"""Each formulation's optimum against the same problem as a linear program."""

import warnings

import numpy as np
import pytest

from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker
from margin import samples
from margin_programs import (
    solve_hard_pairs,
    solve_hard_with_bias,
    solve_instances,
    solve_pairs,
)
from reference_margins import stump_values
from torture.amount import times

# on such data a margin below 0 is as good an optimum as any
pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
DATA = {
    "binary": lambda seed: samples.binary(seed),
    "continuous": lambda seed: samples.continuous(seed),
    "duplicated": samples.duplicated,
    "few rows": samples.few_rows,
}
EXACT = {"tol": 1e-7}


def check_against(model, X, labels, optimum):
    assert model.objective_ == pytest.approx(optimum, abs=1e-5)
    assert model.objective_ <= optimum + 1e-8
    assert model.objective_ + model.dual_gap_ >= optimum - 1e-8
    floor = 1e-8  # HiGHS's accuracy
    assert model.dual_gap_ <= 1e-7 * abs(optimum) + floor


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["features", "signed", "precomputed"])
@pytest.mark.parametrize("data", DATA)
def test_optima_are_those_of_the_linear_programs(data, kind, weighted):
    X, labels = DATA[data](0)
    if kind == "precomputed":
        X = X / np.abs(X).max()
    H, weights_set = samples.hypotheses_of(kind, X)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, labels.size)
    weight = weight if weighted else None
    options = {"weights_set": weights_set, "sample_weight": weight}
    totals = [labels.sum(), (~labels).sum()]
    if weighted:
        totals = [weight[labels].sum(), weight[~labels].sum()]
    for epsilon in (0.3, 0.77, 1.0):
        nu = epsilon * totals[0] * totals[1]
        model = MarginRanker(kind, "pairs", epsilon, **EXACT)
        model.fit(X, labels, sample_weight=weight)
        check_against(model, X, labels, solve_pairs(H, labels, nu, **options))
        assert model.certificate_.gamma_star == pytest.approx(model.objective_)
        nus = np.sqrt(epsilon) * np.array(totals)
        model = MarginRanker(kind, "instances", epsilon, **EXACT)
        model.fit(X, labels, sample_weight=weight)
        check_against(model, X, labels, solve_instances(H, labels, *nus, **options))
        assert model.certificate_.gamma_hat == pytest.approx(model.objective_)
    model = MarginRanker(kind, "hard", **EXACT)
    model.fit(X, labels, sample_weight=weight)
    check_against(model, X, labels, solve_hard_pairs(H, labels, **options))


@pytest.mark.parametrize("seed", range(times(6, 70)))
def test_random_problems_have_the_optimum_of_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    make = DATA[["binary", "continuous", "duplicated"][seed % 3]]
    X, labels = make(seed + 10)
    kind = ["features", "signed"][seed % 2]
    epsilon = float(rng.uniform(0.1, 0.9))
    sizes = labels.sum(), (~labels).sum()
    H, weights_set = samples.hypotheses_of(kind, X)
    options = {"weights_set": weights_set}
    optima = {
        "pairs": solve_pairs(H, labels, epsilon * sizes[0] * sizes[1], **options),
        "hard": solve_hard_pairs(H, labels, **options),
        "instances": solve_instances(
            H, labels, *(np.sqrt(epsilon) * size for size in sizes), **options
        ),
    }
    for formulation, optimum in optima.items():
        model = MarginRanker(kind, formulation, epsilon, **EXACT).fit(X, labels)
        assert model.objective_ == pytest.approx(optimum, abs=1e-5)
        # the certificate holds, and so does the optimum of the program
        assert optimum <= model.objective_ + model.dual_gap_ + 1e-8
        assert model.objective_ <= optimum + 1e-8


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("make", [samples.binary, samples.continuous])
def test_stumps_reach_the_optimum_over_all_stumps(make, epsilon):
    X, labels = make(2)
    columns, thresholds, H = samples.all_stumps(X)
    same = stump_values(X, columns, thresholds, np.ones(columns.size))
    np.testing.assert_array_equal(H, same)
    nu = epsilon * labels.sum() * (~labels).sum()
    optimum = solve_pairs(H, labels, nu, weights_set="l1")
    model = MarginRanker("stumps", "pairs", epsilon, **EXACT).fit(X, labels)
    check_against(model, X, labels, optimum)
    # every stump used is one of those listed
    used = set(zip(model.columns_, model.thresholds_, strict=True))
    assert used <= set(zip(columns, thresholds, strict=True))
    nus = np.sqrt(epsilon) * labels.sum(), np.sqrt(epsilon) * (~labels).sum()
    model = MarginRanker("stumps", "instances", epsilon, **EXACT).fit(X, labels)
    optimum = solve_instances(H, labels, *nus, weights_set="l1")
    check_against(model, X, labels, optimum)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [samples.separable, samples.binary])
def test_the_hard_margin_is_the_same_over_pairs_and_with_a_bias(make, weighted):
    X, labels = make(1)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, labels.size)
    weight = weight if weighted else None
    H, weights_set = samples.hypotheses_of("signed", X)
    options = {"weights_set": weights_set, "sample_weight": weight}
    pairs = solve_hard_pairs(H, labels, **options)
    rows = solve_hard_with_bias(H, labels, **options)
    assert pairs == pytest.approx(rows, abs=1e-7)
    model = MarginRanker("signed", "hard", **EXACT)
    model.fit(X, labels, sample_weight=weight)
    check_against(model, X, labels, pairs)
    scores = model.decision_function(X) + model.threshold_
    # Theorem 2: b = -(min s + max t) / 2, and the smallest y (s + b) is the margin
    bias = -(scores[labels].min() + scores[~labels].max()) / 2.0
    assert model.threshold_ == pytest.approx(-bias, abs=1e-12)
    signs = np.where(labels, 1.0, -1.0)
    assert (signs * (scores + bias)).min() == pytest.approx(model.objective_, abs=1e-9)


@pytest.mark.parametrize("kind", ["features", "signed", "stumps"])
def test_hard_margins_above_zero_classify_every_row(kind):
    X, labels = samples.separable(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MarginWarning)
        model = MarginRanker(kind, "hard").fit(X, labels)
    assert model.objective_ > 0.0
    np.testing.assert_array_equal(model.predict(X), labels)


def test_a_share_of_one_pair_is_the_hard_margin():
    X, labels = samples.continuous(5)
    one = 1.0 / (labels.sum() * (~labels).sum())
    soft = MarginRanker("signed", "pairs", one, **EXACT).fit(X, labels)
    hard = MarginRanker("signed", "hard", 1.0, **EXACT).fit(X, labels)
    assert soft.objective_ == pytest.approx(hard.objective_, abs=1e-7)


def test_margins_fall_from_instances_to_pairs():
    X, labels = samples.binary(7)
    for epsilon in (0.2, 0.5):
        instances = MarginRanker("signed", "instances", epsilon, **EXACT)
        pairs = MarginRanker("signed", "pairs", epsilon, **EXACT)
        gamma_hat = instances.fit(X, labels).certificate_.gamma_hat
        assert gamma_hat >= pairs.fit(X, labels).certificate_.gamma_star - 1e-7


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"nu_pos": 3.0, "nu_neg": 2.5}, (3.0, 2.5)),
        ({"nu_pos": 5.0}, (5.0, 0.25 * 12 * 18 / 5.0)),
        ({"nu_neg": 6.0}, (0.25 * 12 * 18 / 6.0, 6.0)),
        ({}, (6.0, 9.0)),
        ({"nu_pos": 12, "nu_neg": 18}, (12.0, 18.0)),
    ],
)
def test_nu_is_given_or_follows_from_epsilon(given, expected):
    rng = np.random.default_rng(0)
    labels = np.arange(30) < 12
    X = rng.normal(size=(30, 3)) + labels[:, None]
    model = MarginRanker("features", "instances", 0.25, **given, **EXACT).fit(X, labels)
    assert model.certificate_.nu_pos == pytest.approx(expected[0])
    assert model.certificate_.nu_neg == pytest.approx(expected[1])
    H, _ = samples.hypotheses_of("features", X)
    check_against(model, X, labels, solve_instances(H, labels, *expected))
