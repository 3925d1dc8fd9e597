"""Metrics take a small multiple of their input, and never one cell per pair."""

import tracemalloc

import numpy as np
import pytest

from aucmax import inference, metrics
from torture.amount import times

MAX_MULTIPLE = 4.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    [
        metrics.roc_auc_score,
        metrics.partial_auc_score,
        inference.auc_interval,
        metrics.ndcg_score,
        inference.compare_auc,
        metrics.roc_curve,
        metrics.mean_average_precision,
        metrics.precision_at_k,
    ],
    ids=lambda metric: metric.__name__,
)
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_the_peak_is_a_small_multiple_of_the_input(metric, share, record_property):
    rng = np.random.default_rng(0)
    n = times(100_000, 10_000_000)
    labels = (rng.random(n) < share).astype(np.int64)
    given = [labels, rng.normal(size=n) + labels]
    if metric is inference.compare_auc:
        given.append(rng.normal(size=n) + labels)
    options = {"k": 10} if metric is metrics.precision_at_k else {}
    if metric is metrics.ndcg_score:
        options["qid"] = np.zeros(n, dtype=np.int64)
    # compiles, also what many rows alone need
    few = {
        key: value if key == "k" else value[:100_000] for key, value in options.items()
    }
    metric(*[values[:100_000] for values in given], **few)
    tracemalloc.start()
    try:
        metric(*given, **options)
        peak = tracemalloc.get_traced_memory()[1] / sum(v.nbytes for v in given)
    finally:
        tracemalloc.stop()
    record_property("peak of memory by the input", peak)
    assert peak <= MAX_MULTIPLE
