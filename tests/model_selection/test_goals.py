"""A range means the range: models are trained for it, chosen and tested by it."""

import numpy as np
import pytest

from aucmax.inference import compare_auc
from aucmax.model_selection import MODELS, AutoRanker, compare_models
from aucmax.model_selection.goals import Goal, by_query, choose_goal
from aucmax.model_selection.models import (
    compared_models,
    named_candidate,
    trained_ranges,
)
from aucmax.tables import encode_target
from aucmax.tables.folds import split_rows
from model_selection.ranked_samples import Column

RNG = np.random.default_rng(0)
ROWS = 400
LABELS = np.arange(ROWS) % 4 == 0
# few positives stand out by the second column; the first shifts all of them a little
X = RNG.normal(size=(ROWS, 2))
X[LABELS, 0] += 0.8
X[LABELS & (RNG.random(ROWS) < 0.4), 1] += 4
EARLY = {"fpr_range": (0.0, 0.1)}
BOX = {"fpr_range": (0.0, 0.3), "tpr_range": (0.2, 1.0)}


def test_what_decides_follows_from_ranges_and_target():
    classes = encode_target(LABELS)
    queries = encode_target(LABELS, qid=np.arange(ROWS) // 40)
    levels = encode_target(np.arange(ROWS) % 3, allow_levels=True)
    assert choose_goal(classes) == Goal("auc", (0, 0.1), (0, 1))
    assert choose_goal(classes, fpr_range=(0, 0.2)) == Goal("partial_auc", (0, 0.2))
    assert choose_goal(classes, tpr_range=(0.5, 1)) == Goal(
        "partial_auc", (0, 1), (0.5, 1)
    )
    assert choose_goal(classes, fpr_range=(0, 1)).metric == "auc"
    assert choose_goal(classes, "partial_auc").ranges == {**EARLY, "tpr_range": (0, 1)}
    assert choose_goal(classes, "auc", (0, 0.2)).ranges == {}
    graded = encode_target(
        np.arange(ROWS) % 3, allow_levels=True, qid=np.arange(ROWS) // 40
    )
    for name in ("ndcg", "ndcg@3"):
        assert choose_goal(queries, name).metric == name
    assert choose_goal(levels).metric == "mauc"
    assert choose_goal(graded).metric == "ndcg@10"
    assert choose_goal(graded, "auc").metric == "auc"
    with pytest.raises(ValueError, match="'mauc' does not apply to two classes in q"):
        choose_goal(queries, "mauc")
    with pytest.raises(ValueError, match="the target has 3 levels"):
        choose_goal(levels, fpr_range=(0, 0.1))
    with pytest.raises(ValueError, match="'map' does not apply to two classes without"):
        choose_goal(classes, "map")
    with pytest.raises(ValueError, match=r"metric must be one of 'auc', .* got 'loss'"):
        choose_goal(levels, "loss")
    with pytest.raises(ValueError, match="fpr_range"):
        choose_goal(classes, fpr_range=(0.3, 0.2))


def test_a_query_without_the_lowest_level_has_a_mauc_but_no_auc():
    target = encode_target([0, 1, 1, 2], allow_levels=True, qid=[1, 1, 2, 2])
    scores, goal = np.arange(4.0), Goal("mauc")
    assert by_query("mauc", target, scores, goal).tolist() == [1, 0.5]
    np.testing.assert_array_equal(by_query("auc", target, scores, goal), [1, np.nan])


def test_models_that_can_are_trained_for_the_range():
    for name in ("linear", "svm-pauc"):
        estimator = named_candidate(name, ranges=BOX).estimator
        assert (estimator.fpr_range, estimator.tpr_range) == tuple(BOX.values())
    trees = named_candidate("lambdamart-pauc", ranges=BOX).estimator
    assert trees.fpr_range == (0, 0.3)
    assert named_candidate("svm-auc", ranges=BOX).estimator.fpr_range == (0, 1)
    # without a range, the models of a part have the usual one
    assert named_candidate("svm-pauc").estimator.fpr_range == (0, 0.1)
    assert "lambdamart-pauc" in set(compared_models(True)) - set(compared_models())
    for name, choice in MODELS.items():
        parameters = named_candidate(name).estimator.get_params()
        assert set(choice.ranges) <= set(parameters)


def test_a_model_remembers_the_range_it_was_trained_for():
    model = AutoRanker(models=["svm-pauc"], cv=2, **EARLY).fit(X, LABELS)
    assert trained_ranges(model) == EARLY
    assert trained_ranges(AutoRanker(models=["logistic"]).fit(X, LABELS)) == {}
    assert trained_ranges(Column(0)) == {}


@pytest.mark.parametrize("ranges", [EARLY, BOX], ids=["early", "box"])
def test_models_are_chosen_and_tested_by_the_range(ranges):
    # the first column has the higher AUC, the second the higher partial AUC
    first = ("first", Column(0))
    second = ("second", Column(1))
    comparison = compare_models(X, LABELS, [first, second], cv=2, **ranges)
    whole = compare_models(X, LABELS, [first, second], cv=2)
    assert (whole.best, whole.metric) == ("first", "auc")
    assert comparison.metric == "partial_auc"
    assert next(iter(comparison.results[0].measures)) == "partial_auc"
    folds = [test for _, test in split_rows(encode_target(LABELS), 2, 0)]
    tests = [compare_auc(LABELS[f], X[f, 1], X[f, 0], **ranges) for f in folds]
    (test,) = comparison.tests
    assert test.difference == pytest.approx(np.mean([t.difference for t in tests]))
    assert comparison.results[0].measures["auc"] == whole.results[0].auc
    if ranges is EARLY:
        assert comparison.best == "second"
        assert test.difference > 0
        assert "pAUC 0-0.1" in str(comparison)
        assert "false positive rates 0 to 0.1." in str(comparison)


def test_within_queries_the_metric_asked_for_decides():
    qid = np.arange(ROWS) // 20
    record = compare_models(
        X, LABELS, ["logistic", ("x", Column(0))], qid=qid, cv=2, metric="map"
    ).to_dict()
    assert (record["metric"], record["unit"]) == ("map", "queries")
    for model in record["models"]:
        assert model["low"] < model["map"] < model["high"]
        assert len(model["fold_maps"]) == 2
    (test,) = record["tests"]
    logistic, column = record["models"]
    assert test["difference"] == pytest.approx(column["map"] - logistic["map"])
