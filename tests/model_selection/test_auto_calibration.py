"""Probabilities of a combination, from the scores of held-out rows."""

import numpy as np
import pytest

from aucmax import AutoRanker
from aucmax.decisions import reliability
from aucmax.metrics import roc_auc_score


def made_up(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, X[:, 0] + X[:, 1] + rng.logistic(size=n_rows) > 2.0


MODELS = ["logistic", "additive"]


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_probabilities_rank_as_scores_do_and_mean_what_they_say(kind):
    X, y = made_up(1500, 0)
    model = AutoRanker(models=MODELS, cv=3, calibrate=kind).fit(X, y)
    new, truth = made_up(4000, 1)
    chances = model.predict_proba(new)[:, 1]
    assert roc_auc_score(truth, chances) == pytest.approx(
        roc_auc_score(truth, model.decision_function(new)), abs=1e-12
    )
    curve = reliability(truth, chances)
    assert curve.mean_probability == pytest.approx(curve.base_rate, rel=0.1)
    assert (curve.low <= curve.probability + 0.03).all()
    assert (curve.high >= curve.probability - 0.03).all()
    assert model.predict_proba(new, prevalence=0.01)[:, 1].mean() < 0.02


def test_the_error_states_why_there_are_none():
    X, y = made_up(200, 0)
    model = AutoRanker(models=["logistic"], cv=2, calibrate=None)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match='calibrate=None; set calibrate="auto"'):
        model.predict_proba(X)
    model = AutoRanker(models=["logistic"], cv=2).fit(X, y, qid=np.arange(200) // 20)
    with pytest.raises(AttributeError, match="fitted with queries, levels or cal"):
        model.predict_proba(X)
    model = AutoRanker(models=["logistic"], cv=2, calibrate=None).fit(X, y)
    with pytest.raises(AttributeError, match="fitted with queries, levels or cal"):
        model.set_params(calibrate="auto").predict_proba(X)
    with pytest.raises(ValueError, match="calibrate must be one of"):
        AutoRanker(calibrate="yes").fit(X, y)
