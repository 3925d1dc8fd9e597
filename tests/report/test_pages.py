from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from aucmax import AUCSVC
from aucmax.decisions import operating_point, reliability
from aucmax.exceptions import ConstantScoresWarning
from aucmax.model_selection import AutoRanker, compare_models
from aucmax.model_selection.goals import choose_goal
from aucmax.report import report_comparison, report_model
from aucmax.report.insights import cross_fitted_probabilities, importance_of
from aucmax.report.pages import _in_one_list
from aucmax.tables import encode_target

SCRIPT = "<script>alert(1)</script>"


def table(n_rows=400, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    names = ["age", SCRIPT, "גיל"] + [f"more {k}" for k in range(n_columns - 3)]
    frame = pl.DataFrame(X, schema=names)
    odds = 2.0 * X[:, 0] + X[:, 1] + rng.normal(size=n_rows)
    kind = np.where(rng.random(n_rows) < 0.5, "a", "b")
    return frame.with_columns(kind=kind), np.where(odds > 1.5, "sick", "healthy")


@pytest.fixture(scope="module")
def comparison():
    models = [
        ("logistic", LogisticRegression()),
        ("svm", AUCSVC()),
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ]
    return compare_models(*table(), models, cv=2)


@pytest.fixture(scope="module")
def contents(comparison):
    return report_comparison(comparison, title="Who is sick?").contents


def test_the_best_model_comes_first_everywhere(comparison, contents):
    values = [row.main for row in contents["rows"]]
    assert values == sorted(values, reverse=True)
    assert contents["best"] == contents["curves"][0] == comparison.best
    assert contents["verdict"].startswith(f"{comparison.best} ranks best: AUC 0.")
    columns = [row["column"] for row in contents["importance"]["rows"]]
    assert columns[0] == "age"
    assert set(columns) == {"age", SCRIPT, "גיל", "kind"}


def test_rows_of_different_folds_do_not_tie(comparison):
    folds = comparison.fold_numbers
    for name in comparison.scores:
        scores = _in_one_list(comparison, name)
        positions = comparison.positions[name]
        assert np.abs(scores - positions).max() < 1e-8
        for value in np.unique(scores):
            assert np.unique(folds[scores == value]).size == 1
        for fold in range(2):
            is_in_fold = folds == fold
            raw = comparison.scores[name][is_in_fold]
            # the same order, and the same ties
            assert np.unique(raw).size == np.unique(scores[is_in_fold]).size
            places, listed = (
                np.unique(v, return_inverse=True)[1] for v in (raw, scores[is_in_fold])
            )
            np.testing.assert_array_equal(places, listed)


def test_probabilities_are_learned_from_other_folds(comparison):
    scores, target = comparison.scores[comparison.best], comparison.target
    labels, chances = cross_fitted_probabilities(
        scores, comparison.fold_numbers, target
    )
    np.testing.assert_array_equal(labels, target.relevant == 1)
    assert chances.mean() == pytest.approx(labels.mean(), rel=0.1)
    is_in_fold = comparison.fold_numbers == 0
    assert (np.diff(chances[is_in_fold][np.argsort(scores[is_in_fold])]) >= 0).all()
    # labels of the same fold change nothing for a row
    shuffled = labels.copy()
    shuffled[is_in_fold] = np.random.default_rng(0).permutation(shuffled[is_in_fold])
    _, again = cross_fitted_probabilities(
        scores, comparison.fold_numbers, encode_target(shuffled)
    )
    np.testing.assert_array_equal(again[is_in_fold], chances[is_in_fold])
    assert (again[~is_in_fold] != chances[~is_in_fold]).any()
    page = report_comparison(comparison).html()
    assert "calibrate=&#34;auto&#34; learned from the scores of the other folds" in page


def test_probabilities_by_time_are_learned_from_earlier_folds():
    labels = np.arange(60) % 2
    scores, folds = (
        labels + np.random.default_rng(0).normal(size=60),
        np.arange(60) // 20,
    )
    early, later = (
        cross_fitted_probabilities(
            scores, folds, replace(encode_target(y), times=np.arange(60.0))
        )[1]
        for y in (labels, np.where(folds == 2, 1 - labels, labels))
    )
    assert early.size == 40
    np.testing.assert_array_equal(early, later)


def test_only_models_that_prove_something_have_a_certificate(contents):
    assert [name for name, _ in contents["certificates"]] == ["svm"]
    assert "of the optimum" in contents["certificates"][0][1]


def test_it_says_how_to_reproduce_it(comparison, contents):
    assert contents["reproduction"]["fingerprint of the data"] == comparison.fingerprint
    assert "scikit-learn" in contents["reproduction"]["versions"]
    again = compare_models(*table(), [GaussianNB()], cv=2)
    assert again.fingerprint == comparison.fingerprint


def test_the_page_and_the_notebook_escape_columns_and_models():
    models = [(SCRIPT, LogisticRegression())]
    comparison = compare_models(*table(), models, cv=2)
    report = report_comparison(comparison)
    for text in (report.html(), report._repr_html_(), comparison._repr_html_()):
        assert SCRIPT not in text
        assert "&lt;script&gt;alert(1)" in text


def test_queries_have_no_one_list_but_a_table():
    X, y = table()
    comparison = compare_models(
        X, y, [LogisticRegression()], qid=np.arange(400) // 20, cv=2
    )
    page = report_comparison(comparison).html()
    assert "within their queries" in page
    assert "aucmax-slider" not in page


def test_constant_scores_are_reported():
    X, y = table()
    stump = DecisionTreeClassifier(min_samples_leaf=300)
    comparison = compare_models(X, y, [("flat", stump)], cv=2)
    report = report_comparison(comparison)
    assert report.contents["verdict"].startswith("No model ranks these rows")
    assert "constant scores on 2 of 2 folds" in report.html()


def test_two_rows_of_a_class_are_enough():
    X, y = table(60)
    y = np.array(["healthy"] * 56 + ["sick"] * 4)
    comparison = compare_models(X, y, [("lr", LogisticRegression())], cv=2)
    assert "4 positives" in report_comparison(comparison).html()


@pytest.mark.slow
def test_wide_tables_try_the_columns_that_separate_the_classes():
    X, y = table(300, 200)
    target = encode_target(y, "sick")
    model = AutoRanker(models=[GaussianNB()], cv=2, pos_label="sick").fit(X, y)
    importance = importance_of(model, X, target, choose_goal(target), "rows")
    assert "Of 201 columns, only the 40 that separate" in importance["note"]
    columns = {row["column"] for row in importance["rows"]}
    assert {"age", SCRIPT} <= columns
    assert len(columns) + importance["n_more"] == 201


def test_a_model_is_reported_on_other_rows():
    X, y = table(600)
    model = AutoRanker(models=["logistic"], cv=2).fit(X[:300], y[:300])
    report = report_model(model, X[300:], y[300:], fpr_range=(0, 0.2), name="mine")
    contents = report.contents
    assert contents["best"] == "mine"
    assert contents["fpr_range"] == (0, 0.2)
    assert contents["verdict"].startswith("mine: mean sensitivity ")
    assert "at false positive rates 0 to 0.2. Reviewing" in contents["verdict"]
    expected = operating_point(
        y[300:], model.decision_function(X[300:]), alerts=contents["start_depth"]
    )
    assert contents["starts"][0][1]["tp"] == expected.tp
    page = report.html()
    assert "The threshold is the score of the model" in page
    assert "<b>pAUC 0-0.2</b>: the share of the positives found" in page


@pytest.mark.slow
def test_an_auto_ranker_is_reported_with_its_parts():
    X, y = table()
    model = AutoRanker(models=["logistic", "linear"], cv=2).fit(X, y)
    assert report_model(model, X, y).contents["parts"] == model.weights_ != {}
    for names, is_alone in ((["logistic"], True), (["logistic", "linear"], False)):
        report = report_model(AutoRanker(models=names, cv=2).fit(X, y), X, y)
        assert report.contents["n_candidates"] == len(names)
        assert ("No other model was tried" in report.html()) == is_alone
        assert "No combination was better" not in report.html() or not is_alone


def test_rows_of_training_are_recognised():
    X, y = table(600)
    model = AutoRanker(models=["logistic"], cv=2).fit(X[:300], y[:300])
    for rows, is_known in ((slice(0, 300), True), (slice(300, 600), False)):
        said = report_model(model, X[rows], y[rows]).contents
        assert any("was fitted to" in notice for notice in said["notices"]) == is_known
        assert ("was fitted to" in said["verdict"]) == is_known


def test_probabilities_of_a_calibrated_model_are_compared_with_the_labels():
    X, y = table(600)
    model = AutoRanker(models=["logistic"], cv=2, calibrate="sigmoid")
    model.fit(X[:300], y[:300])
    page = report_model(model, X[300:], y[300:]).html()
    chances = model.predict_proba(X[300:])[:, 1]
    expected = reliability(y[300:], chances, pos_label=model.classes_[1])
    assert f"Brier score {expected.brier_score:.4f}" in page


def test_any_classifier_of_arrays_is_reported():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 1] + rng.normal(size=400) > 1
    report = report_model(GaussianNB().fit(X[:200], y[:200]), X[200:], y[200:])
    assert report.contents["importance"]["rows"][0]["column"] == "x1"
    assert report.contents["reliability"].n_rows.sum() == 200
    assert "GaussianNB" in report.markdown()


def test_a_model_that_ranks_nothing_is_rejected():
    X, y = table()
    model = AutoRanker(models=[DecisionTreeClassifier(min_samples_leaf=300)], cv=2)
    with pytest.warns(ConstantScoresWarning, match="gives all rows the same score"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="the same score"):
        report_model(model, X, y)


def test_groups_are_a_column_of_the_table_or_values():
    rows, y = table(600)
    model = AutoRanker(models=["logistic"], cv=2).fit(rows[:300], y[:300])
    other, truth = rows[300:], y[300:]
    by_name = report_model(model, other, truth, by="kind").contents["groups"]
    values = other["kind"].to_list()
    by_value = report_model(model, other, truth, by=values).contents["groups"]
    assert (by_name.pop("column"), by_value.pop("column")) == ("kind", None)
    assert by_name == by_value
    assert by_name["threshold"] == model.decision_threshold_
    with pytest.raises(ValueError, match="X has no column 'x'"):
        report_model(model, other, truth, by="x")
