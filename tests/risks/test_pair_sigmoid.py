import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import partial_auc_score
from aucmax.risks import PairSigmoid
from reference_pair_sigmoid import pair_sigmoid

pytestmark = pytest.mark.kernel

LABELS = np.array([1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0])
SIZE = LABELS.size
# scattered; query 3 has negatives alone, query 5 one row, the others both classes
QID = np.array([7, 7, 1, 1, 1, 7, 7, 7, 3, 3, 1, 5, 1, 7, 7, 1])
TOLERANCE = 1.01e-7

SPECIAL = [1e-300, -1e-300, 1e300, -1e300, 0.0, -0.0, 1.0, -2.5, 5e-324]
scores_of_any_size = st.one_of(
    arrays(float, SIZE, elements=st.integers(-4, 4).map(lambda k: k / 2.0)),
    arrays(float, SIZE, elements=st.floats(-3.0, 3.0)),
    arrays(float, SIZE, elements=st.floats(-1e300, 1e300)),
    arrays(float, SIZE, elements=st.sampled_from(SPECIAL)),
)
# no ties: there the curve is a slope, which cuts a range otherwise than pairs do
distinct_scores = st.permutations(range(SIZE)).map(lambda order: np.array(order) / 8.0)
some_weights = st.one_of(
    st.none(),
    arrays(float, SIZE, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 1e-8, 1e8])).map(
        lambda weight: np.r_[1.0, 1.0, weight[2:]]
    ),
)
some_ranges = st.sampled_from(
    [(0.0, 1.0), (0.0, 0.25), (0.0, 0.13), (0.07, 0.61), (0.5, 1.0), (0.31, 0.32)]
)
parameters = st.fixed_dictionaries(
    {
        "fpr_range": some_ranges,
        "tpr_range": some_ranges,
        "tau": st.sampled_from([1.0, 0.1, 30.0, 1e-300, 1e300]),
    }
)


def assert_is_the_definition(kind, scores, labels, qid=None, weight=None):
    """The value and each derivative to 1e-7 of themselves, of weighted rows to 2e-7."""
    value, gradient = (
        PairSigmoid(**kind).bind(labels, weight, qid).value_and_gradient(scores)
    )
    expected, slopes = pair_sigmoid(scores, labels, qid, weight, **kind)
    # rows at the ends of a range count in part, by sums that round
    rounding = 1e-12 * max(expected, 1e-3) if weight is not None else 1e-15
    assert value == pytest.approx(expected, rel=TOLERANCE, abs=rounding)
    floor = 1e-12 * np.abs(slopes).max() + 1e-300
    tolerance = TOLERANCE if weight is None else 2.0 * TOLERANCE
    np.testing.assert_allclose(gradient, slopes, rtol=tolerance, atol=floor)


@given(parameters, scores_of_any_size, some_weights)
def test_value_and_gradient_are_the_definition(kind, scores, weight):
    assert_is_the_definition(kind, scores, LABELS, None, weight)


@given(parameters, scores_of_any_size, some_weights)
def test_queries_are_averaged_and_those_of_one_class_left_out(kind, scores, weight):
    assert_is_the_definition(kind, scores, LABELS, QID, weight)


@given(distinct_scores, some_ranges, some_ranges)
def test_the_risk_tends_to_one_less_the_partial_auc(scores, fpr_range, tpr_range):
    ranges = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    limit = 1.0 - partial_auc_score(LABELS, scores, **ranges)
    value = PairSigmoid(**ranges, tau=1e-300).bind(LABELS).value(scores)
    assert value == pytest.approx(limit, abs=1e-6)


@pytest.mark.parametrize("kind", [{}, {"fpr_range": (0.1, 0.6), "tau": 0.3}])
def test_the_gradient_is_the_slope_of_the_value(kind):
    generator = np.random.default_rng(1)
    scores, labels = generator.normal(size=60), np.arange(60) % 3 == 0
    risk = PairSigmoid(**kind, accuracy=1e-12)
    gradient = risk.bind(labels).value_and_gradient(scores)[1]
    for row in range(0, 60, 7):
        step = 1e-6 * np.eye(60)[row]
        rise = risk.bind(labels).value(scores + step) - risk.bind(labels).value(
            scores - step
        )
        assert gradient[row] == pytest.approx(rise / 2e-6, rel=1e-5, abs=1e-9)


def test_constants_and_weights_as_repetition():
    generator = np.random.default_rng(3)
    scores, weight = generator.normal(size=SIZE), generator.integers(1, 4, SIZE)
    risk = PairSigmoid((0.05, 0.4), tpr_range=(0.1, 0.9), tau=0.5)
    value, gradient = risk.bind(LABELS, weight).value_and_gradient(scores)
    moved, _ = risk.bind(LABELS, weight).value_and_gradient(scores + 3.0)
    assert moved == pytest.approx(value, rel=1e-9)
    rows = np.repeat(np.arange(SIZE), weight)
    repeated, slopes = risk.bind(LABELS[rows]).value_and_gradient(scores[rows])
    assert repeated == pytest.approx(value, rel=1e-9)
    summed = np.bincount(rows, slopes)
    np.testing.assert_allclose(summed, gradient, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ({"tau": 0.0}, "tau must be positive and finite, got 0.0"),
        ({"tau": np.inf}, "tau must be positive"),
        ({"tau": 1e-310}, "tau must be at least 1e-300"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters_are_named_in_use_and_not_before(kind, message):
    risk = clone(PairSigmoid(**kind))
    with pytest.raises(ValueError, match=message):
        risk.bind([0, 1, 1]).value(np.arange(3.0))


def test_one_class_is_rejected():
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        PairSigmoid().bind([1, 1, 1]).value(np.arange(3.0))
    with pytest.raises(NotEnoughClassesError, match="None of the 3 queries"):
        PairSigmoid().bind([0, 1, 1], queries=[1, 2, 3]).value(np.arange(3.0))
