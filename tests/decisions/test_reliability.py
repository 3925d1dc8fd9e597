"""Probabilities compared with what happened."""

import json

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from aucmax.decisions import reliability, wilson_interval

RNG = np.random.default_rng(0)
CHANCES = RNG.random(500).round(2)
HAPPENED = RNG.random(500) < CHANCES
WEIGHTS = RNG.choice([0.0, 1.0, 2.0], 500)


@pytest.mark.parametrize("weight", [None, WEIGHTS])
def test_errors_are_those_of_scikit_learn(weight):
    found = reliability(HAPPENED, CHANCES, sample_weight=weight)
    options = {"sample_weight": weight}
    assert found.brier_score == pytest.approx(
        brier_score_loss(HAPPENED, CHANCES, **options)
    )
    assert found.log_loss == pytest.approx(log_loss(HAPPENED, CHANCES, **options))
    assert found.mean_probability == pytest.approx(np.average(CHANCES, weights=weight))


def test_groups_are_of_about_one_size_and_keep_equal_probabilities_together():
    found = reliability(HAPPENED, CHANCES, n_groups=5)
    assert found.n_rows.sum() == 500
    assert found.n_rows.min() > 80
    assert (np.diff(found.probability) > 0).all()
    ends = np.cumsum(found.n_rows)[:-1]
    ranked = np.sort(CHANCES)
    assert (ranked[ends] > ranked[ends - 1]).all()
    first = np.argsort(CHANCES, kind="stable")[: found.n_rows[0]]
    assert found.share[0] == pytest.approx(HAPPENED[first].mean())
    assert (found.low[0], found.high[0]) == pytest.approx(
        wilson_interval(found.share[0], found.n_rows[0])
    )


def test_one_probability_for_all_is_one_group():
    found = reliability(HAPPENED, np.full(500, 0.5))
    assert found.n_rows.tolist() == [500]
    assert found.share.tolist() == [HAPPENED.mean()]


def test_certain_and_wrong_is_expensive_but_finite():
    assert 30 < reliability([0, 1], [1.0, 0.0]).log_loss < 40


def test_scores_are_no_probabilities():
    with pytest.raises(ValueError, match=r"between 0 and 1, but row 1 is 1\.5"):
        reliability([0, 1], [0.5, 1.5])


def test_it_can_be_written_as_json():
    plain = json.loads(json.dumps(reliability(HAPPENED, CHANCES).as_dict()))
    assert len(plain["share"]) == len(plain["probability"]) == 10
