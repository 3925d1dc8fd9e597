"""The guarantees of a certificate hold, also with ties."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucmax.margin import Certificate, MarginRanker
from aucmax.margin.margin_certificate import certify
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin
from margin import samples

pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
FIELDS = [
    "gamma_star",
    "gamma_hat",
    "rho_hat",
    "nu_pos",
    "nu_neg",
    "pairs_guaranteed",
    "pairs_achieved",
    "n_pairs",
    "gap",
]
LABELS = np.array([True, False, True, True, False, False, True, False, False])
# few distinct values, so that ties are the rule and not the exception
tied_scores = arrays(float, LABELS.size, elements=st.integers(-2, 2).map(float))
weights = arrays(float, LABELS.size, elements=st.sampled_from([0.5, 1.0, 3.0]))
shares = st.floats(0.01, 1.0)


def margins(scores, labels):
    return (scores[labels][:, None] - scores[~labels]) / 2.0


def pair_weights(labels, weight):
    weight = np.ones(labels.size) if weight is None else weight
    return np.outer(weight[labels], weight[~labels])


@given(tied_scores, st.none() | weights, shares)
def test_pairs_above_the_soft_margin_are_as_many_as_promised(scores, weight, share):
    pairs = pair_weights(LABELS, weight)
    nu = share * pairs.sum()
    risk = PairMargin(nu)
    certificate = certify(risk, scores, LABELS, weight, 0.01)
    achieved = pairs[margins(scores, LABELS) >= certificate.rho_hat].sum()
    assert certificate.pairs_achieved == pytest.approx(achieved)
    assert certificate.pairs_achieved >= certificate.pairs_guaranteed
    assert certificate.pairs_guaranteed >= (pairs.sum() - nu) * (1.0 - 1e-6) - 1e-9
    assert certificate.rho_hat >= certificate.gamma_star - 1e-12
    assert certificate.gamma_star == -risk.bind(LABELS, weight).value(scores)
    assert certificate.n_pairs == pytest.approx(pairs.sum())


@given(tied_scores, st.none() | weights, shares, shares)
def test_pairs_of_good_instances_are_as_many_as_promised(
    scores, weight, share_pos, share_neg
):
    totals = np.ones(LABELS.size) if weight is None else weight
    nu_pos = share_pos * totals[LABELS].sum()
    nu_neg = share_neg * totals[~LABELS].sum()
    risk = InstanceMargin(nu_pos, nu_neg)
    certificate = certify(risk, scores, LABELS, weight, 0.01)
    pairs = pair_weights(LABELS, weight)
    achieved = pairs[margins(scores, LABELS) >= certificate.rho_hat].sum()
    promised = (totals[LABELS].sum() - nu_pos) * (totals[~LABELS].sum() - nu_neg)
    assert certificate.pairs_achieved == pytest.approx(achieved)
    assert certificate.pairs_achieved >= certificate.pairs_guaranteed
    assert certificate.pairs_guaranteed >= promised * (1.0 - 1e-6) - 1e-9
    assert certificate.rho_hat >= certificate.gamma_hat - 1e-12
    value = risk.bind(LABELS, weight).value(scores)
    assert certificate.gamma_hat == pytest.approx(-value, abs=1e-12)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    formulation=st.sampled_from(["pairs", "instances", "adaptive", "global"]),
    kind=st.sampled_from(["features", "signed", "stumps"]),
    epsilon=st.floats(0.05, 1.0),
    weighted=st.booleans(),
)
def test_fitted_models_keep_the_promise(seed, formulation, kind, epsilon, weighted):
    X, labels = samples.duplicated(seed) if seed % 2 else samples.binary(seed)
    weight = samples.integer_weights(seed, labels).astype(float) if weighted else None
    model = MarginRanker(kind, formulation, epsilon, tol=1e-2)
    certificate = model.fit(X, labels, sample_weight=weight).certificate_
    reached = margins(model.decision_function(X), labels)
    # rounding may part pairs that tie
    has_margin = reached >= certificate.rho_hat - 1e-12
    achieved = pair_weights(labels, weight)[has_margin].sum()
    assert achieved >= certificate.pairs_achieved * (1.0 - 1e-12)
    assert certificate.pairs_achieved >= certificate.pairs_guaranteed
    margin = certificate.gamma_star if formulation == "pairs" else certificate.gamma_hat
    assert margin == pytest.approx(model.objective_, abs=1e-12)
    assert certificate.rho_hat >= margin - 1e-12


def test_figures_that_a_formulation_does_not_have_are_none():
    X, labels = samples.continuous(0)
    pairs = MarginRanker(formulation="pairs", epsilon=0.5).fit(X, labels).certificate_
    assert pairs.gamma_hat is pairs.nu_pos is pairs.nu_neg is None
    assert pairs.gamma_star is not None
    hard = MarginRanker(formulation="hard").fit(X, labels).certificate_
    # all pairs have the smallest margin of all
    assert hard.pairs_achieved == hard.n_pairs == labels.sum() * (~labels).sum()
    assert hard.gamma_star == hard.rho_hat
    instances = (
        MarginRanker(formulation="instances", epsilon=0.5).fit(X, labels).certificate_
    )
    assert instances.gamma_star is None
    assert instances.gamma_hat is not None
    assert list(instances.get_params()) == FIELDS
    # counts of rows without weights are whole
    assert type(instances.pairs_guaranteed) is int
    assert type(pairs.pairs_achieved) is int


def test_a_certificate_is_readable():
    certificate = Certificate(
        None, 0.25, 0.5, 10.0, 20.5, 1_234_567, 1_500_000, 2_000_000, 0.000987
    )
    assert repr(certificate).splitlines() == [
        "Margin certificate",
        "  gamma_hat  0.25  margin of the reduction, "
        "at least the soft margin over pairs",
        "  gap        0.00099  relative: how much more is possible",
        "  rho_hat    0.5  margin of the pairs below",
        "  nu+, nu-   10, 20.5  positives and negatives that may miss it",
        "  guaranteed 1,234,567 of 2,000,000 pairs (61.73%)",
        "  achieved   1,500,000 of 2,000,000 pairs (75.00%)",
    ]
    pairs = Certificate(0.125, None, 0.2, None, None, 1.5, 2.25, 4.5, 0.0)
    assert repr(pairs).splitlines()[1:4] == [
        "  gamma*     0.125  soft margin over pairs",
        "  gap        0  relative: how much more is possible",
        "  rho_hat    0.2  margin of the pairs below",
    ]
    assert repr(pairs).endswith("achieved   2.25 of 4.5 pairs (50.00%)")


def hard_rows(kind, seed):
    """Rows of both classes: separable by stumps or not, with ties, and few rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    if kind == "ties":
        X = np.round(X)
    y = X[:, 0] + X[:, 1] > 0.2
    if kind == "noisy":
        y ^= rng.random(60) < 0.2
    if kind == "far":
        X[:, 0] += 1e4
    if kind == "four pairs":
        X, y = X[:4], np.arange(4) < 2
    weight = rng.uniform(0.1, 3.0, y.size) if kind == "weighted" else None
    return X, y, weight


@pytest.mark.parametrize("hypotheses", ["stumps", "signed", "features"])
@pytest.mark.parametrize(
    "kind", ["separable", "noisy", "ties", "far", "weighted", "four pairs"]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_hard_margin_is_certified_for_all_pairs(hypotheses, kind, seed):
    X, y, weight = hard_rows(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MarginRanker(hypotheses, "hard", max_time=5).fit(X, y, weight)
    certificate = model.certificate_
    scores = model.decision_function(X)
    margins = (scores[y][:, None] - scores[~y]) / 2.0
    assert (margins >= certificate.rho_hat - 1e-12).all()
    assert margins.min() == pytest.approx(certificate.rho_hat, abs=1e-12)
    assert certificate.rho_hat == pytest.approx(certificate.gamma_star, abs=1e-12)
    assert certificate.pairs_guaranteed == certificate.n_pairs
    assert certificate.pairs_achieved == certificate.n_pairs
    if weight is None:
        assert certificate.n_pairs == margins.size
        assert "(100.00%)" in repr(certificate).splitlines()[-1]
