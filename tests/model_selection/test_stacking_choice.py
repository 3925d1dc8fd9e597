from dataclasses import replace

import numpy as np
import pytest

from aucmax.model_selection import stacking
from aucmax.model_selection.stacking import best_single, combine, stacked
from model_selection.ranked_samples import ranked


def blocks_of(rows):
    return [np.flatnonzero(rows.folds == k) for k in range(rows.folds.max() + 1)]


def test_a_stack_of_different_models():
    rows = ranked([0.7, 0.7, None])
    found = combine(rows, blocks_of(rows))
    assert found.combiner == "stack"
    np.testing.assert_array_equal(found.weights, stacked(rows))
    np.testing.assert_array_equal(found.scores, rows.logits @ found.weights)


def test_honest_scores_come_from_weights_of_other_blocks():
    rows = ranked([0.5, 1.0, 2.0])
    found = combine(rows, blocks_of(rows))
    for block in blocks_of(rows):
        others = np.setdiff1d(np.arange(rows.labels.size), block)
        weights = stacked(rows.take(others))
        np.testing.assert_allclose(
            found.honest_scores[block], rows.logits[block] @ weights
        )


def test_labels_of_a_block_do_not_touch_its_honest_scores():
    rows = ranked([0.5, 1.0, 2.0])
    first = blocks_of(rows)[0]
    labels = rows.labels.copy()
    labels[first] = labels[first][::-1]
    other = replace(rows, target=replace(rows.target, labels=labels.astype(int)))
    before = combine(rows, blocks_of(rows)).honest_scores[first]
    after = combine(other, blocks_of(rows)).honest_scores[first]
    np.testing.assert_array_equal(before, after)


def test_a_single_model_replaces_a_stack_that_is_clearly_worse(monkeypatch):
    rows = ranked([0.1, 3.0])
    bad = {"stack": lambda _: np.array([0.0, 1.0]), "best single model": best_single}
    monkeypatch.setattr(stacking, "COMBINERS", bad)
    found = combine(rows, blocks_of(rows))
    assert found.combiner == "best single model"
    np.testing.assert_array_equal(found.weights, [1.0, 0.0])


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_few_blocks_are_enough(n_blocks):
    rows = ranked([1.0, 2.0], n_rows=20, n_folds=1)
    blocks = np.array_split(np.arange(20), n_blocks)
    assert np.isfinite(combine(rows, blocks).honest_scores).all()


def test_a_compact_stack_has_the_fewest_models_of_most_weight():
    rows = ranked([0.7, 0.8, 1.0, 2.0, 4.0, None])
    whole, few = stacked(rows), stacked(replace(rows, share=0.8))
    kept = few > 0.0
    assert 0 < kept.sum() < (whole > 0.0).sum()
    assert whole[kept].sum() >= 0.8
    assert whole[kept].sum() - whole[kept].min() < 0.8
    assert whole[kept].min() >= whole[~kept].max()
    np.testing.assert_allclose(few[kept], whole[kept] / whole[kept].sum())


def test_the_estimate_of_a_compact_stack_is_its_own():
    rows = replace(ranked([0.7, 0.8, 1.0, 2.0]), share=0.6)
    found = combine(rows, blocks_of(rows))
    for block in blocks_of(rows):
        others = np.setdiff1d(np.arange(rows.labels.size), block)
        weights = stacked(rows.take(others))
        assert np.count_nonzero(weights) < 4
        np.testing.assert_allclose(
            found.honest_scores[block], rows.logits[block] @ weights
        )
