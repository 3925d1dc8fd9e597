import pickle

import cvxpy as cp
import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

import aucmax
from aucmax import AUCSVC, LambdaMART, LinearRankerCV, RankBoost
from aucmax._core.censored_times import is_survival_target
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.linear.additive_logistic import AdditiveCox
from aucmax.metrics import concordance_index, survival_target
from reference_concordance import comparable_pairs


def simulate(size=120, seed=0, n_columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, n_columns))
    time = rng.exponential(np.exp(X[:, 0] - 0.5 * X[:, 1])).round(1) + 0.1
    censored = rng.exponential(3.0, size).round(1) + 0.1
    return X, survival_target(time <= censored, np.minimum(time, censored))


X, Y = simulate()
MODELS = {
    "hinge": AUCSVC(),
    "logistic": AUCSVC(loss="logistic"),
    "sigmoid": AUCSVC(loss="sigmoid"),
    "cox": AUCSVC(loss="cox"),
    "search": LinearRankerCV(C_values=(0.1,), cv=2),
    "additive": AdditiveCox(),
    "trees": LambdaMART("concordance", n_estimators=5),
    "cox trees": LambdaMART("cox", n_estimators=5),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_times_ranks_is_saved_and_does_not_predict(name, tmp_path):
    model = clone(MODELS[name]).fit(X, Y)
    scores = model.decision_function(X)
    assert model.is_survival_ is True
    assert not hasattr(model, "classes_")
    assert model.score(X, Y) > 0.7
    assert model.score(X, Y) == concordance_index(Y["event"], Y["time"], scores)
    assert not hasattr(model, "predict")
    assert not is_classifier(model)
    aucmax.save(model, tmp_path / "model.aucmax")
    for copy in (
        aucmax.load(tmp_path / "model.aucmax"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert copy.is_survival_ is True
        np.testing.assert_array_equal(copy.decision_function(X), scores)
        assert copy.score(X, Y) == model.score(X, Y)


@pytest.mark.parametrize("name", MODELS)
def test_frames_other_names_and_weights_of_any_scale_make_no_difference(name):
    fitted = clone(MODELS[name]).fit(X, Y).decision_function(X)
    renamed = np.array(list(zip(Y["time"], Y["event"], strict=True)), "f8,?")
    frame = pl.DataFrame({"time": Y["time"], "event": Y["event"].astype(int)})
    for target in (renamed, frame, frame.to_pandas()):
        assert is_survival_target(target)
        solution = clone(MODELS[name]).fit(X, target).decision_function(X)
        np.testing.assert_allclose(solution, fitted, rtol=1e-9, atol=1e-12)
    weighted = clone(MODELS[name]).fit(X, Y, np.full(Y.size, 0.25))
    scale = np.abs(fitted).max()
    np.testing.assert_allclose(
        weighted.decision_function(X) / scale, fitted / scale, atol=1e-2
    )


@pytest.mark.parametrize("loss", ["hinge", "logistic", "cox"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_the_gap_bounds_the_distance_to_an_independent_optimum(loss, penalty):
    rows, target = simulate(30, seed=4)
    strata = np.arange(30) % 2
    weight = np.random.default_rng(0).choice([1.0, 2.0], 30)
    model = AUCSVC(5.0, loss=loss, penalty=penalty, tol=1e-4)
    model.fit(rows, target, weight, qid=strata)
    w = cp.Variable(3)
    scores, event, time = rows @ w, target["event"], target["time"]
    if loss == "cox":
        # weights relative to the lightest event, which is 1 here
        terms = []
        for i in np.flatnonzero(event):
            at_risk = np.flatnonzero((time >= time[i]) & (strata == strata[i]))
            logs = scores[at_risk] + np.log(weight[at_risk])
            terms.append(weight[i] * (cp.log_sum_exp(logs) - scores[i]))
        risk = sum(terms) / weight[event].sum()
    else:
        pairs = np.array(list(comparable_pairs(event, time, strata)))
        gaps = (rows[pairs[:, 0]] - rows[pairs[:, 1]]) @ w
        mass = weight[pairs].prod(axis=1)
        each = cp.pos(1 - gaps) if loss == "hinge" else cp.logistic(-gaps)
        risk = mass @ each / mass.sum()
    penalties = {
        "l2": 0.5 * cp.sum_squares(w),
        "l1": cp.norm1(w),
        "elasticnet": 0.5 * cp.norm1(w) + 0.25 * cp.sum_squares(w),
    }
    best = cp.Problem(cp.Minimize(penalties[penalty] + 5.0 * risk)).solve()
    slack = 1e-6 * abs(best)
    assert model.objective_ >= best - slack
    assert model.objective_ - model.dual_gap_ <= best + slack
    assert model.dual_gap_ <= 1e-4 * model.objective_


@pytest.mark.parametrize("name", ["hinge", "logistic", "cox", "search", "trees"])
def test_sparse_rows_are_learned(name):
    X, Y = simulate(seed=1)
    X[np.abs(X) < 0.5] = 0.0
    model = clone(MODELS[name])
    if name == "search":
        model.set_params(standardize=False)
    dense = model.fit(X, Y).decision_function(X)
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(
        model.fit(rows, Y).decision_function(rows), dense, rtol=1e-6, atol=1e-9
    )


def test_strata_are_not_compared():
    X, Y = simulate(200, seed=2)
    strata = np.arange(200) % 2
    shifted = survival_target(Y["event"], Y["time"] + 1000.0 * strata)
    wide = np.column_stack([X, strata])
    for model in (AUCSVC(loss="cox"), LambdaMART("cox", n_estimators=5)):
        plain = clone(model).fit(wide, shifted)
        apart = clone(model).fit(wide, shifted, qid=strata)
        assert plain.score(wide, shifted) > 0.8
        assert plain.score(wide, shifted, qid=strata) < apart.score(
            wide, shifted, qid=strata
        )


@pytest.mark.parametrize("objective", ["concordance", "cox"])
def test_trees_stop_early_by_concordance(objective):
    X, Y = simulate(600, seed=3)
    model = LambdaMART(objective, n_iter_no_change=5, min_child_samples=20)
    model.fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:]))
    held = model.score(X[400:], Y[400:])
    assert model.best_score_ == pytest.approx(held, rel=1e-12)
    assert model.stop_reason_ == "no change"
    assert held > 0.65
    named = clone(model).set_params(eval_metric="concordance")
    named.fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:]))
    assert named.best_iteration_ == model.best_iteration_
    drawn = clone(model).fit(X, Y, qid=np.arange(600) % 2)
    assert 0.5 < drawn.best_score_ < 1.0


