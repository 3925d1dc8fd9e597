"""Model files keep certificate, curve and history, and reject impossible states."""

import numpy as np
import pytest

from aucmax.margin import Certificate, MarginCurve, MarginRanker
from margin import samples
from persistence.equality import same, through_file

pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")


@pytest.mark.parametrize("formulation", ["pairs", "hard", "instances", "global"])
@pytest.mark.parametrize("kind", ["features", "signed", "stumps", "precomputed"])
def test_a_saved_model_comes_back_bit_for_bit(formulation, kind, tmp_path):
    X, labels = samples.binary(0)
    y = np.where(labels, "yes", "no")
    model = MarginRanker(kind, formulation, 0.4, callback=lambda progress: None)
    model.fit(X, y)
    again = through_file(model, tmp_path)
    assert again.callback is None
    assert same(dict(vars(again)), dict(vars(model), callback=None))
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    assert repr(again.certificate_) == repr(model.certificate_)
    assert str(again.scorecard()) == str(model.scorecard())
    if formulation == "global":
        assert isinstance(again.curve_, MarginCurve)
        assert same(again.history_, model.history_)
    assert isinstance(again.certificate_, Certificate)


def test_functions_cannot_be_saved_and_the_message_says_so(tmp_path):
    X, labels = samples.binary(0)
    model = MarginRanker([lambda X: X[:, 0]], "pairs", 0.4).fit(X, labels)
    with pytest.raises(TypeError, match=r"cannot save .*hypotheses\[0\]: a function"):
        through_file(model, tmp_path)


FORGERIES = {
    "column too large": ("columns_", lambda model: model.columns_ + 9),
    "column negative": ("columns_", lambda model: model.columns_ - 99),
    "column not whole": ("columns_", lambda model: model.columns_.astype(float)),
    "weights too many": ("weights_", lambda model: np.ones(99)),
    "weight missing": ("weights_", lambda model: np.append(model.weights_[1:], np.nan)),
    "directions in two dimensions": ("directions_", lambda model: np.ones((3, 1))),
    "three classes": ("classes_", lambda model: np.array([0, 1, 2])),
    "no threshold": ("threshold_", lambda model: np.inf),
    "threshold of text": ("threshold_", lambda model: "0"),
    "range too short": ("low_", lambda model: model.low_[1:]),
    "range of text": ("high_", lambda model: "high"),
    "width of text": ("n_features_in_", lambda model: "6"),
    "certificate of text": ("certificate_", lambda model: "trust me"),
    "certificate with text inside": (
        "certificate_",
        lambda model: Certificate(*["trust me"] * 9),
    ),
    "curve of text": ("curve_", lambda model: "curve"),
    "curve without a shape": (
        "curve_",
        lambda model: MarginCurve(*[np.ones(2)] * 3, np.ones(3), 0, 1.0),
    ),
    "curve without a lowest point": (
        "curve_",
        lambda model: MarginCurve(*[np.ones(2)] * 4, 2, 1.0),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_state_that_no_fit_leaves_is_refused(forgery, tmp_path):
    X, labels = samples.binary(0)
    model = MarginRanker("signed", "global", 0.4).fit(X, labels)
    name, forged = FORGERIES[forgery]
    setattr(model, name, forged(model))
    with pytest.raises(ValueError, match="cannot save this MarginRanker"):
        through_file(model, tmp_path)


def test_stumps_without_thresholds_are_refused(tmp_path):
    X, labels = samples.binary(0)
    model = MarginRanker("stumps", "pairs", 0.4).fit(X, labels)
    del model.thresholds_
    with pytest.raises(ValueError, match="cannot save this MarginRanker"):
        through_file(model, tmp_path)
