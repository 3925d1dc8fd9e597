"""Metrics of fixed labels, and the order of rows that they sweep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics._steps import check_queries
from aucmax.metrics.metric_names import parse_metric
from metrics.samples import score, tied

pytestmark = pytest.mark.kernel

OPTIONS = {
    "auc": {},
    "partial_auc": {"fpr_range": (0.0, 0.3)},
    "mauc": {"classes": "all"},
    "ordinal_auc": {},
    "ks": {},
}


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "ks"])
def test_a_prepared_metric_checks_labels_at_once_and_scores_later(name):
    named = parse_metric(name)
    with pytest.raises(NotEnoughClassesError, match="all 2 labels are 1"):
        named.prepare([1, 1])
    measure = named.prepare([0, 1])
    with pytest.raises(ValueError, match="y_score must be finite, but row 1 is nan"):
        measure([0.0, np.nan])
    with pytest.raises(ValueError, match="y_score has 3 rows, but the labels have 2"):
        measure([0.0, 1.0, 2.0])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.one_of(tied, score)), min_size=1),
)
def test_rows_are_sorted_by_query_and_score_and_keep_their_order(rows):
    qid, values = (np.array(column) for column in zip(*rows, strict=True))
    queries = check_queries(qid, qid.size)
    order = queries.sort(values)
    assert order.tolist() == np.lexsort((values, qid)).tolist()
    assert np.diff(queries.offsets).tolist() == np.unique_counts(qid).counts.tolist()


def test_one_query_given_by_name_is_no_query_at_all():
    rng = np.random.default_rng(0)
    y, scores, weights = rng.random(300) < 0.3, rng.normal(size=300), rng.random(300)
    for name in ("auc", "partial_auc"):
        for rows in ({}, {"sample_weight": weights}):
            named = {"qid": ["a"] * 300, **rows, **OPTIONS[name]}
            plain = {**rows, **OPTIONS[name]}
            metric = parse_metric(name).function
            assert metric(y, scores, **named) == metric(y, scores, **plain)
