import numpy as np
import pytest
from sklearn import metrics as theirs

from aucmax import metrics
from aucmax.metrics import top_of_list

WITH_NUMBER = {
    "recall_at_fpr": {"fpr": 0.3},
    "recall_at_precision": {"precision": 0.6},
    "precision_at_recall": {"recall": 0.5},
    "recall_at_k": {"k": 5},
    "lift_at_k": {"k": 5},
}
ALL = ["average_precision_score", "ks_statistic", "gini", *WITH_NUMBER]


def literal(name, y, scores, weight, **number):
    """The metric by its definition, threshold by threshold."""
    positive, total = weight[y].sum(), weight.sum()
    if name in ("recall_at_k", "lift_at_k"):
        k, hits, size = number["k"], 0.0, 0.0
        for row, score in enumerate(scores):
            above, tied = (scores > score).sum(), (scores == score).sum()
            share = np.clip((k - above) / tied, 0.0, 1.0)
            hits += share * weight[row] * y[row]
            size += share * weight[row]
        return (
            hits / positive if name == "recall_at_k" else hits / size * total / positive
        )
    result, best, last = 0.0, 0.0, 0.0
    for cut in sorted(set(scores), reverse=True):
        above = scores >= cut
        recall = weight[above & y].sum() / positive
        fpr = weight[above & ~y].sum() / (total - positive)
        precision = weight[above & y].sum() / weight[above].sum()
        result += (recall - last) * precision
        last = recall
        value, is_allowed = {
            "ks_statistic": (recall - fpr, True),
            "recall_at_fpr": (recall, fpr <= number.get("fpr", 0) + 1e-12),
            "recall_at_precision": (
                recall,
                precision >= number.get("precision", 0) - 1e-12,
            ),
            "precision_at_recall": (
                precision,
                recall >= number.get("recall", 0) - 1e-12,
            ),
        }.get(name, (0.0, True))
        best = max(best, value) if is_allowed else best
    return result if name == "average_precision_score" else best


@pytest.mark.parametrize("name", [name for name in ALL if name != "gini"])
@pytest.mark.parametrize("seed", range(20))
def test_values_are_the_definition(name, seed):
    rng = np.random.default_rng(seed)
    y = rng.random(30) < 0.3
    y[:2] = True, False
    scores = rng.integers(0, 12, 30).astype(float) + 3.0 * y
    weight = np.ones(30) if seed % 2 else rng.choice([0.5, 1.0, 3.0], 30)
    number = WITH_NUMBER.get(name, {})
    result = getattr(top_of_list, name)(y, scores, sample_weight=weight, **number)
    assert result == pytest.approx(literal(name, y, scores, weight, **number))


def test_average_precision_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, scores = rng.random(2000) < 0.1, rng.normal(size=2000).round(1)
    weight = rng.random(2000)
    for given in (None, weight):
        expected = theirs.average_precision_score(y, scores, sample_weight=given)
        result = metrics.average_precision_score(y, scores, sample_weight=given)
        assert result == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_queries_are_measured_one_by_one(name):
    rng = np.random.default_rng(1)
    y, scores = rng.random(60) < 0.4, rng.integers(0, 9, 60).astype(float)
    qid = np.repeat([3, 1, 2], 20)
    number = WITH_NUMBER.get(name, {})
    metric = getattr(top_of_list, name)
    each = [metric(y[qid == q], scores[qid == q], **number) for q in (1, 2, 3)]
    result = metric(y, scores, qid=qid, average=None, **number)
    np.testing.assert_allclose(result, each)
    assert metric(y, scores, qid=qid, **number) == pytest.approx(np.mean(each))
    # a query without positives has no value, and the mean leaves it out
    y[qid == 2] = False
    result = metric(y, scores, qid=qid, average=None, **number)
    assert np.isnan(result).tolist() == [False, True, False]
    expected = pytest.approx(np.mean([each[0], each[2]]))
    assert metric(y, scores, qid=qid, **number) == expected


def test_edges():
    y, scores = [1, 0, 0, 0], [1.0, 2.0, 3.0, 4.0]
    assert metrics.recall_at_fpr(y, scores, fpr=0.1) == 0.0
    assert metrics.recall_at_fpr(y, scores, fpr=1.0) == 1.0
    assert metrics.recall_at_precision(y, scores, precision=0.9) == 0.0
    assert metrics.recall_at_k(y, scores, k=100) == 1.0
    assert top_of_list.lift_at_k(y, scores, k=100) == 1.0
    constant = np.zeros(4)
    assert metrics.average_precision_score(y, constant) == 0.25
    assert metrics.recall_at_fpr(y, constant, fpr=0.5) == 0.0
    assert top_of_list.ks_statistic(y, constant) == 0.0
    # 0.1 * 10 negatives is one negative, rounding or not
    y, scores = [1] + [0] * 10, [5.0, 9.0, *np.arange(-9.0, 0.0)]
    assert metrics.recall_at_fpr(y, scores, fpr=0.1) == 1.0


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("recall_at_fpr", {"fpr": 1.5}, "fpr must"),
        ("recall_at_precision", {"precision": -0.1}, "precision must"),
        ("precision_at_recall", {"recall": np.nan}, "recall must"),
        ("recall_at_k", {"k": 0}, "k must"),
    ],
)
def test_bad_numbers_are_named(name, number, message):
    with pytest.raises(ValueError, match=message):
        getattr(top_of_list, name)([0, 1], [1.0, 2.0], **number)


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith("_k")])
def test_rows_of_weight_zero_do_not_count_not_even_at_the_top(name):
    rng = np.random.default_rng(3)
    y, scores = rng.random(30) < 0.4, rng.normal(size=30)
    weight = rng.choice([0.0, 1.0], 30)
    weight[np.argsort(scores)[-2:]] = 0.0
    metric, number = getattr(top_of_list, name), WITH_NUMBER.get(name, {})
    expected = metric(y[weight > 0], scores[weight > 0], **number)
    result = metric(y, scores, sample_weight=weight, **number)
    assert result == pytest.approx(expected)
