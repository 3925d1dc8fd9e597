"""The share of pairs that may miss the margin, where it is left to the data."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker
from aucmax.margin.formulations import _EPSILONS
from margin import samples
from persistence.equality import same

pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
DATA = {
    "separable": samples.separable(0, n_rows=20),
    "continuous": samples.continuous(0, n_rows=30),
    "binary": samples.binary(3, n_rows=60),
}


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["pairs", "instances"])
@pytest.mark.parametrize(
    ("data", "kind"),
    [*product(DATA, ["features", "signed"]), ("separable", "stumps")],
)
def test_it_is_the_smallest_that_leaves_a_tenth_of_the_mean_margin(
    data, formulation, kind
):
    X, labels = DATA[data]
    model = MarginRanker(kind, formulation).fit(X, labels)
    path = model.fit_path(X, labels, [1.0, *_EPSILONS])
    whole, *margins = (one.objective_ for one in path)
    large = [
        epsilon
        for epsilon, margin in zip(_EPSILONS, margins, strict=True)
        if margin >= 0.1 * whole
    ]
    assert model.epsilon_ == min(large)
    assert model.n_iter_ > path[0].n_iter_


def test_the_harder_the_data_the_larger_it_is():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(2, 300, 4))
    chosen = [
        MarginRanker().fit(X, (X + scale * noise).sum(axis=1) > 0.0).epsilon_
        for scale in (0.01, 0.3, 1.0, 3.0)
    ]
    assert chosen == sorted(set(chosen))


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["pairs", "instances", "adaptive", "global"])
def test_the_model_is_that_of_the_epsilon_chosen(formulation):
    X, labels = DATA["continuous"]
    chosen = MarginRanker(formulation=formulation).fit(X, labels)
    given = clone(chosen).set_params(epsilon=chosen.epsilon_).fit(X, labels)
    counts = ("epsilon", "n_iter_", "n_passes_")
    states = [
        {name: value for name, value in vars(model).items() if name not in counts}
        for model in (chosen, given)
    ]
    assert same(*states)
    assert chosen.n_passes_ > given.n_passes_


def test_without_any_margin_it_is_the_largest():
    X, labels = DATA["separable"]
    with pytest.warns(MarginWarning, match=r"at epsilon=0\.9 is -"):
        model = MarginRanker("features").fit(-X, labels)
    assert model.epsilon_ == max(_EPSILONS)


def test_it_is_chosen_only_where_it_is_used():
    X, labels = DATA["continuous"]
    for model in (
        MarginRanker(formulation="hard"),
        MarginRanker(formulation="instances", nu_pos=3.0, nu_neg=4.0),
    ):
        assert not hasattr(model.fit(X, labels), "epsilon_")
    # of no use over pairs, so that they do not stand in the way
    assert MarginRanker(formulation="pairs", nu_pos=3.0).fit(X, labels).epsilon_ > 0.0


def test_a_fit_that_is_cut_short_has_chosen_one_all_the_same():
    X, labels = DATA["binary"]
    model = MarginRanker(max_time=0.0)
    with pytest.warns(UserWarning, match="stopped at a relative gap"):
        model.fit(X, labels)
    assert model.epsilon_ == max(_EPSILONS)
