import numpy as np

from aucmax.linear.loss_search import Candidate, choose

WHOLE = (0.0, 1.0)


def test_another_loss_must_be_clearly_better_than_logistic_regression():
    simple = Candidate("logistic regression", WHOLE, WHOLE, 1.0)
    other = Candidate("sigmoid", WHOLE, WHOLE, 1.0)
    even = np.array([[0.5, 0.6], [0.6, 0.51], [0.5, 0.52], [0.6, 0.6]])
    assert choose(even, [simple, other], 1 / 3) == 0
    clear = even[:, :1] + np.array([0.0, 0.05]) + 0.001 * even
    assert choose(clear, [simple, other], 1 / 3) == 1
    assert choose(clear[:, 1:], [other], 1 / 3) == 0
    assert choose(clear[:1], [simple, other], 1 / 3) == 0  # one fold tells little
