"""Every mistake gets a message that says what is wrong, where, and what to do."""

import re

import numpy as np
import pytest

from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker
from margin import samples

KINDS = ("features", "signed", "stumps")
FORMULATIONS = ("pairs", "hard", "instances", "adaptive", "global")


@pytest.fixture(scope="module")
def data():
    return samples.continuous(0, n_rows=40)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 1.01}, "got 1.01"),
        ({"formulation": "instances", "nu_pos": 1.0}, "give a number for epsilon"),
        ({"hypotheses": np.sin}, "or a list of functions, got"),
        ({"hypotheses": []}, "hypotheses is an empty list"),
        ({"nu_pos": 0.0}, "nu_pos must be positive"),
    ],
)
def test_bad_parameters_are_rejected_before_the_data_are_read(parameters, message):
    with pytest.raises(ValueError, match=message):
        MarginRanker(**parameters).fit(None, None)
    if not parameters.keys() & {"epsilon", "nu_pos"}:
        with pytest.raises(ValueError, match=message):
            MarginRanker(**parameters).fit_path(None, None, [0.5])


@pytest.mark.parametrize("epsilon", [0.0, 1.5, "auto", None])
def test_a_path_has_numbers_for_epsilon(epsilon):
    with pytest.raises(ValueError, match=r"epsilons must be in \(0, 1\], got"):
        MarginRanker().fit_path(None, None, [0.3, epsilon])


@pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
@pytest.mark.parametrize("formulation", ["pairs", "instances", "adaptive", "global"])
@pytest.mark.parametrize(("n_positive", "n_negative"), [(2, 2), (13, 29)])
def test_the_error_for_a_small_epsilon_states_the_smallest_that_works(
    formulation, n_positive, n_negative
):
    labels = np.arange(n_positive + n_negative) < n_positive
    X = np.random.default_rng(0).normal(size=(labels.size, 3)) + labels[:, None]
    epsilon = 0.9 / (n_positive * n_negative)
    with pytest.raises(ValueError, match="less than one of the") as caught:
        MarginRanker(formulation=formulation, epsilon=epsilon).fit(X, labels)
    least = float(re.search(r"that works is ([^;]+);", str(caught.value))[1])
    assert least == pytest.approx(1.0 / (n_positive * n_negative), rel=1e-5)
    model = MarginRanker(formulation=formulation, epsilon=least).fit(X, labels)
    hard = MarginRanker(formulation="hard").fit(X, labels)
    # the reduction is above the margin over pairs, which is that of the worst pair
    assert model.objective_ >= hard.objective_ - 1e-3
    if formulation == "pairs":
        assert model.objective_ == pytest.approx(hard.objective_, rel=2e-3, abs=1e-5)


@pytest.mark.parametrize("formulation", ["instances", "adaptive", "global"])
@pytest.mark.parametrize(
    ("nus", "message"),
    [
        ({"nu_pos": 1e3}, "nu_pos must be above 0 and at most .*, the weight of its"),
        ({"nu_neg": 1e3, "nu_pos": 1.0}, "nu_neg must be above 0 and at most"),
        ({"nu_pos": 0.1}, r"nu_neg = .* follows from epsilon and the other nu"),
        ({"nu_neg": 0.1}, r"nu_pos = .* follows from epsilon and the other nu"),
    ],
)
def test_a_nu_that_does_not_fit_its_class_is_rejected(data, formulation, nus, message):
    with pytest.raises(ValueError, match=message):
        MarginRanker(formulation=formulation, epsilon=0.3, **nus).fit(*data)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_one_row_of_a_class_is_too_few(formulation):
    X = np.arange(8.0).reshape(4, 2)
    for y in (["a", "b", "b", "b"], ["a", "a", "a", "b"]):
        with pytest.raises(
            ValueError, match=r"class .*'[ab]'.* only 1 row .* two rows"
        ):
            MarginRanker(formulation=formulation, epsilon=1.0).fit(X, y)
    with pytest.raises(ValueError, match="only 1 row with any weight"):
        MarginRanker(formulation=formulation, epsilon=1.0).fit(
            X, [0, 0, 1, 1], sample_weight=[1, 1, 0, 1]
        )


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_identical_classes_have_a_valid_model_and_a_warning(formulation, kind):
    rows = np.random.default_rng(0).normal(size=(12, 3))
    X, labels = np.vstack([rows, rows]), np.arange(24) < 12
    model = MarginRanker(kind, formulation, 0.5)
    with pytest.warns(MarginWarning, match="not above 0: no combination of these"):
        model.fit(X, labels)
    assert model.objective_ <= 1e-9
    scores = model.decision_function(X)
    np.testing.assert_array_equal(scores[labels], scores[~labels])
    certificate = model.certificate_
    assert certificate.pairs_achieved >= certificate.pairs_guaranteed
    assert "not above" not in str(model.scorecard())


def test_the_warning_says_what_may_help(data):
    X, labels = data
    wrong_way = np.where(labels, -1.0, 1.0)[:, None] + 0.1 * X
    with pytest.warns(MarginWarning) as caught:
        MarginRanker("features", "pairs", 0.25).fit(wrong_way, labels)
    message = str(caught[0].message)
    assert message.startswith("the largest margin at epsilon=0.25 is -")
    assert "Raise epsilon" in message
    assert message.endswith("Or try hypotheses='signed' or 'stumps'.")
    # where the user called fit
    assert caught[0].filename == __file__
    with pytest.warns(MarginWarning) as caught:
        MarginRanker("signed", "hard").fit(X, labels)
    assert "epsilon" not in str(caught[0].message)
    assert "formulation='pairs'" in str(caught[0].message)
    with pytest.warns(MarginWarning) as caught:
        MarginRanker("features").fit_path(wrong_way, labels, [0.25])
    assert caught[0].filename == __file__
