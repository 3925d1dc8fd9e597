import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucmax._core.threshold import balanced_threshold

SIZE = 8
LABELS = np.array([True, False, True, False, False, True, False, False])
tied_scores = arrays(float, SIZE, elements=st.integers(-2, 2).map(float))
weights = st.one_of(
    st.none(), arrays(float, SIZE, elements=st.sampled_from([0.5, 1.0, 4.0]))
)


def balanced_accuracy(predicted, labels, weight):
    weight = np.ones(labels.size) if weight is None else weight
    hits = weight * (predicted == labels)
    return sum(
        hits[rows].sum() / weight[rows].sum() / 2.0 for rows in (labels, ~labels)
    )


@given(tied_scores, weights)
def test_no_threshold_has_a_better_balanced_accuracy(scores, weight):
    chosen = balanced_threshold(scores, LABELS, weight)
    reached = balanced_accuracy(scores > chosen, LABELS, weight)
    # all rows positive, each cut, and none
    candidates = [-np.inf, *np.unique(scores)]
    best = max(balanced_accuracy(scores > c, LABELS, weight) for c in candidates)
    assert reached == pytest.approx(best)


def test_threshold_lies_halfway_between_the_scores_that_it_separates():
    scores, labels = np.array([3.0, 1.0, 0.0]), np.array([True, False, False])
    assert balanced_threshold(scores, labels) == 2.0


def test_threshold_does_not_depend_on_how_rare_the_positives_are():
    scores = np.array([3.0, 2.0, 1.0, 0.0])
    labels = np.array([True, False, True, False])
    repeats = np.where(labels, 1, 1000)
    often = balanced_threshold(np.repeat(scores, repeats), np.repeat(labels, repeats))
    assert often == balanced_threshold(scores, labels)
