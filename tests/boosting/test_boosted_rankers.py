"""What RankBoost and SoftRankBoost share: data, rounds, validation rows, files."""

import time
import warnings
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from aucmax._core.eval_set import hold_out
from aucmax.boosting import RankBoost, SoftRankBoost
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.metrics import roc_auc_score
from boosting.samples import sample
from persistence.equality import same, through_file

pytestmark = pytest.mark.kernel
KINDS = ("stumps", "features", "signed")
MODELS = [
    pytest.param(model(n_estimators=60, hypotheses=kind), id=f"{name}-{kind}")
    for kind in KINDS
    for name, model in (("rank", RankBoost), ("soft", SoftRankBoost))
]
for_every_model = pytest.mark.parametrize("model", MODELS)


@pytest.fixture(autouse=True)
def _rounds_may_not_suffice():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@for_every_model
def test_the_last_staged_scores_are_the_scores(model):
    X, labels = sample(0, n_rows=60)
    model = clone(model).fit(X, labels)
    new, _ = sample(1, n_rows=40, n_levels=9)  # values beyond the training range
    for rows in (X, new, sp.csr_array(new), new.astype(np.float32)):
        stages = list(model.staged_decision_function(rows))
        assert len(stages) == model.n_iter_ == model.weights_.size
        np.testing.assert_allclose(
            stages[-1],
            model.decision_function(rows),
            atol=1e-4 * model.weights_.sum() if rows.dtype == np.float32 else 1e-10,
        )
    assert not np.array_equal(stages[0], stages[-1])


@for_every_model
def test_weight_is_repetition(model):
    X, labels = sample(6, n_rows=50)
    repeats = np.random.default_rng(0).integers(0, 4, labels.size)
    repeats[:2] = 1
    weighted = clone(model).fit(X, labels, sample_weight=repeats)
    repeated = clone(model).fit(np.repeat(X, repeats, axis=0), labels.repeat(repeats))
    assert weighted.n_iter_ == repeated.n_iter_
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-8
    )
    rescaled = clone(model).fit(X, labels, sample_weight=repeats * 1e-3)
    np.testing.assert_allclose(
        weighted.decision_function(X), rescaled.decision_function(X), atol=1e-8
    )


@for_every_model
def test_validation_rows_choose_the_first_best_round(model):
    X, labels = sample(0, n_rows=60)
    X_new, labels_new = sample(1, n_rows=60)
    model = clone(model).set_params(n_estimators=150)
    whole = clone(model).fit(X, labels)
    areas = [
        roc_auc_score(labels_new, scores)
        for scores in whole.staged_decision_function(X_new)
    ]
    chosen = clone(model).fit(X, labels, eval_set=(X_new, labels_new))
    np.testing.assert_allclose(chosen.history_["validation_auc"], areas, atol=1e-3)
    areas = chosen.history_["validation_auc"]
    assert chosen.n_iter_ == whole.n_iter_ == areas.size
    assert chosen.best_iteration_ == np.argmax(areas) + 1 == chosen.weights_.size
    assert chosen.best_iteration_ < chosen.n_iter_
    area = roc_auc_score(labels_new, chosen.decision_function(X_new))
    assert area == pytest.approx(areas.max(), abs=2e-3)
    stages = list(chosen.staged_decision_function(X))
    assert len(stages) == chosen.best_iteration_
    # a later fit without such rows forgets about them
    assert not hasattr(chosen.fit(X, labels), "best_iteration_")


@for_every_model
def test_patience_stops_the_rounds(model):
    X, labels = sample(0, n_rows=60)
    eval_set = sample(1, n_rows=60)
    model = clone(model).set_params(n_estimators=150)
    whole = clone(model).fit(X, labels, eval_set=eval_set)
    patient = clone(model).set_params(n_iter_no_change=9)
    patient.fit(X, labels, eval_set=eval_set)
    assert patient.stop_reason_ == "no change"
    assert patient.n_iter_ == patient.best_iteration_ + 9
    np.testing.assert_array_equal(
        patient.history_["validation_auc"],
        whole.history_["validation_auc"][: patient.n_iter_],
    )


