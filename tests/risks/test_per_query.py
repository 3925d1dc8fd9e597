import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.metrics import partial_auc_score
from aucmax.risks import PairHinge, PartialHinge
from aucmax.risks.pair_margin import PairMargin
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


smoothable_risks = st.sampled_from(
    [risk for risk in RISKS if risk.rank_box().is_choice_of_rows]
)
widths = st.sampled_from([1e-9, 0.25, 1.0, 4.0])


def mean_of_queries(risk, scores, labels, qid, weight):
    values, slope, n_counted = [], np.zeros(scores.size), 0
    for query in np.unique(qid):
        rows = qid == query
        if weight is not None:
            rows &= weight > 0.0
        if len(set(labels[rows])) == 2:
            query_weight = None if weight is None else weight[rows]
            bound = risk.bind(labels[rows], query_weight)
            value, slope[rows] = bound.value_and_gradient(scores[rows])
            values.append(value)
            n_counted += 1
    return np.mean(values), slope / n_counted


@given(any_scores, risks, weights)
def test_risk_is_the_mean_over_the_queries_with_both_classes(scores, risk, weight):
    per_query = risk.bind(LABELS, weight, QID)
    value, _ = per_query.value_and_gradient(scores)
    expected, _ = mean_of_queries(risk, scores, LABELS, QID, weight)
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert per_query.value(scores) == value


@given(any_scores, risks, weights)
def test_slopes_are_the_mean_over_the_queries_with_both_classes(scores, risk, weight):
    # away from kinks, where there are many subgradients
    scores = scores + np.random.default_rng(0).normal(scale=1e-3, size=SIZE)
    _, slope = risk.bind(LABELS, weight, QID).value_and_gradient(scores)
    _, expected = mean_of_queries(risk, scores, LABELS, QID, weight)
    np.testing.assert_allclose(slope, expected, atol=1e-10)


@given(tied_scores, tied_scores, risks, weights)
def test_subgradient_supports_the_risk_from_below(here, there, risk, weight):
    per_query = risk.bind(LABELS, weight, QID)
    value, subgradient = per_query.value_and_gradient(here)
    line = value + subgradient @ (there - here)
    assert per_query.value(there) >= line - 1e-10


def chosen_weights(scores, labels, weight, risk):
    """Weights of the rows of one query that its ranges let count."""
    weight = np.ones(scores.size) if weight is None else weight
    box, chosen = risk.rank_box(), np.zeros(scores.size)
    for members, keys, share in (
        (~labels, -scores, box.negatives),
        (labels, scores, box.positives),
    ):
        left = share * weight[members].sum()
        for key in np.unique(keys[members]):
            tied = members & (keys == key)
            chosen_weight = min(left, weight[tied].sum())
            chosen[tied] = weight[tied] * chosen_weight / weight[tied].sum()
            left -= chosen_weight
    return chosen


def smoothed_by_hand(risk, scores, weight, width):
    """Slope and offset of the mean of the queries' lines, pair by pair."""
    slope, offset = np.zeros(SIZE), 0.0
    for query in (1, 7):
        rows = np.flatnonzero(query == QID)
        query_weight = None if weight is None else weight[rows]
        chosen = chosen_weights(scores[rows], LABELS[rows], query_weight, risk)
        line = reference.pair_ramp(scores[rows], LABELS[rows], chosen, 1.0, width)
        slope[rows] += line[0] / 2.0
        offset += line[1] / 2.0
    return slope, offset


@given(any_scores, any_scores, smoothable_risks, weights, widths)
def test_smoothed_line_is_the_definition_and_below_the_risk(
    here, there, risk, weight, width
):
    per_query = risk.bind(LABELS, weight, QID)
    line = per_query.smoothed(here, width=width)
    assert line.value == per_query.value(here)
    if width > 1e-3:  # else rounding decides on which side of a kink a pair is
        slope, offset = smoothed_by_hand(risk, here, weight, width)
        np.testing.assert_allclose(line.subgradient, slope, rtol=1e-9, atol=1e-10)
        assert line.offset == pytest.approx(offset, rel=1e-9, abs=1e-10)
    for scores in (here, there):
        height = line.offset + line.subgradient @ scores
        above = per_query.value(scores)
        assert height <= above + 1e-9 * (1.0 + np.abs(scores).max())


@pytest.mark.parametrize("risk", RISKS[:3], ids=str)
def test_curvature_is_the_derivative_of_the_smoothed_slope(risk):
    generator = np.random.default_rng(0)
    scores, labels = generator.normal(size=90), generator.random(90) < 0.3
    weight, qid = generator.uniform(0.5, 2.0, size=90), generator.integers(5, size=90)
    per_query = risk.bind(labels, weight, qid)
    step = 1e-6 * generator.normal(size=90)
    after = per_query.smoothed(scores + step, width=2.0).subgradient
    before = per_query.smoothed(scores - step, width=2.0).subgradient
    form = per_query.curvature(scores, width=2.0)
    expected = form(np.eye(90)) @ (2.0 * step)
    np.testing.assert_allclose(after - before, expected, atol=1e-5 * np.abs(step).max())


