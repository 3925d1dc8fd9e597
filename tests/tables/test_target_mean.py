import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

from aucmax import AutoRanker
from aucmax.metrics import roc_auc_score
from aucmax.tables import TableEncoder

N_ROWS = 2000


@pytest.fixture
def cities():
    generator = np.random.default_rng(0)
    city = generator.integers(0, 200, size=N_ROWS)
    labels = generator.normal(size=200)[city] + generator.normal(size=N_ROWS) > 0.5
    return pl.DataFrame({"city": [f"c{k}" for k in city]}), labels.astype(int)


def shares(encoder, matrix):
    """The column of shares, on its own scale."""
    column = encoder.columns_[-1]
    assert column["kind"] == "target mean"
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return dense[:, -1] * column["deviation"] + column["overall"]


def test_new_rows_have_the_shares_of_scikit_learn(cities):
    frame, labels = cities
    encoder = TableEncoder().fit(frame, labels)
    theirs = TargetEncoder(target_type="binary").fit(frame.to_numpy(), labels)
    new = pl.DataFrame({"city": ["c7", "c199", "elsewhere", None]})
    expected = [*theirs.transform([["c7"], ["c199"]])[:, 0], *[labels.mean()] * 2]
    for matrix in (encoder.transform(new), encoder.matrix(new, "trees")):
        np.testing.assert_allclose(shares(encoder, matrix), expected)
    assert encoder.get_feature_names_out()[-1] == "city=(share of positives)"


@pytest.mark.parametrize("view", ["linear", "trees"])
def test_no_training_row_sees_its_own_label(cities, view):
    frame, labels = cities
    # nothing can be learned from these
    noise = np.random.default_rng(1).permutation(labels)
    encoder = TableEncoder().fit(frame, noise)
    as_new = shares(encoder, encoder.transform(frame))
    crossed = shares(encoder, encoder.training_rows(frame, noise, view))
    assert np.corrcoef(as_new, noise)[0, 1] > 0.15
    assert np.corrcoef(crossed, noise)[0, 1] < 0.05


def test_few_kinds_of_text_have_indicators_alone(cities):
    frame, labels = cities
    few = TableEncoder(max_categories=300, min_frequency=1).fit(frame, labels)
    assert [column["kind"] for column in few.columns_] == ["category"]
    unlabelled = TableEncoder().fit(frame)
    assert [column["kind"] for column in unlabelled.columns_] == ["category"]
    levels = TableEncoder().fit(frame, np.arange(N_ROWS) % 3)
    assert [column["kind"] for column in levels.columns_] == ["category"]


def test_a_pipeline_and_an_auto_ranker_rank_by_them(cities):
    frame, labels = cities
    train, test = slice(0, 1500), slice(1500, None)
    pipeline = make_pipeline(TableEncoder(), LogisticRegression())
    for model in (pipeline, AutoRanker(models=["logistic"])):
        model.fit(frame[train], labels[train])
        scores = model.decision_function(frame[test])
        assert roc_auc_score(labels[test], scores) > 0.65


def test_one_row_of_a_class_leaves_the_share_of_all():
    frame = pl.DataFrame({"city": [f"c{k % 70}" for k in range(200)]})
    labels = (np.arange(200) == 3).astype(int)
    encoder = TableEncoder().fit(frame, labels)
    rows = encoder.training_rows(frame, labels, "linear")
    np.testing.assert_allclose(shares(encoder, rows), 1 / 200)
