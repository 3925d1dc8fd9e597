import numpy as np
import pytest

from aucmax.solvers.line_search import search


@pytest.mark.parametrize("minimum", [1e-6, 0.03, 0.9, 1.0, 5.0, 1e4])
@pytest.mark.parametrize("power", [1, 3])
def test_search_ends_where_the_slope_has_nearly_vanished(minimum, power):
    def slope(step):
        return np.sign(step - minimum) * abs(step - minimum) ** power

    step = search(
        lambda t: (slope(t), None), slope(0.0), accuracy=0.1, max_evaluations=100
    )
    assert abs(step.slope) <= 0.1 * abs(slope(0.0))
    assert step.slope == slope(step.length)


def test_search_never_steps_beyond_the_longest():
    tried = []

    def evaluate(step):
        tried.append(step)
        return -1.0, step

    step = search(evaluate, -1.0, longest=1.0)
    assert step.length == step.found == 1.0
    assert tried == [1.0]


def test_search_returns_the_last_point_it_evaluated_when_a_kink_has_no_zero_slope():
    step = search(lambda t: (-1.0 if t < 0.3 else 1.0, t), -1.0, max_evaluations=30)
    assert step.length == step.found
    assert step.length == pytest.approx(0.3, abs=1e-3)
