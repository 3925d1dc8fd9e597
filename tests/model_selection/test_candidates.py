import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import aucmax
from aucmax import LambdaMART
from aucmax.model_selection.candidates import CANDIDATES, Setting, choose_candidates
from aucmax.model_selection.estimate import WHOLE

EARLY = {"fpr_range": (0.0, 0.1), "tpr_range": (0.0, 1.0)}


def setting(**changes):
    usual = {
        "n_rows": 100,
        "n_columns": 4,
        "is_sparse": False,
        "part": WHOLE,
        "n_jobs": 1,
        "random_state": 0,
    }
    return Setting(**{**usual, **changes})


def names(models, **changes):
    return [one.name for one in choose_candidates(models, setting(**changes))]


def test_names_differ():
    assert len({one.name for one in CANDIDATES}) == len(CANDIDATES)


def test_wide_and_sparse_tables_have_candidates_that_suit_them():
    assert names("default", part=EARLY) == [one.name for one in CANDIDATES]
    assert set(names("default", part=EARLY)) - set(names("default")) == {
        "trees of pairs"
    }
    assert "additive" not in names("default", is_sparse=True)
    wide = names("default", is_sparse=True, n_columns=100_000)
    kernels = ["kernel", "smooth kernel", "narrow kernel"]
    assert wide == ["logistic regression", "boosted trees", *kernels, "linear"]


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda one: one.name)
@pytest.mark.parametrize("part", [WHOLE, EARLY])
def test_every_candidate_learns_and_can_be_saved(candidate, part, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(100, 4))
    y = (X[:, 0] + 0.5 * generator.normal(size=100) > 0).astype(int)
    model = candidate.make(setting(part=part))
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=10)
    model.fit(X, y)
    assert aucmax.metrics.roc_auc_score(y, model.decision_function(X)) > 0.85
    aucmax.save(model, tmp_path / "model.aucmax")
    again = aucmax.load(tmp_path / "model.aucmax")
    np.testing.assert_array_equal(
        model.decision_function(X), again.decision_function(X)
    )


def test_trees_of_pairs_train_for_the_range():
    (pairs,) = choose_candidates(["trees of pairs"], setting(part=EARLY))
    assert pairs.make(setting(part=EARLY)).objective == "pauc"
    assert pairs.make(setting()).objective == "logistic"


def test_estimators_may_be_given_with_or_without_a_name():
    given = [LogisticRegression(C=7.0), ("mine", LambdaMART()), "kernel"]
    found = choose_candidates(given, setting())
    assert [one.name for one in found] == ["LogisticRegression", "mine", "kernel"]
    assert [one.view for one in found] == ["linear", "trees", "linear"]
    made = found[0].make(setting())
    assert made.C == 7.0
    assert made is not given[0]


@pytest.mark.parametrize(
    ("models", "error", "message"),
    [
        ("kernel", ValueError, "put one model into a list"),
        ([], ValueError, "at least one model"),
        (["stars"], ValueError, "there is no model 'stars'; choose from logistic"),
        ([LogisticRegression], TypeError, "a model is a name, an estimator"),
        (["kernel", "kernel"], ValueError, "two models have the name 'kernel'"),
    ],
)
def test_what_is_no_model_is_refused(models, error, message):
    with pytest.raises(error, match=message):
        choose_candidates(models, setting())
