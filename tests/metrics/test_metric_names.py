"""One grammar for metrics by name."""

import numpy as np
import pytest

from aucmax.metrics import ndcg_score, recall_at_fpr, survival_target
from aucmax.metrics.metric_names import KINDS, names, parse_metric


def test_every_kind_has_a_name_a_title_and_a_value():
    y, scores, qid = np.arange(8) % 3, np.arange(8.0) ** 2 % 5, np.arange(8) // 4
    for name in names():
        metric = parse_metric(name)
        assert metric.kind is KINDS[metric.base]
        assert metric.title.startswith(metric.kind.title)
        labels = y if metric.kind.uses_levels else y > 0
        if metric.kind.uses_times:
            labels = survival_target(y > 0, 1.0 + np.arange(8))
        value = metric.function(labels, scores, qid=qid)
        low, high = metric.kind.bounds
        assert low <= value <= high
        assert metric.prepare(labels, qid=qid)(scores) == value
    assert {parse_metric(name).base for name in names()} == {*KINDS}


def test_a_rate_has_a_name():
    metric = parse_metric("recall@fpr=0.3")
    assert (metric.title, metric.base) == ("recall@fpr=0.3", "recall@fpr")
    y, scores = np.arange(8) % 2, np.arange(8.0) ** 2 % 5
    assert metric.function(y, scores) == recall_at_fpr(y, scores, fpr=0.3)


def test_a_number_is_the_parameter_of_its_kind():
    metric = parse_metric("ndcg@3")
    assert (metric.title, metric.base, metric.options) == ("NDCG@3", "ndcg", {"k": 3})
    y, scores = np.arange(8) % 3, np.arange(8.0) ** 2 % 5
    assert metric.function(y, scores) == ndcg_score(y, scores, k=3)


@pytest.mark.parametrize(
    "name",
    [
        *["loss", "", "auc@3", "AUC", "ndcg@", "ndcg@k=3", "ndcg 10", None, 3, "map@x"],
        *["recall", "recall@fpr", "precision@fpr=0.1", "gini@3"],
    ],
)
def test_other_names_are_rejected_with_a_list(name):
    with pytest.raises(
        ValueError, match=r"goal must be one of 'auc', .*'ndcg@10', 'map'"
    ):
        parse_metric(name, "goal")
