import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.preprocessing import StandardScaler

from aucmax import LinearRankerCV
from aucmax._core.eval_set import LabelledRows
from aucmax.datasets import load_table
from aucmax.exceptions import NotEnoughClassesError
from aucmax.linear.loss_search import Candidate, fit_candidates
from aucmax.metrics import partial_auc_score
from aucmax.metrics.metric_names import names, parse_metric
from aucmax.risks import SmoothAveragePrecision

WHOLE = (0.0, 1.0)
EARLY = (0.0, 0.1)


def rows(n_rows=400, n_features=6, seed=0, noise=1.0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_features))
    y = X[:, 0] - X[:, 1] + noise * generator.normal(size=n_rows) > 1.0
    return X, y


def few(**options):
    folds = StratifiedKFold(2)  # a number of folds would be drawn five times
    return LinearRankerCV(**{"C_values": (0.1, 1.0), "cv": folds, **options})


def test_the_table_of_results_is_that_of_the_folds():
    X, y = rows(2600)
    model = few(fpr_range=EARLY, cv=3).fit(X, y)
    results = model.cv_results_
    n_candidates = 5 + 3 * 2  # C of logistic regression; of sigmoids on three ranges
    assert model.n_splits_ == 3
    assert len(results["params"]) == n_candidates
    table = np.array([results[f"split{k}_test_score"] for k in (1, 2)])
    assert np.isfinite(results["split0_test_score"]).all()
    np.testing.assert_allclose(table.mean(axis=0), results["mean_test_score"])
    np.testing.assert_allclose(table.std(axis=0), results["std_test_score"])
    assert results["rank_test_score"].min() == 1
    assert results["params"][model.best_index_] == model.best_params_
    assert results["mean_test_score"][model.best_index_] == model.best_score_
    ends = sorted({p["fpr_range"][1] for p in results["params"]})
    assert ends == pytest.approx([0.1, 0.3, 1.0])


def test_a_fold_measures_what_its_candidate_would():
    X, y = rows(3000)
    splitter = KFold(2)
    model = few(cv=splitter, losses=("logistic regression",), standardize=False)
    results = model.fit(X, y).cv_results_
    train, test = next(splitter.split(X))
    for params, score in zip(
        results["params"], results["split0_test_score"], strict=True
    ):
        peer = LogisticRegression(C=params["C"]).fit(X[train], y[train])
        expected = partial_auc_score(y[test], peer.decision_function(X[test]))
        assert score == pytest.approx(expected, abs=1e-3)


def test_standard_columns_inside_are_as_good_as_outside():
    X, y = rows()
    units = 10.0 ** np.arange(-3, 3)
    inside = few().fit(X * units + 5.0, y)
    outside = few(standardize=False).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(
        np.argsort(inside.decision_function(X * units + 5.0)),
        np.argsort(outside.decision_function(StandardScaler().fit_transform(X))),
    )
    assert inside.best_params_ == outside.best_params_


def test_columns_of_zeros_and_ones_keep_their_scale():
    X, y = rows(600)
    X[:, 3:] = np.arange(600)[:, None] % np.array([2, 50, 300]) == 0
    C = {"losses": ("logistic regression",), "C_values": (1e-3,)}
    inside = few(**C).fit(X * [10, 1, 0.1, 1, 1, 1] + [5, 0, 0, 0, 0, 0], y)
    X[:, :3] = StandardScaler().fit_transform(X[:, :3])
    outside = few(**C, standardize=False).fit(X, y)
    assert inside.best_params_ == outside.best_params_
    np.testing.assert_allclose(
        inside.coef_[0, 3:], outside.coef_[0, 3:], rtol=0.02, atol=1e-4
    )


def test_zero_is_the_threshold_of_the_best_balanced_accuracy():
    X, y = rows()
    model = few().fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), scores > 0.0)

    def balanced(cut):
        return (scores[y] > cut).mean() + (scores[~y] <= cut).mean()

    assert balanced(0.0) >= max(map(balanced, scores)) - 1e-9


def test_folds_of_small_data_are_drawn_several_times():
    model = few(cv=3, losses=("logistic regression",))
    assert model.fit(*rows(300)).n_splits_ == 15
    assert model.fit(*rows(3000)).n_splits_ == 3


def test_weights_of_zero_leave_rows_out_of_the_fit():
    X, y = rows()
    weight = np.ones(y.size)
    weight[::5] = 0.0
    spoilt = X.copy()
    spoilt[::5] *= -3.0
    cv = KFold(3)
    one = few(standardize=False, cv=cv).fit(spoilt, y, weight)
    two = few(standardize=False, cv=cv).fit(X, y, weight)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-3, atol=1e-5)


def test_groups_and_queries_stay_in_one_fold():
    X, y = rows(600)
    groups = np.arange(600) // 20
    by_groups = few(cv=3).fit(X, y, groups=groups)
    assert by_groups.n_splits_ == 3
    chosen = few(cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert chosen.n_splits_ == 3
    within = few(cv=3).fit(X, y, qid=groups)
    assert within.score(X, y, qid=groups) > 0.8


@pytest.mark.slow
def test_processes_change_nothing():
    X, y = rows(300)
    one, two = few().fit(X, y), few(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )


def test_no_time_leaves_the_first_fold_and_a_warning():
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="after 1 of 15 folds"):
        model = few(max_time=0.0, cv=3).fit(X, y)
    assert model.n_splits_ == 1
    assert model.best_params_["loss"] == "logistic regression"
    seen = []
    with pytest.warns(ConvergenceWarning, match="after 2 of 15 folds"):
        few(cv=3, callback=lambda p: seen.append(str(p)) or len(seen) == 2).fit(X, y)
    assert "fold 2 of 15" in seen[1]


