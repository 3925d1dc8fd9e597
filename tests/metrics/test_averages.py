"""How metrics are averaged over queries."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given

from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import (
    mean_average_precision,
    multiclass_auc_score,
    ndcg_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from drawing import fewer_examples
from metrics.samples import samples


def pairs(labels, weights):
    above = labels[:, None] > labels[None, :]
    return (above * weights[:, None] * weights[None, :]).sum()


def relevant(labels, weights):
    return weights[labels > 0].sum()


def ideal(labels, weights):
    gains = np.sort(weights * (2.0**labels - 1.0))[::-1]
    return (gains / np.log2(np.arange(gains.size) + 2.0)).sum()


# each metric of levels 0, 1 and 2 with what it is a share of
METRICS = {
    "auc": (lambda y, *rows, **more: roc_auc_score(y > 0, *rows, **more), pairs),
    "partial": (
        lambda y, *rows, **more: partial_auc_score(
            y > 0, *rows, fpr_range=(0, 0.4), **more
        ),
        pairs,
    ),
    "mauc": (multiclass_auc_score, relevant),
    "ordinal": (ordinal_auc_score, pairs),
    "map": (mean_average_precision, relevant),
    "ndcg": (ndcg_score, ideal),
}


@pytest.mark.parametrize("name", METRICS)
@fewer_examples
@given(sample=samples(levels=3, weights=True, queries=3))
def test_averages_follow_from_the_values_of_queries(name, sample):
    metric, part = METRICS[name]
    y, scores, weights, qid = sample
    measure = partial(metric, y, scores, sample_weight=weights, qid=qid)
    expected, parts, rows = [], [], []
    for query in np.unique(qid):
        members = qid == query
        labels, w = y[members], weights[members]
        counted = labels > 0 if name in ("auc", "partial") else labels
        parts.append(part(counted, w))
        rows.append(w.sum())
        is_known = parts[-1] > 0 and (name != "mauc" or pairs(labels, w) > 0)
        value = metric(labels, scores[members], sample_weight=w) if is_known else np.nan
        expected.append(value)
    options = ~np.isnan(expected)
    if not options.any():
        with pytest.raises(NotEnoughClassesError):
            measure()
        return
    values = measure(average=None)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    kept = np.array(expected)[options]
    assert measure() == pytest.approx(kept.mean(), abs=1e-12)
    for average, by in {"micro": parts, "impressions": rows}.items():
        mean = np.average(kept, weights=np.array(by)[options])
        assert measure(average=average) == pytest.approx(mean, abs=1e-9)


def test_a_query_without_weight_keeps_its_place():
    y, scores, qid = [1, 0, 1, 0, 0, 1], [2, 1, 2, 1, 2, 1], [0, 0, 1, 1, 2, 2]
    weights = [1, 1, 0, 0, 1, 1]
    for metric in (roc_auc_score, ndcg_score, mean_average_precision):
        values = metric(y, scores, qid=qid, sample_weight=weights, average=None)
        assert values[0] == 1.0
        assert np.isnan(values[1])
        assert values[2] < 1.0
