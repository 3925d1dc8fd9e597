"""LightGBM as a yardstick: its widths, its trees, its text."""

import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import roc_auc_score
from aucmax.model_selection import LightGBMBaseline


def test_scores_are_log_odds_of_the_second_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = LightGBMBaseline(n_estimators=5).fit(X, y)
    scores = model.decision_function(X)
    assert model.score(X, y) == roc_auc_score(y, scores) > 0.95
    np.testing.assert_array_equal(model.predict(X) == "yes", scores > 0)


def test_lightgbm_rejects_other_widths_and_one_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = LightGBMBaseline(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 columns, the model was trained on 3"):
        model.decision_function(X[:, :2])
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        LightGBMBaseline().fit(X, np.zeros(60))
    assert model.decision_function(X[:0]).shape == (0,)


def test_lightgbm_uses_its_new_trees_after_another_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = LightGBMBaseline(n_estimators=5).fit(X, X[:, 0] > 0)
    first = model.decision_function(X)
    model.fit(X, X[:, 0] < 0)
    assert np.corrcoef(first, model.decision_function(X))[0, 1] < 0


def test_lightgbm_with_damaged_text_is_rejected_before_its_parser_sees_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = LightGBMBaseline(n_estimators=3).fit(X, X[:, 0] > 0)
    model._check_state()
    model.model_text_ = model.model_text_[:300]
    with pytest.raises(ValueError, match="not a valid LightGBM model text"):
        model._check_state()
    model.model_text_ = 3
    with pytest.raises(ValueError, match="not a string"):
        model._check_state()