@for_every_model
def test_the_certificate_and_history_belong_to_their_rounds(model):
    X, labels = sample(0, n_rows=60)
    fitted = clone(model).fit(X, labels, eval_set=sample(1, n_rows=60))
    assert all(values.shape == (fitted.n_iter_,) for values in fitted.history_.values())
    if isinstance(fitted, SoftRankBoost):
        last = fitted.best_iteration_ - 1
        assert fitted.margin_ == fitted.history_["margin"][last]
        assert fitted.nu_pos_ == fitted.history_["nu_pos"][last]
        scores = fitted.decision_function(X)
        margins = (scores[labels][:, None] - scores[~labels][None, :]) / 2
        assert (margins >= fitted.margin_ - 1e-12).sum() >= fitted.pairs_guaranteed_


@for_every_model
def test_linear_models_carry_their_coefficients(model):
    X, labels = sample(0, n_rows=60)
    fitted = clone(model).fit(X, labels)
    if model.hypotheses == "stumps":
        assert not hasattr(fitted, "coef_")
        return
    scores = X @ fitted.coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(X), scores, atol=1e-10)
    fitted.set_params(hypotheses="stumps").fit(X, labels)
    assert not hasattr(fitted, "coef_")
    assert not hasattr(fitted, "low_")


@for_every_model
def test_a_saved_model_comes_back_bit_for_bit(model, tmp_path):
    X, labels = sample(0, n_rows=60)
    fitted = clone(model).set_params(callback=print, n_estimators=3)
    fitted.fit(X, np.where(labels, "yes", "no"), eval_set=None)
    again = through_file(fitted.set_params(callback=None), tmp_path)
    assert same(vars(again), vars(fitted))
    np.testing.assert_array_equal(
        again.decision_function(X), fitted.decision_function(X)
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns_", np.array([7, 0, 0])),
        ("columns_", np.array([-1, 0, 0])),
        ("columns_", np.array([0.0, 0.0, 0.0])),
        ("weights_", np.ones(4)),
        ("directions_", np.ones((3, 1))),
        ("classes_", np.array([0, 1, 2])),
        ("low_", np.zeros(2)),
    ],
)
def test_a_state_that_no_fit_leaves_is_refused(name, value, tmp_path):
    X, labels = sample(0)
    model = RankBoost(3, hypotheses="signed").fit(X, labels)
    setattr(model, name, value)
    with pytest.raises(ValueError, match="cannot save this RankBoost"):
        through_file(model, tmp_path)


def test_a_callback_sees_every_round_and_can_stop(capsys):
    X, labels = sample(0)
    seen = []
    model = RankBoost(
        50, callback=lambda progress: seen.append(progress) or len(seen) == 4, verbose=1
    )
    model.fit(X, labels, eval_set=(X, labels))
    assert model.stop_reason_ == "callback"
    assert [progress.n_iter for progress in seen] == [1, 2, 3, 4]
    assert [progress.loss for progress in seen] == model.history_["loss"].tolist()
    assert [progress.edge for progress in seen] == model.history_["edge"].tolist()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("RankBoost: round 1, ")
    assert f"validation AUC {seen[0].validation_auc:.5f}" in lines[0]


def test_time_runs_out(monkeypatch):
    # a clock that continues by a second whenever someone looks at it
    monkeypatch.setattr(time, "perf_counter", map(float, count()).__next__)
    X, labels = sample(0)
    model = RankBoost(10**9, max_time=5.0).fit(X, labels)
    assert model.stop_reason_ == "max time"
    assert model.n_iter_ == 5


