import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import partial_auc_score
from aucmax.risks import PartialHinge, PerQuery
from drawing import picked, spread

pytestmark = pytest.mark.kernel

SIZE = 14
LABELS = np.array([1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1], dtype=bool)
# scattered queries; 3 has negatives alone, 5 a positive alone
QID = np.array([7, 7, 1, 1, 1, 7, 7, 3, 1, 3, 7, 5, 1, 7])
RISKS = [
    PartialHinge(),
    PartialHinge((0, 0.1)),
    PartialHinge((0, 0.6), tpr_range=(0.4, 1)),
    PartialHinge((0.3, 0.9)),
    PartialHinge(tpr_range=(0.1, 0.8)),
    PartialHinge((0, 0.5), bound="loose"),
    PartialHinge((0, 0.7), tpr_range=(0.1, 0.8), bound="loose"),
]
risks = st.sampled_from(RISKS)
tied_scores = picked(SIZE, np.arange(-5, 6) / 2.0)
any_scores = st.one_of(tied_scores, spread(SIZE, st.floats(-1e3, 1e3)))
weights = st.one_of(st.none(), picked(SIZE, [0.5, 1.0, 2.0, 7.0]))


def mean_of_queries(risk, scores, labels, qid, weight):
    values, slope, n_counted = [], np.zeros(scores.size), 0
    for query in np.unique(qid):
        rows = qid == query
        if weight is not None:
            rows &= weight > 0.0
        if len(set(labels[rows])) == 2:
            own = None if weight is None else weight[rows]
            value, slope[rows] = risk.value_and_subgradient(
                scores[rows], labels[rows], own
            )
            values.append(value)
            n_counted += 1
    return np.mean(values), slope / n_counted


@given(any_scores, risks, weights)
def test_risk_is_the_mean_over_the_queries_with_both_classes(scores, risk, weight):
    per_query = PerQuery(risk, QID)
    value, slope = per_query.value_and_subgradient(scores, LABELS, weight)
    expected, expected_slope = mean_of_queries(risk, scores, LABELS, QID, weight)
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert per_query.value(scores, LABELS, weight) == value
    np.testing.assert_allclose(slope, expected_slope, atol=1e-10)


@given(tied_scores, tied_scores, risks, weights)
def test_subgradient_supports_the_risk_from_below(here, there, risk, weight):
    per_query = PerQuery(risk, QID)
    value, subgradient = per_query.value_and_subgradient(here, LABELS, weight)
    line = value + subgradient @ (there - here)
    assert per_query.value(there, LABELS, weight) >= line - 1e-10


@given(tied_scores, risks, st.integers(-1000, 1000))
def test_a_constant_added_to_one_query_changes_nothing(scores, risk, constant):
    per_query = PerQuery(risk, QID)
    value, slope = per_query.value_and_subgradient(scores, LABELS)
    moved, moved_slope = per_query.value_and_subgradient(
        scores + constant * (QID == 7), LABELS
    )
    assert moved == pytest.approx(value, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(moved_slope, slope, atol=1e-10)


@given(any_scores, risks)
def test_one_query_is_the_risk_itself(scores, risk):
    value, slope = PerQuery(risk, np.zeros(SIZE)).value_and_subgradient(scores, LABELS)
    expected, expected_slope = risk.value_and_subgradient(scores, LABELS)
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(slope, expected_slope, atol=1e-10)


@given(any_scores)
def test_risk_is_at_least_one_minus_the_mean_auc_of_queries(scores):
    value = PerQuery(PartialHinge((0, 0.5)), QID).value(scores, LABELS)
    area = partial_auc_score(LABELS, scores, fpr_range=(0, 0.5), qid=QID)
    assert value >= 1.0 - area - 1e-10


def test_queries_may_be_of_any_hashable_kind():
    scores = np.linspace(-1.0, 2.0, SIZE)
    expected = PerQuery(PartialHinge(), QID).value(scores, LABELS)
    for qid in (QID.astype(str), [("query", q) for q in QID], list(QID)):
        assert PerQuery(PartialHinge(), qid).value(scores, LABELS) == expected


def test_queries_with_one_class_are_counted_and_contribute_nothing():
    per_query = PerQuery(PartialHinge(), QID)
    assert per_query.n_queries == 4
    assert per_query.n_skipped(LABELS) == 2
    # without weight, query 1 has no positives any more
    weight = np.where((QID == 1) & LABELS, 0.0, 1.0)
    assert per_query.n_skipped(LABELS, weight) == 3
    scores = np.linspace(-1.0, 2.0, SIZE)
    value, slope = per_query.value_and_subgradient(scores, LABELS, weight)
    assert (slope[QID != 7] == 0.0).all()
    rows = QID == 7
    assert value == pytest.approx(PartialHinge().value(scores[rows], LABELS[rows]))


def test_queries_without_any_pair_are_refused():
    with pytest.raises(NotEnoughClassesError, match="None of the 14 queries has rows"):
        PerQuery(PartialHinge(), np.arange(SIZE)).value(np.zeros(SIZE), LABELS)
    weight = LABELS.astype(float)
    with pytest.raises(NotEnoughClassesError, match="None of the 4 queries has rows"):
        PerQuery(PartialHinge(), QID).value(np.zeros(SIZE), LABELS, weight)


def test_a_number_of_rows_that_differs_is_refused():
    with pytest.raises(ValueError, match="qid has 14 rows, scores have 3"):
        PerQuery(PartialHinge(), QID).value(np.zeros(3), LABELS[:3])


def test_inputs_may_be_read_only():
    scores, labels, weight = np.linspace(-1.0, 2.0, SIZE), LABELS.copy(), np.ones(SIZE)
    for array in (scores, labels, weight):
        array.flags.writeable = False
    per_query = PerQuery(PartialHinge((0, 0.5)), QID)
    plain = per_query.value(scores, labels)
    assert per_query.value(scores, labels, weight) == pytest.approx(plain)
