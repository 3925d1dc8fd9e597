"""Metrics of Dask's collections are the metrics of their rows, which are gathered."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask.dataframe as dd
import pandas as pd

from aucmax import inference, metrics
from on_dask.parts import cut

pytestmark = pytest.mark.usefixtures("in_this_thread")


def rows(n_rows=700, seed=0):
    """Labels, two scores, weights and queries; the first parts have no positive row."""
    generator = np.random.default_rng(seed)
    y = (generator.random(n_rows) < 0.3).astype(int)
    y[:120] = 0
    scores = np.round(generator.normal(size=(2, n_rows)) + y, 1)
    weights = generator.uniform(0.0, 2.0, n_rows)
    weights[::9] = 0.0
    return y, scores[0], scores[1], weights, np.arange(n_rows) // 35


METRICS = [
    (metrics.roc_auc_score, {}),
    (metrics.partial_auc_score, {"fpr_range": (0.05, 0.4), "standardize": "mcclish"}),
    (metrics.average_precision_score, {}),
    (metrics.recall_at_fpr, {"fpr": 0.1}),
    (inference.auc_interval, {"fpr_range": (0.0, 0.5)}),
    (inference.metric_interval, {"metric": "average_precision"}),
]
METRICS_OF_QUERIES = [
    (metrics.roc_auc_score, {}),
    (metrics.multiclass_auc_score, {}),
    (metrics.ordinal_auc_score, {}),
    (metrics.precision_at_k, {"k": 3}),
    (metrics.mean_average_precision, {}),
    (metrics.ndcg_score, {}),
]


@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_metrics_of_parts_are_those_of_the_rows(metric, options):
    y, scores, _, weights, _ = rows()
    value = metric(
        cut(y, 100), cut(scores, 250), sample_weight=cut(weights, 100), **options
    )
    assert value == metric(y, scores, sample_weight=weights, **options)


@pytest.mark.parametrize(("metric", "options"), METRICS_OF_QUERIES)
def test_queries_may_lie_across_partitions(metric, options):
    y, scores, _, weights, qid = rows()
    columns = {"sample_weight": weights, "qid": qid}
    parts = {name: cut(values, 100) for name, values in columns.items()}
    value = metric(cut(y, 100), cut(scores, 100), **parts, **options)
    assert value == metric(y, scores, **columns, **options)


def test_models_are_compared_on_parts_as_on_the_rows():
    y, a, b, *_ = rows()
    value = inference.compare_auc(cut(y, 100), cut(a, 100), cut(b, 100))
    assert value == inference.compare_auc(y, a, b)


def test_series_arrays_and_local_rows_go_together():
    y, scores, _, weights, _ = rows()
    frame = pd.DataFrame({"y": y, "scores": scores, "weights": weights})
    parted = dd.from_pandas(frame, npartitions=3)
    expected = metrics.roc_auc_score(y, scores, sample_weight=weights)
    mixtures = [
        (parted["y"], parted["scores"], parted["weights"]),
        (parted["y"], parted["scores"].to_dask_array(), weights),
        (y, parted["scores"], frame["weights"]),
        (cut(np.where(y, "yes", "no"), 100), scores.tolist(), cut(weights, 50)),
    ]
    for labels, scores_of_rows, weight in mixtures:
        area = metrics.roc_auc_score(labels, scores_of_rows, sample_weight=weight)
        assert area == expected


def test_bad_columns_are_named():
    y, scores, *_ = rows()
    missing = np.where(np.arange(700) == 333, np.nan, scores)
    with pytest.raises(ValueError, match="y_score must be finite, but row 333 is nan"):
        metrics.roc_auc_score(cut(y, 100), cut(missing, 100))
    with pytest.raises(ValueError, match="y_score has 600 rows, but the labels have"):
        metrics.roc_auc_score(cut(y, 100), cut(scores[:600], 100))
    with pytest.raises(ValueError, match="y_score must be one-dimensional"):
        metrics.roc_auc_score(cut(y, 100), cut(scores, 100)[:, None])
