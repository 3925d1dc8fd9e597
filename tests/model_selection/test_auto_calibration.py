"""Probabilities of a combination, from the scores of rows kept aside."""

import numpy as np
import pytest

from aucmax import AutoRanker
from aucmax.decisions import reliability
from aucmax.metrics import roc_auc_score


def made_up(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, X[:, 0] + X[:, 1] + rng.logistic(size=n_rows) > 2.0


MODELS = ["logistic", "lightgbm-small"]


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_probabilities_rank_as_scores_do_and_mean_what_they_say(kind):
    X, y = made_up(1500, 0)
    model = AutoRanker(models=MODELS, folds=3, calibrate=kind).fit(X, y)
    new, truth = made_up(4000, 1)
    chances = model.predict_proba(new)[:, 1]
    assert roc_auc_score(truth, chances) == pytest.approx(
        roc_auc_score(truth, model.decision_function(new)), abs=1e-12
    )
    found = reliability(truth, chances)
    assert found.mean_probability == pytest.approx(found.base_rate, rel=0.1)
    assert (found.low <= found.probability + 0.03).all()
    assert (found.high >= found.probability - 0.03).all()
    assert model.predict_proba(new, prevalence=0.01)[:, 1].mean() < 0.02


def test_there_are_none_without_calibrate_and_a_wrong_one_is_refused():
    assert not hasattr(AutoRanker(), "predict_proba")
    with pytest.raises(ValueError, match="calibrate must be one of"):
        AutoRanker(calibrate="yes").fit(*made_up(50, 0))
