"""A line through knots keeps order, between them and beyond."""

import numpy as np

from aucmax._core.knots import along_knots

KNOTS = np.array([[0.0, 1.0, 3.0], [-1.0, 1.0, 2.0]])


def test_it_is_linear_between_knots_and_goes_on_with_the_mean_slope():
    found = along_knots(np.array([-1.0, 0.0, 0.5, 3.0, 5.0]), KNOTS)
    np.testing.assert_allclose(found, [-2.0, -1.0, 0.0, 2.0, 4.0])


def test_one_knot_has_one_height():
    found = along_knots(np.array([-5.0, 5.0]), np.array([[1.0], [0.25]]))
    assert found.tolist() == [0.25, 0.25]
