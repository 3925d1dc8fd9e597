"""When LambdaMART stops, what it keeps then, and what it says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from aucmax import LambdaMART
from aucmax._core.eval_set import hold_out
from aucmax.exceptions import (
    ConstantScoresWarning,
    DivergedWarning,
    NotEnoughClassesError,
)
from aucmax.metrics import mean_average_precision
from aucmax.trees import TreeProgress
from persistence.equality import same
from trees.tree_samples import LABEL_OBJECTIVES, LEVELS, TWO, measure, sample


@pytest.mark.parametrize("name", LABEL_OBJECTIVES)
@pytest.mark.parametrize("with_queries", [False, True])
def test_validation_rows_choose_the_first_best_round(name, with_queries):
    X, y, qid = sample(0, name)
    X_new, y_new, qid_new = sample(1, name)
    if not with_queries:
        qid = qid_new = None
    rate = 0.1 if name == "pauc" else 1.0  # too high, so that the best comes early
    whole = LambdaMART(name, n_estimators=40, learning_rate=rate, min_child_samples=5)
    whole.fit(X, y, qid=qid)
    values = [
        measure(name, y_new, scores, qid_new)
        for scores in whole.staged_decision_function(X_new)
    ]
    rows = {"X": X_new, "y": y_new, "qid": qid_new}
    model = clone(whole).fit(X, y, qid=qid, eval_set=rows)
    # but for scores that tie when the threshold is subtracted
    np.testing.assert_allclose(model.history_["validation"], values, atol=5e-3)
    values = model.history_["validation"]
    assert model.best_iteration_ == np.argmax(values) + 1
    assert model.n_iter_ == 40
    assert model.best_score_ == max(values)
    kept = measure(name, y_new, model.decision_function(X_new), qid_new)
    assert kept == pytest.approx(max(values), abs=5e-3)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.best_iteration_
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
    # what is kept is what a fit of as many rounds is
    short = clone(whole).set_params(n_estimators=model.best_iteration_)
    short.fit(X, y, qid=qid)
    np.testing.assert_allclose(
        model.decision_function(X), short.decision_function(X), atol=1e-12
    )
    np.testing.assert_allclose(model.feature_importances_, short.feature_importances_)
    patient = clone(whole).set_params(n_iter_no_change=3, n_estimators=1000)
    patient.fit(X, y, qid=qid, eval_set=rows)
    assert patient.stop_reason_ == "no change"
    assert patient.n_iter_ == patient.best_iteration_ + 3
    # a later fit without such rows forgets about them
    model.fit(X, y, qid=qid)
    assert model.history_ == {}
    assert not hasattr(model, "best_iteration_")
    assert not hasattr(model, "best_score_")


def test_a_function_can_be_the_metric():
    X, y, qid = sample(0)
    X_new, y_new, qid_new = sample(1)
    y_new = np.where(y_new, "yes", "no")
    kept = []

    def metric(labels, scores, *, qid, sample_weight):
        np.testing.assert_array_equal(labels, y_new)
        np.testing.assert_array_equal(qid, qid_new)
        np.testing.assert_array_equal(sample_weight, np.ones(400))
        kept.append(scores)
        return mean_average_precision(labels == "yes", scores, qid=qid)

    model = LambdaMART(n_estimators=5, eval_metric=metric)
    apart = {"X": X_new, "y": y_new, "sample_weight": np.ones(400), "qid": qid_new}
    model.fit(X, np.where(y, "yes", "no"), qid=qid, eval_set=apart)
    scores = model.decision_function(X_new) + model.threshold_
    value = mean_average_precision(y_new == "yes", scores, qid=qid_new)
    assert model.best_score_ == value
    # each round's scores are its own
    assert len(kept) == 5
    assert len({scores.tobytes() for scores in kept}) == 5
    model.set_params(eval_metric=lambda labels, scores: "good")
    with pytest.raises(ValueError, match="eval_metric returned 'good'"):
        model.fit(X, y, eval_set=(X, y))


# weights multiply the gains of NDCG, whose ranks count rows


@pytest.mark.parametrize("name", LABEL_OBJECTIVES)
@pytest.mark.parametrize("with_queries", [False, True])
def test_rows_are_held_out_where_there_are_none_to_watch(name, with_queries):
    X, y, qid = sample(0, name)
    qid = qid if with_queries else None
    weight = np.arange(400) % 3
    model = LambdaMART(
        name, n_iter_no_change=2, learning_rate=1.0, validation_fraction=0.3
    ).fit(X, y, weight, qid=qid)
    assert model.stop_reason_ == "no change"
    assert model.n_iter_ == model.best_iteration_ + 2
    # the same as if these rows had been given apart
    some = np.flatnonzero(weight)
    labels = y[some]
    train, held = hold_out(labels, 0.3, 0, None if qid is None else qid[some])
    assert 0.2 < held.size / some.size < 0.4
    train, held = some[train], some[held]
    rows = {"X": X[held], "y": y[held], "sample_weight": weight[held]}
    if with_queries:
        rows["qid"] = qid[held]
    again = clone(model).fit(
        X[train],
        y[train],
        weight[train],
        qid=qid[train] if with_queries else None,
        eval_set=rows,
    )
    np.testing.assert_array_equal(
        model.history_["validation"], again.history_["validation"]
    )
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X))


def test_a_callback_sees_every_round_and_can_stop(capfd):
    X, y, _ = sample(0)
    seen = []
    model = LambdaMART(
        callback=lambda progress: seen.append(progress) or len(seen) == 4, verbose=1
    )
    model.fit(X, y, eval_set=(X, y))
    assert model.stop_reason_ == "callback"
    assert [progress.n_iter for progress in seen] == [1, 2, 3, 4]
    assert all(isinstance(progress, TreeProgress) for progress in seen)
    values = [progress.validation for progress in seen]
    assert values == model.history_["validation"].tolist()
    printed = capfd.readouterr()
    assert printed.err == ""
    (line,) = printed.out.splitlines()
    assert line.startswith("LambdaMART: round 4, ")
    assert line.endswith(f"validation {values[-1]:.5f}")


@pytest.mark.parametrize(
    ("n_estimators", "printed"), [(20, [10, 20]), (23, [10, 20, 23]), (1, [1])]
)
def test_a_verbose_fit_prints_every_tenth_round_and_the_last(
    n_estimators, printed, capfd
):
    X, y, _ = sample(0)
    LambdaMART(n_estimators=n_estimators, verbose=1).fit(X, y)
    lines = capfd.readouterr().out.splitlines()
    starts = [f"LambdaMART: round {n}, " for n in printed]
    assert all(line.startswith(s) for line, s in zip(lines, starts, strict=True))
    assert all("validation" not in line for line in lines)


@pytest.mark.parametrize("name", ["auc", "ordinal"])
def test_it_is_silent(name, capfd):
    X, y, qid = sample(0, name)
    X[:, 4] = np.arange(400) % 3
    model = LambdaMART(
        name, n_estimators=3, min_child_samples=20, categorical_features=[4]
    )
    model.fit(X, y, qid=qid, eval_set={"X": X, "y": y, "qid": qid})
    model.decision_function(X)
    with pytest.warns(ConstantScoresWarning):
        model.fit(X[:30], y[:30])
    model.decision_function(X)
    assert capfd.readouterr() == ("", "")


def test_time_runs_out():
    X, y, _ = sample(0)
    model = LambdaMART(n_estimators=10**9, max_time=0.2).fit(X, y)
    assert model.stop_reason_ == "max time"
    assert LambdaMART(max_time=0).fit(X, y).n_iter_ == 1


def test_an_interrupted_fit_leaves_the_model_as_it_was():
    X, y, _ = sample(0)
    model = LambdaMART(n_estimators=5).fit(pd.DataFrame(X, columns=list("abcde")), y)
    before = dict(vars(model))

    def interrupt(progress):
        raise KeyboardInterrupt

    model.callback = interrupt
    for rows in (X[:, :3], pd.DataFrame(X, columns=list("vwxyz"))):
        with pytest.raises(KeyboardInterrupt):
            model.fit(rows, ~y)
        after = dict(vars(model), callback=None)
        assert same(sorted(after), sorted(before))
        assert all(same(after[name], before[name]) for name in before)
    new = LambdaMART(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        new.fit(X, y)
    with pytest.raises(NotFittedError):
        new.decision_function(X)
    assert not hasattr(new, "n_features_in_")


@pytest.mark.parametrize("name", LABEL_OBJECTIVES)
@pytest.mark.parametrize("rate", [1e298, 1e300, 1e308])
def test_a_diverged_model_keeps_its_last_good_round(name, rate):
    X, y, _ = sample(0, name)
    model = LambdaMART(name, learning_rate=rate, min_child_samples=5, reg_lambda=0.0)
    with pytest.warns(DivergedWarning, match=r"scores of round \d+ are too large or"):
        model.fit(X, y, eval_set=(X, y))
    assert model.stop_reason_ == "diverged"
    scores = model.decision_function(X)
    assert np.abs(scores).max() < 1e301
    assert len(list(model.staged_decision_function(X))) == model.best_iteration_
    if rate == 1e298:
        assert model.n_iter_ > 0
        assert np.ptp(scores) > 1e297
    else:
        assert model.n_iter_ == 0
        assert np.ptp(scores) == 0.0
        assert model.best_score_ == measure(name, y, scores)
    assert np.isfinite(model.contributions(X)).all()
    model._check_state()


@pytest.mark.parametrize("name", LABEL_OBJECTIVES)
@pytest.mark.parametrize("case", ["constant columns", "few rows", "gaps"])
def test_without_a_split_all_scores_are_equal(name, case):
    X, y, _ = sample(0, name)
    if case == "few rows":
        X, y = X[:30], y[:30]
    else:
        X = np.full_like(X, np.nan if case == "gaps" else 3.0)
    with pytest.warns(ConstantScoresWarning, match="no split of any column reduces"):
        model = LambdaMART(name, min_child_samples=20).fit(X, y, eval_set=(X, y))
    assert model.stop_reason_ == "no split"
    assert model.n_iter_ == model.best_iteration_ == 0
    assert model.history_["validation"].size == 0
    np.testing.assert_array_equal(model.decision_function(X), np.zeros(y.size))
    assert model.best_score_ == measure(name, y, np.zeros(y.size))
    assert list(model.staged_decision_function(X)) == []
    assert not model.contributions(X).any()
    assert not model.feature_importances_.any()
    if name in TWO:
        assert not model.predict(X).any()


@pytest.mark.parametrize("name", [TWO[0], LEVELS[0]])
def test_bad_validation_rows_are_named(name):
    X, y, qid = sample(0, name)
    model = LambdaMART(name, n_estimators=2)
    y_new = y.astype(object)
    y_new[4] = -7
    with pytest.raises(ValueError, match=r"y of eval_set .*-7"):
        model.fit(X, y, eval_set=(X, y_new))
    with pytest.raises(ValueError, match="eval_set has 400 rows but y has 399"):
        model.fit(X, y, eval_set=(X, y[1:]))
    apart = {"X": X, "y": y, "qid": qid}
    for options in ({"qid": qid, "eval_set": (X, y)}, {"eval_set": apart}):
        with pytest.raises(ValueError, match="must both have a qid, or neither"):
            model.fit(X, y, **options)
    with pytest.raises(ValueError, match="qid of eval_set has 399 rows"):
        model.fit(X, y, qid=qid, eval_set={**apart, "qid": qid[1:]})
    with pytest.raises(ValueError, match="sample_weight of eval_set has 399 rows"):
        model.fit(X, y, eval_set={"X": X, "y": y, "sample_weight": np.ones(399)})
    with pytest.raises(ValueError, match="4 features"):
        model.fit(X, y, eval_set=(X[:, 1:], y))
    one = y == y[0]
    with pytest.raises(NotEnoughClassesError, match="rows cannot be measured"):
        model.fit(X, y, eval_set=(X[one], y[one]))
    with pytest.raises(NotEnoughClassesError, match=r"None of the 400 queries"):
        model.fit(X, y, qid=qid, eval_set={**apart, "qid": np.arange(400)})
    bad = X.copy()
    bad[9, 0] = np.inf
    with pytest.raises(ValueError, match="infinity in row 9, column 0"):
        model.fit(X, y, eval_set=(bad, y))
