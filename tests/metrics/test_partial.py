import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score as sklearn_roc_auc_score

import reference
from aucmax.metrics import partial_auc_score, roc_auc_score
from drawing import fewer_examples
from metrics.samples import samples, tied

pytestmark = pytest.mark.kernel


@pytest.fixture(autouse=True, scope="module")
def _rows_are_many():
    """Take the loops that are compiled for many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aucmax.metrics._steps._MANY", 1)
        yield


# ends on rows and within them: tenths, quarters, thirds, sevenths, and what is between
ranges = (
    st.tuples(st.integers(0, 840), st.integers(0, 840))
    .filter(lambda ends: ends[0] != ends[1])
    .map(lambda ends: tuple(sorted(end / 840 for end in ends)))
)


@given(samples(weights=True), ranges, ranges)
def test_area_is_that_of_the_box_under_the_curve(sample, fpr_range, tpr_range):
    y, scores, weights, _ = sample
    expected = reference.partial_auc(y, scores, fpr_range, tpr_range, weights)
    value = partial_auc_score(
        y,
        scores,
        fpr_range=fpr_range,
        tpr_range=tpr_range,
        sample_weight=weights,
        standardize="area",
    )
    assert value == pytest.approx(expected, abs=1e-12)


@given(ranges, st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_mean_is_the_rank_weighted_share_of_pairs(fpr_range, p, n, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(p + n) < p)
    scores = rng.permutation(p + n)
    assert partial_auc_score(y, scores, fpr_range=fpr_range) == pytest.approx(
        reference.partial_auc_by_ranks(y, scores, fpr_range), abs=1e-11
    )


@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_fpr", [0.003, 0.1, 0.5, 1 / 3])
def test_mcclish_is_equal_to_scikit_learn(max_fpr, weighted, decimals):
    rng = np.random.default_rng(1)
    y = rng.random(1500) < 0.2
    scores = np.round(rng.normal(size=y.size) + y, decimals)
    weights = rng.random(y.size) if weighted else None
    expected = sklearn_roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=weights)
    value = partial_auc_score(
        y,
        scores,
        fpr_range=(0, max_fpr),
        sample_weight=weights,
        standardize="mcclish",
    )
    assert value == pytest.approx(expected, abs=1e-12)


@fewer_examples
@given(samples(weights=True))
def test_the_whole_square_is_the_auc(sample):
    y, scores, weights, _ = sample
    auc = roc_auc_score(y, scores, sample_weight=weights)
    for standardize in ("mean", "area", "mcclish"):
        value = partial_auc_score(
            y, scores, sample_weight=weights, standardize=standardize
        )
        assert value == pytest.approx(auc, abs=1e-14)


@fewer_examples
@given(samples(), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_areas_of_adjacent_boxes_add_up(sample, fpr, tpr):
    y, scores, _, _ = sample
    areas = [
        partial_auc_score(
            y, scores, fpr_range=columns, tpr_range=rows, standardize="area"
        )
        for columns in ((0, fpr), (fpr, 1))
        for rows in ((0, tpr), (tpr, 1))
    ]
    assert sum(areas) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


@fewer_examples
@given(samples(elements=tied), ranges, ranges)
def test_swapping_classes_and_signs_swaps_the_axes(sample, fpr_range, tpr_range):
    # the curve mirrored at the other diagonal: fpr becomes 1 - tpr, and swapped
    y, scores, _, _ = sample

    def mirrored(ends):
        return (1 - ends[1], 1 - ends[0])

    plain = partial_auc_score(y, scores, fpr_range=fpr_range, tpr_range=tpr_range)
    swapped = partial_auc_score(
        1 - y, -scores, fpr_range=mirrored(tpr_range), tpr_range=mirrored(fpr_range)
    )
    assert swapped == pytest.approx(plain, abs=1e-9)


@fewer_examples
@given(ranges, ranges)
def test_a_perfect_ranking_is_one_and_its_reverse_zero(fpr_range, tpr_range):
    y = np.array([0, 0, 0, 1, 1])
    scores = np.arange(5.0)
    options = {"fpr_range": fpr_range, "tpr_range": tpr_range}
    assert partial_auc_score(y, scores, **options) == pytest.approx(1.0, abs=1e-12)
    assert partial_auc_score(y, -scores, **options) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "bad", [(0.5, 0.5), (0.6, 0.4), (-0.1, 1), (0, 2), (0, np.nan)]
)
@pytest.mark.parametrize("name", ["fpr_range", "tpr_range"])
def test_a_bad_range_is_rejected(name, bad):
    with pytest.raises(ValueError, match=f"{name} must satisfy 0 <= low < high <= 1"):
        partial_auc_score([0, 1], [1, 2], **{name: bad})


def test_mcclish_is_rejected_for_a_box_below_the_diagonal():
    with pytest.raises(ValueError, match="above the diagonal"):
        partial_auc_score(
            [0, 1],
            [1, 2],
            fpr_range=(0.5, 1),
            tpr_range=(0, 0.3),
            standardize="mcclish",
        )
