"""Metrics of Dask's collections are the metrics of their rows."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from aucmax import inference, metrics
from aucmax.exceptions import NotEnoughClassesError

WIDE = {"fpr_range": (0.05, 0.4), "tpr_range": (0.1, 0.9)}
EARLY = {"fpr_range": (0.0, 0.1)}
PARTS = [(700,), (100, 0, 350, 250), tuple([28] * 25)]


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(n_rows=700, share=0.3, seed=0, *, tied=True):
    """Labels, two scores and weights, with parts that have no positive row."""
    generator = np.random.default_rng(seed)
    y = generator.random(n_rows) < share
    y[:120] = False
    scores = generator.normal(size=(2, n_rows)) + y
    if tied:
        scores = np.round(scores, 1)
    weights = generator.uniform(0.0, 2.0, n_rows)
    weights[::9] = 0.0
    return y.astype(int), scores[0], scores[1], weights


def cut(array, chunks):
    return da.from_array(array, chunks=(chunks,))


def same(found, expected):
    for name, value in vars(expected).items():
        if not isinstance(value, str | None):
            value = pytest.approx(value, rel=1e-12, abs=1e-12)
        assert getattr(found, name) == value, name


@pytest.mark.parametrize("chunks", PARTS, ids=len)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("part", [{}, EARLY, WIDE], ids=["whole", "early", "wide"])
def test_areas_intervals_and_tests_are_those_of_the_rows(
    chunks, share, is_weighted, part
):
    y, a, b, weights = rows(share=share, seed=len(chunks))
    weights = weights if is_weighted else None
    local = {"sample_weight": weights, **part}
    parted = {"sample_weight": cut(weights, chunks), **part} if is_weighted else part
    y_parts, a_parts, b_parts = (cut(v, chunks) for v in (y, a, b))
    found = metrics.partial_auc_score(y_parts, a_parts, **parted)
    expected = metrics.partial_auc_score(y, a, **local)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    same(
        inference.auc_interval(y_parts, a_parts, **parted),
        inference.auc_interval(y, a, **local),
    )
    same(
        inference.compare_auc(y_parts, a_parts, b_parts, **parted),
        inference.compare_auc(y, a, b, **local),
    )


@pytest.mark.parametrize("standardize", ["mean", "area", "mcclish"])
def test_every_scale_of_the_area_is_there(standardize):
    y, scores, *_ = rows()
    options = {"standardize": standardize, **EARLY}
    found = metrics.partial_auc_score(cut(y, (300, 400)), cut(scores, 300), **options)
    expected = metrics.partial_auc_score(y, scores, **options)
    assert found == pytest.approx(expected, rel=1e-12)


def test_perfect_constant_and_equal_scores_have_exact_answers():
    y = cut(np.arange(60) % 3 == 0, (20, 20, 20))
    local = y.compute()
    perfect, constant = cut(local * 1.0, 20), cut(np.full(60, 7.0), 20)
    assert metrics.roc_auc_score(y, perfect) == 1.0
    assert metrics.roc_auc_score(y, -perfect) == 0.0
    assert metrics.roc_auc_score(y, constant) == 0.5
    interval = inference.auc_interval(y, perfect)
    assert interval == inference.auc_interval(local, perfect.compute())
    same(
        inference.compare_auc(y, perfect, constant),
        inference.compare_auc(local, local * 1.0, np.full(60, 7.0)),
    )
    assert inference.compare_auc(y, perfect, perfect).p_value == 1.0


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**300])
def test_weights_of_extreme_scales_count_by_their_proportions(scale):
    y, scores, _, weights = rows()
    expected = inference.auc_interval(y, scores, sample_weight=weights)
    parted = [cut(v, 200) for v in (y, scores)]
    # whole multiples, since the smallest numbers have few digits
    weights = np.ceil(weights * 4.0)
    expected = inference.auc_interval(y, scores, sample_weight=weights)
    found = inference.auc_interval(*parted, sample_weight=cut(weights * scale, 200))
    same(found, expected)


def test_scores_of_all_sizes_are_told_apart():
    scores = np.array(
        [-1e300, -5e-324, -0.0, 0.0, 5e-324, 1e-9, 1.0, np.nextafter(1, 2)]
    )
    y = np.array([0, 1, 1, 0, 0, 1, 0, 1])
    found = metrics.roc_auc_score(cut(y, 3), cut(scores, 3))
    assert found == pytest.approx(metrics.roc_auc_score(y, scores), rel=1e-15)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1.0, 1.0], [False, True]])
def test_labels_of_any_kind_are_the_same_in_every_part(labels):
    y, scores, *_ = rows()
    named = np.array(labels)[y]
    found = metrics.roc_auc_score(cut(named, 60), cut(scores, 60))
    assert found == pytest.approx(metrics.roc_auc_score(named, scores), rel=1e-12)
    turned = metrics.roc_auc_score(cut(named, 60), cut(scores, 60), pos_label=labels[0])
    assert turned == pytest.approx(1.0 - found, rel=1e-12)


def test_series_arrays_and_local_rows_go_together():
    y, scores, _, weights = rows()
    frame = pd.DataFrame({"y": y, "scores": scores, "weights": weights})
    parted = dd.from_pandas(frame, npartitions=3)
    expected = metrics.roc_auc_score(y, scores, sample_weight=weights)
    lengths = [len(part) for part in parted.partitions]
    mixtures = [
        (parted["y"], parted["scores"], parted["weights"]),
        (parted["y"], parted["scores"].to_dask_array(), parted["weights"]),
        (y, parted["scores"], frame["weights"]),
        (parted["y"].to_dask_array(), scores.tolist(), parted["weights"]),
        (cut(y, tuple(lengths)), parted["scores"], cut(weights, 50)),
        (cut(y, 70), cut(scores, 90), weights),
    ]
    for labels, ranked, weight in mixtures:
        found = metrics.roc_auc_score(labels, ranked, sample_weight=weight)
        assert found == pytest.approx(expected, rel=1e-12)


def queries(n_rows=900, seed=1):
    generator = np.random.default_rng(seed)
    qid = np.sort(generator.integers(0, 60, n_rows))
    levels = generator.integers(0, 4, n_rows)
    levels[qid == 3] = 0
    scores = np.round(generator.normal(size=n_rows) + 0.5 * levels, 1)
    weights = generator.uniform(0.5, 2.0, n_rows)
    weights[::7] = 0.0
    weights[qid == 5] = 0.0
    starts = np.searchsorted(qid, [20, 21, 50])
    chunks = tuple(np.diff([0, *starts, n_rows]).tolist())
    return levels, scores, qid, weights, chunks


OF_QUERIES = [
    (metrics.roc_auc_score, {}),
    (metrics.partial_auc_score, WIDE),
    (metrics.multiclass_auc_score, {}),
    (metrics.multiclass_auc_score, {"classes": "all"}),
    (metrics.ordinal_auc_score, {}),
    (metrics.precision_at_k, {"k": 3}),
    (metrics.precision_at_k, {"k": 20, "average": "micro"}),
    (metrics.mean_average_precision, {}),
    (metrics.ndcg_score, {}),
    (metrics.ndcg_score, {"k": 5, "gains": "linear"}),
]


@pytest.mark.parametrize(("metric", "options"), OF_QUERIES)
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kind", [int, str])
def test_means_over_queries_are_those_of_the_rows(metric, options, is_weighted, kind):
    levels, scores, qid, weights, chunks = queries()
    two_classes = metric in (metrics.roc_auc_score, metrics.partial_auc_score)
    y = levels > 1 if two_classes else levels
    qid = qid.astype(kind)
    parts = [cut(v, chunks) for v in (y, scores, qid)]
    local = {"sample_weight": weights} if is_weighted else {}
    parted = {"sample_weight": cut(weights, chunks)} if is_weighted else {}
    expected = metric(y, scores, qid=qid, **local, **options)
    found = metric(*parts[:2], qid=parts[2], **parted, **options)
    assert found == pytest.approx(expected, rel=1e-12)


def test_names_of_levels_are_the_same_in_every_part():
    _, scores, qid, _, chunks = queries()
    y = np.where(qid < 21, "a", "b")  # the first parts have one of them only
    y[::5] = "b"
    y[qid < 20] = "a"
    for metric in (metrics.mean_average_precision, metrics.ordinal_auc_score):
        expected = metric(y, scores, qid=qid)
        found = metric(cut(y, chunks), cut(scores, chunks), qid=cut(qid, chunks))
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_query_in_two_partitions_is_refused_by_name():
    levels, scores, qid, *_ = queries()
    with pytest.raises(ValueError, match="query 9 has rows in partitions 0 and 1"):
        metrics.ndcg_score(cut(levels, 140), cut(scores, 140), qid=cut(qid, 140))


def test_without_queries_a_mean_over_queries_is_refused():
    levels, scores, *_ = queries()
    with pytest.raises(ValueError, match="pass qid, or compute"):
        metrics.ordinal_auc_score(cut(levels, 140), cut(scores, 140))


def bad_input():
    y, scores, _, weights = rows()
    gap, negative, third = scores.copy(), weights.copy(), y.copy()
    gap[333], negative[201], third[650] = np.nan, -1.0, 2
    text = scores.astype(object)
    text[105] = "x"
    frame = dd.from_pandas(pd.DataFrame({"y": y, "s": scores}), npartitions=3)
    other = dd.from_pandas(pd.DataFrame({"y": y, "s": scores}), npartitions=2)
    odd = dd.from_pandas(pd.DataFrame({"s": scores[:600]}), npartitions=3)
    y_parts, score_parts = cut(y, 100), cut(scores, 100)
    return {
        "In partition 3: y_score must be finite, but row 33 is nan": (
            (y_parts, cut(gap, 100)),
            {},
        ),
        "In partition 2: sample_weight must not be negative, but is .* in row 1": (
            (y_parts, score_parts),
            {"sample_weight": cut(negative, 100)},
        ),
        "3 distinct values, such as": ((cut(third, 100), score_parts), {}),
        "y_score has 600 rows, but y_true has 700": (
            (y_parts, cut(scores[:600], 100)),
            {},
        ),
        "y_score has 2 partitions, but y_true has 3": ((frame["y"], other["s"]), {}),
        r"partition \d has 23\d rows in y_true, but 200 in y_score": (
            (frame["y"], odd["s"]),
            {},
        ),
        "y_score must be one-dimensional": ((y_parts, score_parts[:, None]), {}),
        "pos_label must be one of the labels": (
            (y_parts, score_parts),
            {"pos_label": 7},
        ),
        "In partition 1: y_score must hold real numbers": (
            (y_parts, cut(text, 100)),
            {},
        ),
    }


@pytest.mark.parametrize("message", bad_input())
def test_bad_input_is_named_with_its_partition(message):
    args, options = bad_input()[message]
    with pytest.raises((ValueError, TypeError), match=message):
        metrics.roc_auc_score(*args, **options)


def test_one_class_is_refused_with_the_number_of_rows():
    scores = cut(np.arange(50.0), 20)
    with pytest.raises(NotEnoughClassesError, match="all 50 rows are"):
        metrics.roc_auc_score(cut(np.ones(50), 20), scores)
    y, weights = np.arange(50) < 10, (np.arange(50) >= 10) * 1.0
    with pytest.raises(NotEnoughClassesError, match="all 40 rows of positive weight"):
        inference.auc_interval(cut(y, 20), scores, sample_weight=cut(weights, 20))
    with pytest.raises(ValueError, match="at least two rows of each class"):
        inference.auc_interval(cut(np.arange(50) == 3, 20), scores)


def test_no_rows_of_the_common_class_leave_their_part(monkeypatch):
    # a list of all that is handed from a task to one that merges
    from aucmax.dask import ranking

    merged = []
    merge = ranking._merge_keys

    def spy(found, classes):
        merged.append(sum(keys.size for keys, _ in found))
        return merge(found, classes)

    monkeypatch.setattr(ranking, "_merge_keys", spy)
    y, scores, *_ = rows(share=0.1)
    metrics.roc_auc_score(cut(y, 100), cut(scores, 100))
    metrics.roc_auc_score(cut(1 - y, 100), cut(scores, 100))
    assert merged == [y.sum(), y.sum()]
