import numpy as np
import pytest
from hypothesis import given

from aucmax.inference import influence
from aucmax.inference.influence import influences
from aucmax.metrics import partial_auc_score
from aucmax.metrics._steps import check_task
from metrics.samples import samples

BOXES = [
    (0.0, 1.0, 0.0, 1.0),
    (0.0, 0.137, 0.0, 1.0),
    (0.211, 0.583, 0.0, 1.0),
    (0.0, 0.31, 0.27, 0.83),
    (0.07, 1.0, 0.6, 1.0),
]


def rows(n_rows=40, seed=0):
    generator = np.random.default_rng(seed)
    labels = generator.random(n_rows) < 0.4
    return labels, generator.normal(size=n_rows) + labels


def score(labels, scores, weights, box):
    return partial_auc_score(
        labels, scores, fpr_range=box[:2], tpr_range=box[2:], sample_weight=weights
    )


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_influences_are_derivatives_by_the_weight_of_a_row(box, seed, is_weighted):
    labels, scores = rows(seed=seed)
    generator = np.random.default_rng(seed)
    weights = np.ones(labels.size)
    if is_weighted:
        weights = generator.uniform(0.5, 2.0, labels.size)
    task = check_task(labels, scores, weights if is_weighted else None)
    result = np.empty(labels.size)
    result[labels], result[~labels] = influences(task, box)
    for members in (labels, ~labels):
        share = weights[members] / weights[members].sum()
        centred = result[members] - share @ result[members]
        for row, expected in zip(np.flatnonzero(members), centred, strict=True):
            step = 1e-6 * np.eye(labels.size)[row]
            rise = score(labels, scores, weights + step, box) - score(
                labels, scores, weights - step, box
            )
            slope = rise / 2e-6 * weights[members].sum()
            assert slope == pytest.approx(expected, abs=1e-6)


@pytest.mark.kernel
@given(samples(max_rows=24, weights=True))
def test_many_rows_have_the_same_shares(sample):
    labels, scores, weights, _ = sample
    with pytest.MonkeyPatch.context() as patch:
        for weight in (None, weights):
            task = check_task(labels == labels[0], scores, weight)
            patch.setattr(influence, "_MANY", 2**14)
            expected = influences(task)
            patch.setattr(influence, "_MANY", 1)
            for result, values in zip(influences(task), expected, strict=True):
                np.testing.assert_allclose(result, values, atol=1e-12)
