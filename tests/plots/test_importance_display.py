import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucmax.inspection import permutation_importance
from aucmax.plots import ImportanceDisplay


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).normal(size=(600, 4))
    y = 2 * X[:, 1] + X[:, 3] > 1
    return LogisticRegression().fit(X[:300], y[:300]), X[300:], y[300:]


def test_bars_are_the_drops_from_the_largest_down(fitted, ax):
    display = ImportanceDisplay.from_estimator(*fitted, n_repeats=2, ax=ax)
    expected = permutation_importance(*fitted, n_repeats=2)
    assert [bar.get_width() for bar in display.bars_] == expected.drop.tolist()
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == expected.column
    assert names[:2] == ["x1", "x3"]
    assert f"AUC {expected.value:.3f}" in ax.get_title()


def test_the_label_counts_what_is_left_out(fitted, ax):
    display = ImportanceDisplay.from_estimator(
        *fitted, n_repeats=1, max_columns=2, ax=ax
    )
    assert len(display.bars_) == 2
    assert "2 more columns" in ax.get_xlabel()
