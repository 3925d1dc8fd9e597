import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from aucmax.inference import auc_interval
from aucmax.plots import LearningCurveDisplay


def test_each_size_has_the_auc_of_its_scores(sample, ax):
    labels, good, poor = sample
    display = LearningCurveDisplay.from_predictions(
        labels, {500: good, 100: poor}, ax=ax
    )
    assert display.n_rows == [100, 500]
    assert display.areas == [auc_interval(labels, poor), auc_interval(labels, good)]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["100", "500"]
    assert "tested on 400 rows" in ax.get_title()


class Remembering(LogisticRegression):
    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append((np.asarray(X)[:, 0], np.asarray(y)))
        return super().fit(X, y)


@pytest.mark.parametrize("kind", [np.asarray, pl.DataFrame])
def test_samples_grow_within_each_other_and_never_meet_the_test_rows(kind, ax):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] + rng.normal(size=600) > 1.2, "yes", "no")
    Remembering.seen.clear()
    display = LearningCurveDisplay.from_estimator(Remembering(), kind(X), y, ax=ax)
    sizes = [values.size for values, _ in Remembering.seen]
    assert sizes == list(display.n_rows) == [52, 105, 210, 420]
    for (few, _), (more, _) in zip(
        Remembering.seen, Remembering.seen[1:], strict=False
    ):
        assert set(few) <= set(more)
    for _, labels in Remembering.seen:
        assert abs((labels == "yes").mean() - (y == "yes").mean()) < 0.02
    assert display.n_test == 180
    assert display.areas[-1].auc > 0.7


def test_sizes_that_cannot_be_are_refused(sample, ax):
    labels, good, _ = sample
    X = good[:, None]
    fit = LearningCurveDisplay.from_estimator
    with pytest.raises(ValueError, match="only 280 rows"):
        fit(LogisticRegression(), X, labels, n_rows=[100, 300], ax=ax)
    with pytest.raises(ValueError, match="too few"):
        fit(LogisticRegression(), X, labels, n_rows=[3], ax=ax)
    with pytest.raises(ValueError, match="empty"):
        LearningCurveDisplay.from_predictions(labels, {}, ax=ax)