def test_the_search_reports_cox_and_stratifies_by_event():
    solution = LinearRankerCV(C_values=(0.1, 1.0), cv=3).fit(X, Y)
    losses = {params["loss"] for params in solution.cv_results_["params"]}
    assert losses == {"cox", "sigmoid"}
    assert solution.best_params_["loss"] in losses
    assert solution.best_score_ > 0.6
    with pytest.raises(IncompatibleError, match="part of the ROC curve"):
        LinearRankerCV(fpr_range=(0, 0.1)).fit(X, Y)


def test_a_second_fit_replaces_the_kind_of_target():
    labels = Y["event"]
    for model in (AUCSVC(loss="logistic"), LinearRankerCV(C_values=(0.1,), cv=2)):
        model.fit(X, Y).fit(X, labels)
        assert not hasattr(model, "is_survival_")
        assert is_classifier(model)
        assert model.predict(X).dtype == bool
        model.fit(X, Y)
        assert not hasattr(model, "classes_")
        assert model.is_survival_


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (LambdaMART("auc"), Y, "Use objective='concordance' or 'cox'"),
        (LambdaMART("ordinal"), Y, "Use objective='concordance' or 'cox'"),
        (LambdaMART("cox"), Y["event"], "needs a y with events and times"),
        (LambdaMART("concordance"), Y["time"], "needs a y with events and times"),
        (AUCSVC(loss="cox"), Y["event"], "needs a y with events and times"),
        (AUCSVC(fpr_range=(0, 0.1)), Y, "part of the ROC curve"),
        (RankBoost(), Y, "RankBoost, with these parameters, does not learn"),
        (AdditiveCox(), Y["event"], "y has labels"),
    ],
)
def test_model_and_target_must_fit_together(model, y, message):
    with pytest.raises(IncompatibleError, match=message):
        clone(model).fit(X, y)


def test_metrics_of_labels_do_not_measure_times():
    model = LambdaMART("cox", eval_metric="auc", n_iter_no_change=3)
    with pytest.raises(IncompatibleError, match="Use 'concordance'"):
        model.fit(X, Y)
    model = LambdaMART("auc", eval_metric="concordance", n_iter_no_change=3)
    with pytest.raises(IncompatibleError, match="Use 'auc'"):
        model.fit(X, Y["event"])


def frame(**columns):
    return pl.DataFrame({"event": Y["event"], "time": Y["time"]} | columns)


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        (frame(event=np.zeros(Y.size)), NotEnoughClassesError, "event"),
        (frame(time=np.ones(Y.size), event=np.ones(Y.size)), ValueError, "comparable"),
        (frame(time=Y["time"] - 5.0), ValueError, "at least 0"),
        (frame(event=Y["event"] + 1), ValueError, "event must be 1"),
        (frame(time=np.full(Y.size, np.nan)), ValueError, "must be finite"),
        (frame(time=Y["time"].astype("M8[D]")), ValueError, "holds dates"),
        (frame(entry=Y["time"]), ValueError, "left truncation"),
        (Y[:-1], ValueError, "each row needs one label"),
    ],
)
def test_bad_targets_are_explained(target, error, message):
    for name in ("logistic", "search", "trees"):
        with pytest.raises(error, match=message):
            clone(MODELS[name]).fit(X, target)
    if "comparable" not in message:
        with pytest.raises(error, match=message):
            AUCSVC(loss="cox").fit(X, target)