def test_a_risk_that_depends_on_the_order_cannot_be_smoothed():
    for risk in RISKS:
        per_query, scores = risk.bind(LABELS, queries=QID), np.zeros(SIZE)
        assert per_query.can_be_smoothed is risk.rank_box().is_choice_of_rows
        if not per_query.can_be_smoothed:
            for method in (per_query.smoothed, per_query.curvature):
                with pytest.raises(IncompatibleError, match="cannot be smoothed"):
                    method(scores, width=1.0)


def drawn(qid, labels, weight, rows_per_class):
    generator = np.random.default_rng(0)
    per_query = PartialHinge().bind(labels, weight, qid)
    rows = per_query.draw_rows(rows_per_class, generator)
    assert len(set(rows)) == rows.size
    assert per_query.at_rows(rows).n_skipped == 0
    return rows


def test_a_sample_has_rows_of_whole_small_queries_with_pairs():
    generator = np.random.default_rng(0)
    qid, labels = np.repeat(np.arange(400), 10), generator.random(4000) < 0.3
    weight = np.where(generator.random(4000) < 0.1, 0.0, 1.0)
    rows = drawn(qid, labels, weight, 150)
    assert (weight[rows] > 0.0).all()
    assert 150 <= labels[rows].sum() <= 160
    whole = np.flatnonzero(np.isin(qid, qid[rows]) & (weight > 0.0))
    np.testing.assert_array_equal(rows, whole)


def test_a_sample_has_a_part_of_each_large_query():
    qid, labels = np.arange(9000) % 3, np.arange(9000) % 4 == 0
    rows = drawn(qid, labels, None, 300)
    counts = np.bincount(2 * qid[rows] + labels[rows])
    np.testing.assert_array_equal(counts, np.full(6, 100))


def test_a_sample_takes_all_where_there_is_no_more():
    rows = drawn(QID, LABELS, None, 1000)
    np.testing.assert_array_equal(rows, np.flatnonzero((QID == 1) | (QID == 7)))


@given(tied_scores, risks, st.integers(-1000, 1000))
def test_a_constant_added_to_one_query_changes_nothing(scores, risk, constant):
    per_query = risk.bind(LABELS, queries=QID)
    value, slope = per_query.value_and_gradient(scores)
    moved, moved_slope = per_query.value_and_gradient(scores + constant * (QID == 7))
    assert moved == pytest.approx(value, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(moved_slope, slope, atol=1e-10)


@given(any_scores)
def test_risk_is_at_least_one_minus_the_mean_auc_of_queries(scores):
    value = PartialHinge((0, 0.5)).bind(LABELS, queries=QID).value(scores)
    area = partial_auc_score(LABELS, scores, fpr_range=(0, 0.5), qid=QID)
    assert value >= 1.0 - area - 1e-10


def test_queries_with_one_class_are_counted_and_contribute_nothing():
    per_query = PartialHinge().bind(LABELS, queries=QID)
    assert (per_query.n_queries, per_query.n_skipped) == (4, 2)
    # without weight, query 1 has no positives any more
    weight = np.where((QID == 1) & LABELS, 0.0, 1.0)
    per_query = PartialHinge().bind(LABELS, weight, QID)
    assert per_query.n_skipped == 3
    scores = np.linspace(-1.0, 2.0, SIZE)
    value, slope = per_query.value_and_gradient(scores)
    assert (slope[QID != 7] == 0.0).all()
    rows = QID == 7
    assert value == pytest.approx(PartialHinge().bind(LABELS[rows]).value(scores[rows]))


def test_queries_without_any_pair_are_rejected():
    with pytest.raises(NotEnoughClassesError, match="None of the 14 queries has rows"):
        PartialHinge().bind(LABELS, queries=np.arange(SIZE))
    weight = LABELS.astype(float)
    with pytest.raises(NotEnoughClassesError, match="None of the 4 queries has rows"):
        PartialHinge().bind(LABELS, weight, QID)


@given(any_scores, st.sampled_from([0.5, 3.0]))
def test_a_margin_is_a_unit_of_the_scores(scores, margin):
    unit, risk = (PairHinge(m).bind(LABELS, queries=QID) for m in (1.0, margin))
    value, slope = unit.value_and_gradient(scores / margin)
    found, own_slope = risk.value_and_gradient(scores)
    assert found == pytest.approx(margin * value)
    np.testing.assert_array_equal(own_slope, slope)
    ours, theirs = (
        risk.smoothed(scores, width=1.0),
        unit.smoothed(scores / margin, width=1.0 / margin),
    )
    assert ours.offset == pytest.approx(margin * theirs.offset)
    form, scaled = (
        risk.curvature(scores, width=1.0),
        unit.curvature(scores / margin, width=1.0 / margin),
    )
    np.testing.assert_allclose(form(np.eye(SIZE)), scaled(np.eye(SIZE)) / margin)


def test_risks_of_all_rows_take_no_queries():
    with pytest.raises(IncompatibleError, match=r"PairMargin .* not support queries"):
        PairMargin(1.0).bind(LABELS, queries=QID)
