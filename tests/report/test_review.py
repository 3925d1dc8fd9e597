import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.decisions import operating_point
from aucmax.report.review import review_depths, review_top, usual_depth

rows = st.lists(
    st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=60
).filter(lambda drawn: len({label for label, _ in drawn}) == 2)


@given(rows)
def test_reviewing_rows_is_the_operating_point(drawn):
    labels, scores = np.array(drawn).T
    labels = labels.astype(bool)
    depths = review_depths(labels.size)
    for depth, at in zip(
        depths, review_top(labels, scores, depths).to_dicts(), strict=True
    ):
        if (scores == scores.max()).sum() > depth:
            assert (at["alerts"], at["tp"]) == (0, 0)
            assert at["precision_ends"] == [0.0, 1.0]
            continue
        point = operating_point(labels, scores, alerts=depth)
        for name in ("alerts", "tp", "fn", "fp", "precision"):
            assert at[name] == getattr(point, name)
        for name in ("tp", "fp", "precision"):
            assert at[f"{name}_ends"] == pytest.approx(point.intervals[name])


def test_depths_are_all_small_numbers_round_ones_and_all_rows():
    assert review_depths(12).tolist() == list(range(1, 13))
    depths = review_depths(1234).tolist()
    assert depths[98:102] == [99, 100, 110, 120]
    assert depths[-3:] == [1100, 1200, 1234]
    assert review_depths(10**6).size < 500


@pytest.mark.parametrize(
    ("n_rows", "depth"), [(2, 1), (50, 5), (900, 90), (10**6, 100)]
)
def test_a_page_opens_a_hundred_rows_or_a_tenth(n_rows, depth):
    assert usual_depth(n_rows) == depth
