import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucmax.inference import auc_interval
from aucmax.metrics import partial_auc_score
from aucmax.model_selection import compare_models
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import summarise_scores
from aucmax.tables import encode_target

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
LABELS = (X[:, 0] + 0.5 * RNG.normal(size=120) > 0.5).astype(int)
MODELS = ["svm-auc", "logistic"]


@pytest.fixture(scope="module")
def comparison():
    return compare_models(X, LABELS, MODELS, cv=2)


def test_a_comparison_prints_as_a_table_and_says_what_its_numbers_are(comparison):
    header, rule, aucsvc, logistic, blank, *explanation = str(comparison).splitlines()
    assert header.split()[:2] == ["model", "AUC"]
    assert header.endswith("vs logistic")
    assert set(rule) == {"─"}
    assert len({len(line) for line in (header, rule, aucsvc, logistic)}) == 1
    assert aucsvc.split()[:2] == ["svm-auc", f"{comparison.results[0].auc:.4f}"]
    assert logistic.endswith(" -")
    assert blank == ""
    assert "AUC and partial AUC over 2 folds" in explanation[0]
    assert "a paired test of the AUC (DeLong)" in explanation[1]
    assert "Holm" not in str(comparison)
    best = max(result.auc for result in comparison.results)
    assert repr(comparison) == (
        f"Comparison of 2 models over 2 folds: best is {comparison.best!r}, AUC "
        f"{best:.4f}"
    )


def test_a_comparison_is_at_most_80_columns_wide():
    models = [("a name of twenty chars", LogisticRegression()), "logistic", "lightgbm"]
    comparison = compare_models(X, LABELS, models, cv=2, metric="partial_auc")
    lines = str(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("model ") for line in lines) == 2


def test_results_print_as_sentences(comparison):
    result, test = comparison.results[0], comparison.tests[0]
    interval = f"(95% interval {result.low:.4f} to {result.high:.4f})"
    assert str(result) == f"svm-auc: AUC {result.auc:.4f} {interval}"
    assert str(test).startswith(f"AUC svm-auc {result.auc:.4f} against logistic 0.")


@pytest.mark.parametrize(("limit", "share"), [({}, 30.0), ({"time_limit": 5.0}, 5.0)])
def test_searches_of_auto_share_a_minute_unless_they_have_a_limit(limit, share):
    models = [("auto", {"models": ["logistic"], **limit}), "logistic"]
    comparison = compare_models(X, LABELS, models, cv=2)
    assert comparison.last_fold.models["auto"].time_limit == share


def test_without_a_baseline_nothing_is_said_of_tests():
    text = str(compare_models(X, LABELS, MODELS[:1], cv=2))
    assert "vs " not in text
    assert "p by" not in text


@pytest.mark.parametrize("with_queries", [True, False])
def test_levels_are_explained(with_queries):
    levels = np.digitize(X[:, 0], [0, 1])
    qid = np.arange(120) // 10 if with_queries else None
    models = ["lambdamart-mauc", "logistic"]
    text = str(compare_models(X, levels, models, qid=qid, cv=2))
    over = "12 queries in 2 folds" if with_queries else "2 folds"
    assert f"Means over {over}, intervals by Student's t" in text
    assert f"over {'queries' if with_queries else 'folds'}: beats or loses" in text
    assert "ordinal AUC: pairs of different levels" in text


def test_the_record_is_made_of_simple_values(comparison):
    record = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert (record["rows"], record["positive_rows"]) == (120, LABELS.sum())
    (test,) = record["tests"]
    assert test["verdict"] in {"beats", "loses", "no difference"}
    assert len(record["models"][0]["fold_aucs"]) == 2


def test_one_ranking_is_measured_like_a_fold():
    summary = summarise_scores(encode_target(LABELS), X[:, 0], Goal("auc", (0, 0.3)))
    interval = auc_interval(LABELS, X[:, 0])
    assert (summary.measures["auc"], summary.low, summary.high) == pytest.approx(
        (interval.value, interval.low, interval.high)
    )
    partial = partial_auc_score(LABELS, X[:, 0], fpr_range=(0, 0.3))
    assert summary.measures["partial_auc"] == pytest.approx(partial)
