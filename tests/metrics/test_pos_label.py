"""Either of two labels may be the positive class."""

from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from aucmax import inference, metrics
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics.metric_names import parse_metric

RNG = np.random.default_rng(0)
Y = RNG.random(60) < 0.4
SCORES = np.round(RNG.normal(size=60) + Y, 1)
WEIGHTS = RNG.random(60)
QID = np.arange(60) % 4
SETS = np.tril(np.ones((60, 60)))
NAMES = np.where(Y, "yes", "no")

OF_RELEVANT_ROWS = ["precision", "average precision"]
METRICS = {
    "auc": partial(metrics.roc_auc_score, y_score=SCORES, sample_weight=WEIGHTS),
    "auc of queries": partial(metrics.roc_auc_score, y_score=SCORES, qid=QID),
    "partial": partial(metrics.partial_auc_score, y_score=SCORES, fpr_range=(0, 0.2)),
    "interval": partial(inference.auc_interval, y_score=SCORES),
    "test": partial(inference.compare_auc, y_score_1=SCORES, y_score_2=WEIGHTS),
    "binned": partial(metrics.binned_auc_score, y_score=SCORES, bins=7),
    "at k": partial(metrics.auc_at_k_score, y_score=SCORES, k=7),
    "unnested": partial(metrics.unnested_auc_score, subsets=SETS),
    "precision": partial(metrics.precision_at_k, y_score=SCORES, k=7),
    "average precision": partial(metrics.mean_average_precision, y_score=SCORES),
    "bootstrap": partial(
        inference.bootstrap_interval,
        metrics.partial_auc_score,
        y_score=SCORES,
        tpr_range=(0.5, 1),
        n_resamples=5,
        stratified=False,
        random_state=0,
    ),
    "points": lambda y, **options: metrics.roc_curve(y, SCORES, **options)[1].tolist(),
    "band": lambda y, **options: inference.roc_band(
        y, SCORES, n_resamples=5, **options
    ).low.tolist(),
    "prepared": lambda y, **options: parse_metric("partial_auc").prepare(
        y, fpr_range=(0, 0.3), **options
    )(SCORES),
}


@pytest.mark.parametrize("name", METRICS)
def test_either_label_may_be_the_positive_class(name):
    metric = METRICS[name]
    plain, swapped = metric(Y), metric(~Y)
    assert plain != swapped
    for labels, first, second in (
        (Y, False, True),
        (Y.astype(int), 0, 1),
        (NAMES, "no", "yes"),
        (NAMES.astype(object), "no", "yes"),
        (np.where(Y, "1", "0"), "0", "1"),
    ):
        assert metric(labels) == plain
        assert metric(labels, pos_label=second) == plain
        assert metric(labels, pos_label=first) == swapped


@pytest.mark.parametrize("name", sorted(METRICS.keys() - OF_RELEVANT_ROWS))
def test_an_unknown_positive_class_is_rejected(name):
    message = "pos_label must be one of the labels of y_true, '.*' and '.*', got"
    for unknown in ("maybe", 1, True, ["yes"], np.array(["yes", "no"])):
        with pytest.raises(ValueError, match=message):
            METRICS[name](NAMES, pos_label=unknown)


def test_labels_need_no_order_if_the_positive_class_is_named():
    labels = ["yes" if is_positive else 0 for is_positive in Y]
    value = metrics.roc_auc_score(labels, SCORES, pos_label="yes")
    assert value == metrics.roc_auc_score(Y, SCORES)
    with pytest.raises(TypeError, match="Use labels of one type"):
        metrics.roc_auc_score(labels, SCORES)


@pytest.mark.parametrize("name", OF_RELEVANT_ROWS)
def test_relevant_rows_may_be_named_by_any_label(name):
    metric = METRICS[name]
    grades = np.where(Y, 2, QID)
    assert metric(grades, pos_label=2) == metric(grades == 2)
    assert metric(grades, pos_label=0) == metric(grades == 0)
    for unknown in (7, "2", [2, 2]):
        with pytest.raises(NotEnoughClassesError, match="No row of y_true has"):
            metric(grades, pos_label=unknown)


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_scorers_ask_the_model_for_scores_of_the_positive_class(per_query, pos_label):
    X = np.c_[SCORES, WEIGHTS]
    model = LogisticRegression().fit(X, NAMES)
    sign = 1.0 if pos_label == "yes" else -1.0
    scores = sign * model.decision_function(X)
    queries = {"qid": QID} if per_query else {}
    options = {"fpr_range": (0, 0.3), "pos_label": pos_label}
    flag = {"per_query": per_query}
    partial_scorer = metrics.metric_scorer("partial_auc", **flag, **options)
    whole_scorer = metrics.metric_scorer("auc", pos_label=pos_label, **flag)
    with sklearn.config_context(enable_metadata_routing=True):
        part = partial_scorer(model, X, NAMES, **queries)
        whole = whole_scorer(model, X, NAMES, **queries)
    expected = metrics.partial_auc_score(NAMES, scores, **options, **queries)
    assert part == pytest.approx(expected, abs=1e-14)
    expected = metrics.roc_auc_score(NAMES, scores, pos_label=pos_label, **queries)
    assert whole == pytest.approx(expected, abs=1e-14)
