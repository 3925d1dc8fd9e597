import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import average_precision_score

from aucmax.exceptions import NotEnoughClassesError
from aucmax.risks import SmoothAveragePrecision

pytestmark = pytest.mark.kernel

LABELS = np.array([1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0])
SIZE = LABELS.size
# scattered; query 3 has negatives alone, query 5 one row, the others both classes
QID = np.array([7, 7, 1, 1, 1, 7, 7, 7, 3, 3, 1, 5, 1, 7, 7, 1])

scores_of_any_size = st.one_of(
    arrays(float, SIZE, elements=st.integers(-4, 4).map(lambda k: k / 2.0)),
    arrays(float, SIZE, elements=st.floats(-3.0, 3.0)),
    arrays(float, SIZE, elements=st.floats(-1e300, 1e300)),
)
some_weights = st.one_of(
    st.none(),
    arrays(float, SIZE, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 1e-8, 1e8])).map(
        lambda weight: np.r_[1.0, 1.0, weight[2:]]
    ),
)
some_widths = st.sampled_from([0.3, 1.0, 30.0, 1e-100, 1e300])


def of_one_query(scores, positive, weight, width):
    """Return value, gradient and curvature by the matrix of all pairs."""
    with np.errstate(over="ignore"):
        distances = (scores[None, :] - scores[:, None]) / width
        z = np.exp(-np.abs(distances))
    shares = np.where(distances >= 0.0, 1.0, z) / (1.0 + z)
    np.fill_diagonal(shares, 1.0)
    slopes = z / (1.0 + z) ** 2
    np.fill_diagonal(slopes, 0.0)
    rank = shares @ weight
    among_positives = shares @ (weight * positive)
    among_negatives = shares @ (weight * ~positive)
    mean = np.where(positive, weight, 0.0) / weight[positive].sum()
    used = mean > 0.0
    value = float((mean[used] * among_negatives[used] / rank[used]).sum())
    gain = np.zeros((scores.size, scores.size))  # of rank i by the score of row j
    for i in np.flatnonzero(used):
        change = np.where(positive, -among_negatives[i], among_positives[i])
        gain[i] = mean[i] * change * weight * slopes[i] / rank[i] ** 2
    gradient = gain.sum(axis=0) - gain.sum(axis=1)
    curvature = np.abs(gain).sum(axis=0) + np.abs(gain).sum(axis=1)
    return value, gradient / width, curvature / width / (2.0 * width)


def literal(scores, labels, weight, qid, width):
    scores, positive = np.asarray(scores, float), np.asarray(labels) == 1
    weight = np.ones(scores.size) if weight is None else weight
    qid = np.zeros(scores.size) if qid is None else qid
    results = []
    for query in np.unique(qid):
        rows = np.flatnonzero((qid == query) & (weight > 0.0))
        if 0 < positive[rows].sum() < rows.size:
            parts = of_one_query(scores[rows], positive[rows], weight[rows], width)
            results.append((rows, parts))
    value, gradient, curvature = 0.0, np.zeros(scores.size), np.zeros(scores.size)
    for rows, parts in results:
        value += parts[0] / len(results)
        gradient[rows] = parts[1] / len(results)
        curvature[rows] = parts[2] / len(results)
    return value, gradient, curvature


@given(scores_of_any_size, some_weights, some_widths, st.sampled_from([None, QID]))
def test_value_gradient_and_curvature_are_the_definition(scores, weight, width, qid):
    risk = SmoothAveragePrecision(width, accuracy=1e-9)
    results = risk.bind(LABELS, weight, qid).value_gradient_hessian(scores)
    expected = literal(scores, LABELS, weight, qid, width)
    # relative: the negatives above the top positives may be far fewer than one row
    assert results[0] == pytest.approx(expected[0], rel=1e-7, abs=1e-300)
    np.testing.assert_allclose(results[2], expected[2], rtol=1e-7, atol=1e-300)
    rounding = 1e-7 * np.abs(expected[2]) * width + 1e-300  # terms of both signs add up
    assert (np.abs(results[1] - expected[1]) <= rounding).all()


def test_many_rows_are_the_definition():
    generator = np.random.default_rng(0)
    labels = generator.random(1200) < 0.05
    scores = generator.normal(size=1200).round(2) + labels
    results = SmoothAveragePrecision().bind(labels).value_gradient_hessian(scores)
    expected = literal(scores, labels, None, None, 0.3)
    assert results[0] == pytest.approx(expected[0], rel=4e-7)
    np.testing.assert_allclose(results[2], expected[2], rtol=1e-6)


def test_the_gradient_is_the_slope_of_the_value():
    generator = np.random.default_rng(1)
    scores, labels = generator.normal(size=60), np.arange(60) % 3 == 0
    risk = SmoothAveragePrecision(0.5, accuracy=1e-12).bind(labels)
    gradient = risk.value_and_gradient(scores)[1]
    for row in range(0, 60, 7):
        step = 1e-6 * np.eye(60)[row]
        rise = risk.value(scores + step) - risk.value(scores - step)
        assert gradient[row] == pytest.approx(rise / 2e-6, rel=1e-5, abs=1e-9)


def test_it_tends_to_one_less_the_average_precision():
    generator = np.random.default_rng(2)
    labels = generator.random(500) < 0.1
    scores = generator.normal(size=500) + labels
    weight = generator.random(500) + 0.5
    sharp = SmoothAveragePrecision(1e-9).bind(labels).value(scores)
    assert sharp == pytest.approx(1.0 - average_precision_score(labels, scores))
    sharp = SmoothAveragePrecision(1e-9).bind(labels, weight).value(scores)
    expected = average_precision_score(labels, scores, sample_weight=weight)
    assert sharp == pytest.approx(1.0 - expected)


def test_ties_count_one_half():
    risk = SmoothAveragePrecision().bind([1, 1, 0, 0, 0, 0])
    assert 1.0 - risk.value(np.zeros(6)) == pytest.approx(1.5 / 3.5)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ({"width": 0.0}, "width must be positive and finite, got 0.0"),
        ({"width": np.inf}, "width must be positive"),
        ({"width": 1e-200}, "width must be at least 1e-150"),
        ({"accuracy": 0.5}, "accuracy must"),
    ],
)
def test_bad_parameters_are_named(kind, message):
    with pytest.raises(ValueError, match=message):
        SmoothAveragePrecision(**kind).bind([0, 1, 1])


def test_one_class_is_rejected():
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        SmoothAveragePrecision().bind([1, 1, 1])
    with pytest.raises(NotEnoughClassesError, match="None of the 3 queries"):
        SmoothAveragePrecision().bind([0, 1, 1], queries=[1, 2, 3])
    with pytest.raises(NotEnoughClassesError, match="weight 0"):
        SmoothAveragePrecision().bind([0, 1, 1], [0.0, 1.0, 1.0])