def test_a_fold_without_a_class_is_named():
    X, y = rows(90)
    y[:] = False
    y[:2] = True
    with pytest.raises(NotEnoughClassesError, match=r"fold \d has no positive row"):
        few(cv=KFold(3)).fit(X, y)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = rows(300)
    model = few().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((300, 3), np.nan), y)
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.slow
@pytest.mark.real_data
def test_the_left_end_of_mammography_is_better_than_logistic_regressions(real_data):
    table = load_table(real_data / "mammography" / "mammography.csv.gz")
    X, y = table.drop("target").to_numpy(), table["target"].to_numpy() == 1
    gains = []
    splitter = StratifiedShuffleSplit(3, test_size=1 / 3, random_state=0)
    for train, test in splitter.split(X, y):
        peer = LinearRankerCV(fpr_range=EARLY, losses=("logistic regression",))
        ours = LinearRankerCV(fpr_range=EARLY).fit(X[train], y[train])
        peer.fit(X[train], y[train])
        gains.append(ours.score(X[test], y[test]) - peer.score(X[test], y[test]))
    assert np.mean(gains) > 0.03


AT_THE_TOP = "smooth average precision"


def squared_rows(seed, n_rows=1500):
    """Rows whose top is found by one column, and all else by another."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    risk = np.where(X[:, 0] > 1.5, 2.5, -2.5 + 0.9 * X[:, 1])
    return X, generator.random(n_rows) < 1.0 / (1.0 + np.exp(-risk))


def test_a_model_for_average_precision_has_more_of_it():
    X, y = squared_rows(0)
    test = squared_rows(1, 10_000)
    model = LinearRankerCV(metric="average_precision", C_values=(1.0,)).fit(X, y)
    assert model.best_params_["loss"] == AT_THE_TOP
    assert model.best_params_["width"] in (0.1, 0.3)
    peer = LinearRankerCV(C_values=(1.0,)).fit(X, y)
    assert "width" not in peer.best_params_
    found, expected = (
        average_precision_score(test[1], one.decision_function(test[0]))
        for one in (model, peer)
    )
    assert found > expected + 0.02
    assert model.score(*test) == pytest.approx(found)


@pytest.mark.parametrize("width", [0.1, 0.3])
def test_smooth_average_precision_lowers_its_risk(width):
    X, y = squared_rows(2, 800)
    kind = Candidate(AT_THE_TOP, WHOLE, WHOLE, 10.0, width)
    start = Candidate("logistic regression", WHOLE, WHOLE, 10.0)
    rows = LabelledRows(X, y, None, None)
    (first, last), _, _ = fit_candidates(rows, [start, kind])
    risk = SmoothAveragePrecision(width * (X @ first).std()).bind(y)
    assert risk.value(X @ last) < risk.value(X @ first) - 0.01
    # the best weights of each fit are those of its loss alone
    (alone,), _, _ = fit_candidates(rows, [kind])
    np.testing.assert_allclose(alone, last, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", [n for n in names() if n != "concordance"])
def test_any_metric_of_two_classes_decides(name):
    kind = parse_metric(name).kind
    X, y = squared_rows(4, 300)
    queries = {"qid": np.arange(300) // 50} if kind.needs_queries else {}
    folds = GroupKFold(2) if kind.needs_queries else StratifiedKFold(2)
    model = few(metric=name, C_values=(1.0,), cv=folds)
    if kind.uses_levels and not kind.needs_queries:
        with pytest.raises(ValueError, match="this model has two classes"):
            model.fit(X, y)
        return
    model.fit(X, y, **queries)
    options = {"fpr_range": EARLY} if name == "partial_auc" else {}
    expected = parse_metric(name).function(
        y, model.decision_function(X), **queries, **options
    )
    assert model.score(X, y, **queries) == expected
    losses = {params["loss"] for params in model.cv_results_["params"]}
    assert (AT_THE_TOP in losses) == (kind.is_top or kind.needs_queries)


def test_a_rate_of_false_positives_is_a_range_to_train_on():
    X, y = squared_rows(5, 300)
    params = few(metric="recall@fpr=0.05").fit(X, y).cv_results_["params"]
    ends = {p["fpr_range"][1] for p in params if p["loss"] == "sigmoid"}
    assert ends == {0.05, 0.15, 1.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "accuracy"}, "metric must be one of 'auc'"),
        ({"metric": "map"}, "metric='map' needs queries: pass qid"),
        (
            {"metric": "average_precision", "fpr_range": EARLY},
            r"metric='average_precision' has no part of the curve, which contradicts "
            r"fpr_range=\(0.0, 0.1\)",
        ),
        ({"losses": ("smooth",)}, "losses must be one of"),
    ],
)
def test_bad_metrics_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        few(**options).fit(*rows())


@pytest.mark.parametrize("cv", [[], {}, (0.5, 0.1)])
def test_folds_that_are_no_pairs_of_rows_are_rejected(cv):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match="cv must be a number of folds, a splitter"):
        LinearRankerCV(cv=cv).fit(X, X[:, 0] > 0.0)
