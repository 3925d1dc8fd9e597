import numpy as np
import pytest

from aucmax.solvers.line_search import LineSearch


def tried(slope_at, search):
    """Report slopes until the search ends; return all steps and the last slope."""
    lengths = []
    while search.is_open:
        lengths.append(search.length)
        slope = slope_at(search.length)
        search.report(slope)
    assert search.length == lengths[-1]
    return lengths, slope


@pytest.mark.parametrize("minimum", [1e-6, 0.03, 0.9, 1.0, 5.0, 1e4])
@pytest.mark.parametrize("power", [1, 3])
@pytest.mark.parametrize("is_known", [True, False])
def test_search_ends_where_the_slope_has_nearly_vanished(minimum, power, is_known):
    def slope_at(step):
        return np.sign(step - minimum) * abs(step - minimum) ** power

    first = slope_at(0.0) if is_known else None
    search = LineSearch(first, accuracy=0.1, max_evaluations=100)
    _, slope = tried(slope_at, search)
    assert abs(slope) <= 0.1 * abs(slope_at(0.0))


def test_search_never_steps_beyond_the_longest():
    lengths, _ = tried(lambda step: -1.0, LineSearch(-1.0, longest=1.0))
    assert lengths == [1.0]
    lengths, _ = tried(lambda step: -1.0, LineSearch(-1.0, longest=30.0))
    assert lengths[-1] == 30.0 == max(lengths)


def test_search_ends_beside_the_start_if_the_function_does_not_fall_there():
    lengths, _ = tried(lambda step: 0.5, LineSearch())
    assert lengths == [pytest.approx(0.0, abs=1e-8)]


def test_search_closes_in_on_a_kink_without_a_zero_slope():
    search = LineSearch(-1.0, max_evaluations=30)
    lengths, _ = tried(lambda step: -1.0 if step < 0.3 else 1.0, search)
    assert len(lengths) == 30
    assert search.length == pytest.approx(0.3, abs=1e-3)
