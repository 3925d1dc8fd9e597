"""The risk of some rows against the risk of all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucmax.risks import PartialHinge
from aucmax.risks.fewer_rows import chosen_from, rows_on_top

pytestmark = pytest.mark.kernel

LABELS = np.arange(40) % 4 == 0
# few distinct values, so that ties are the rule
tied_scores = arrays(float, LABELS.size, elements=st.integers(-3, 3).map(float))
weights = st.none() | arrays(
    float, LABELS.size, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])
)
RISKS = [
    PartialHinge((0.0, 0.25)),
    PartialHinge((0.0, 0.21), tpr_range=(0.45, 1.0)),
    PartialHinge(tpr_range=(0.7, 1.0)),
]


def fewer(risk, scores, weight, room=1.0):
    counts = risk.value_and_subgradient(scores, LABELS, weight)[1] != 0.0
    rows = rows_on_top(risk, scores, LABELS, weight, counts=counts, room=room)
    return rows, chosen_from(risk, rows, LABELS, weight)


def of(values, rows):
    return None if values is None else values[rows]


def has_both_classes(weight):
    return weight is None or (weight[LABELS].any() and weight[~LABELS].any())


@pytest.mark.parametrize("risk", RISKS)
@given(tied_scores, weights.filter(has_both_classes), st.sampled_from([1.0, 1.5, 9.0]))
def test_the_rows_on_top_have_the_risk_of_all(risk, scores, weight, room):
    rows, own = fewer(risk, scores, weight, room)
    assert (np.diff(rows) > 0).all()
    value, slope = risk.value_and_subgradient(scores, LABELS, weight)
    some, some_slope = own.value_and_subgradient(
        scores[rows], LABELS[rows], of(weight, rows)
    )
    assert some == pytest.approx(value, rel=1e-12, abs=1e-12)
    spread = np.zeros_like(slope)
    spread[rows] = some_slope
    np.testing.assert_allclose(spread, slope, atol=1e-12)


@pytest.mark.parametrize("risk", RISKS)
@given(tied_scores, tied_scores, weights.filter(has_both_classes))
def test_their_lines_are_below_the_risk_of_all(risk, here, there, weight):
    rows, own = fewer(risk, here, weight)
    data = LABELS[rows], of(weight, rows)
    line = own.smoothed(there[rows], *data, width=0.3)
    height = line.offset + line.subgradient @ here[rows]
    assert height <= risk.value(here, LABELS, weight) + 1e-12
    some = own.value(there[rows], *data)
    assert some <= risk.value(there, LABELS, weight) + 1e-12


def test_classes_that_count_whole_stay_whole():
    scores = np.arange(40.0)
    rows, own = fewer(PartialHinge((0.0, 0.1)), scores, None)
    assert set(np.flatnonzero(LABELS)) <= set(rows)
    assert np.flatnonzero(~LABELS)[-3:].tolist() == rows[~LABELS[rows]].tolist()
    assert own.tpr_range == (0.0, 1.0)
    assert own.fpr_range == (0.0, 1.0)


def test_rows_that_count_by_their_slopes_are_kept():
    scores, counts = np.arange(40.0), np.ones(40, dtype=bool)
    rows = rows_on_top(PartialHinge((0.0, 0.1)), scores, LABELS, None, counts=counts)
    assert rows.size == 40