@for_every_model
def test_rows_are_held_out_where_none_are_given(model):
    X, labels = sample(0, n_rows=60)
    y = np.where(labels, "yes", "no")
    weight = np.random.default_rng(0).integers(0, 3, 60)
    weight[:2] = 2
    patient = clone(model).set_params(
        n_iter_no_change=5, validation_fraction=0.25, random_state=3
    )
    X_kept, y_kept, weight_kept = X[weight > 0], y[weight > 0], weight[weight > 0]
    train, held = hold_out(y_kept, 0.25, 3)
    ours = clone(patient).fit(X, y, weight)
    theirs = clone(patient).fit(
        X_kept[train],
        y_kept[train],
        weight_kept[train],
        eval_set={
            "X": X_kept[held],
            "y": y_kept[held],
            "sample_weight": weight_kept[held],
        },
    )
    assert ours.best_iteration_ <= ours.n_iter_ <= 60
    assert same(vars(ours), vars(theirs))
    # without patience no rows are needed
    whole = clone(patient).set_params(n_iter_no_change=None).fit(X, y, weight)
    assert not hasattr(whole, "best_iteration_")


@pytest.mark.parametrize("model", [RankBoost, SoftRankBoost])
def test_functions_are_the_matrix_of_their_values(model):
    X, labels = sample(0, n_rows=60)
    functions = [lambda X, k=k: np.tanh(X[:, k] - 3.0) for k in range(5)]
    functions.append(lambda X: X[:, 0] > X[:, 2])

    def values(X):
        columns = [function(X) for function in functions]
        return np.asfortranarray(np.column_stack(columns))

    X_new, labels_new = sample(1, n_rows=60)
    ours = model(n_estimators=60, hypotheses=functions)
    ours.fit(X, labels, eval_set=(X_new, labels_new))
    theirs = model(n_estimators=60, hypotheses="precomputed")
    theirs.fit(values(X), labels, eval_set=(values(X_new), labels_new))
    np.testing.assert_array_equal(
        ours.decision_function(X_new), theirs.decision_function(values(X_new))
    )
    assert same(ours.history_, theirs.history_)
    assert ours.n_features_in_ == 6
    last = list(ours.staged_decision_function(X_new))[-1]
    np.testing.assert_allclose(last, ours.decision_function(X_new), atol=1e-12)


@for_every_model
def test_constant_columns_rank_nothing(model):
    with pytest.warns(UserWarning, match="no hypothesis ranks .* all scores are equal"):
        fitted = clone(model).fit(np.ones((8, 2)), [0, 1] * 4)
    assert fitted.n_iter_ == 0
    assert fitted.stop_reason_ == "no edge"
    assert list(fitted.staged_decision_function(np.ones((2, 2)))) == []
    np.testing.assert_array_equal(fitted.decision_function([[1.0, 5.0]]), [0.0])
    np.testing.assert_array_equal(fitted.predict([[1.0, 5.0]]), [0])


def test_bad_data_are_named():
    X, labels = sample(0)
    model = RankBoost(3)
    with pytest.raises(NotFittedError):
        next(model.staged_decision_function(X))
    with pytest.raises(NotEnoughClassesError, match="eval_set holds one class only"):
        model.fit(X, labels, eval_set=(X[labels], labels[labels]))
    with pytest.raises(IncompatibleError, match="eval_set has a qid, but RankBoost"):
        model.fit(X, labels, eval_set={"X": X, "y": labels, "qid": labels})
    for weight, fault in ((~labels, "in every row of class"), (labels[1:], "29 rows")):
        rows = {"X": X, "y": labels, "sample_weight": weight.astype(float)}
        with pytest.raises(ValueError, match=f"sample_weight.*{fault}"):
            model.fit(X, labels, eval_set=rows)
    y = np.where(labels, "yes", "no").astype(object)
    y_new = y.copy()
    y_new[4] = "maybe"
    with pytest.raises(ValueError, match=r"y of eval_set is .*'maybe'.* in row 4"):
        model.fit(X, y, eval_set=(X, y_new))
