"""Gradients are the slopes of the values, in random directions at random scores."""

import numpy as np
import pytest

from aucmax.risks import PairLogistic, PairSigmoid
from torture.amount import times

SIGMOID = PairSigmoid(accuracy=1e-12)
IN_A_RANGE = PairSigmoid(fpr_range=(0.1, 0.6), tau=0.5, accuracy=1e-12)
RISKS = {"logistic": PairLogistic(), "sigmoid": SIGMOID, "in a range": IN_A_RANGE}


@pytest.mark.parametrize("name", RISKS)
def test_the_gradient_is_the_slope_of_the_value(name):
    rng, step = np.random.default_rng(0), 1e-5
    for _ in range(times(5, 400)):
        n_rows = int(rng.integers(5, 60))
        scores, labels = rng.normal(size=n_rows), rng.permutation(n_rows) % 3 == 0
        towards = rng.normal(size=n_rows)
        risk = RISKS[name].bind(labels)
        gradient = risk.value_and_gradient(scores)[1]
        ends = [risk.value(scores + side * towards) for side in (step, -step)]
        slope = (ends[0] - ends[1]) / (2.0 * step)
        size = np.linalg.norm(gradient) * np.linalg.norm(towards)
        assert gradient @ towards == pytest.approx(slope, rel=1e-6, abs=1e-6 * size)
