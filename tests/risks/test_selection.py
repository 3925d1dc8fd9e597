import numpy as np
import pytest

from aucmax.risks._pairs.class_rows import ClassRows, SmoothChoice, weighted_top
from reference_partial import range_weights

pytestmark = pytest.mark.kernel

KINDS = {
    "spread": lambda generator, n: generator.normal(size=n),
    "tied": lambda generator, n: generator.integers(-3, 4, n).astype(float),
    "constant": lambda generator, n: np.full(n, -2.5),
    "outliers": lambda generator, n: np.r_[1e9, -1e9, generator.normal(size=n - 2)],
}


@pytest.mark.parametrize("share", [1e-6, 0.1, 0.5, 1 - 1e-12])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_keys_above_the_cut_weigh_the_amount(kind, weighted, share):
    generator = np.random.default_rng(0)
    n = 1500
    keys = KINDS[kind](generator, n)
    weights = generator.choice([0.25, 1.0, 4.0], n) if weighted else np.ones(n)
    amount = share * weights.sum()
    cut = weighted_top(keys, weights if weighted else None, amount)
    assert cut.threshold in keys
    np.testing.assert_allclose(
        weights * cut.shares(keys),
        range_weights(keys, weights, amount),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("width", [1e-3, 0.5, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", [1, -1])
def test_smooth_shares_weigh_the_amount_and_no_more(side, kind, weighted, width):
    generator = np.random.default_rng(1)
    n = 700
    values = KINDS[kind](generator, n)
    weights = generator.choice([0.25, 1.0, 4.0], n) if weighted else None
    class_rows = ClassRows(np.arange(n), values, weights, side)
    amount = 0.3 * class_rows.total_weight
    choice = SmoothChoice.from_class(class_rows, 0.3, width)
    rows = choice.chosen.rows
    all_weights = np.ones(n) if weights is None else weights
    shares = choice.chosen.weights / all_weights[rows]
    np.testing.assert_array_equal(choice.chosen.values, values[rows])
    assert (np.diff(choice.chosen.values) >= 0.0).all()
    assert choice.exact.sum() == pytest.approx(amount, rel=1e-9)
    assert choice.chosen.weights.sum() <= amount * (1.0 + 1e-9)
    assert ((shares >= 0.0) & (shares <= 1.0)).all()
    if np.abs(values).max() < 1e6:  # float64 resolves thresholds
        assert choice.chosen.weights.sum() == pytest.approx(amount, rel=1e-12)
        ramp = (side * values[rows] - choice.threshold) / width + 0.5
        np.testing.assert_allclose(shares, np.clip(ramp, 0.0, 1.0), atol=1e-7)
        left_out = np.setdiff1d(np.arange(n), rows)
        assert (side * values[left_out] <= choice.threshold - width / 2.0).all()
