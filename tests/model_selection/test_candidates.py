import numpy as np
import pytest

import aucmax
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.models import (
    CANDIDATES,
    MODELS,
    SearchSetting,
    choose_candidates,
)

WHOLE = Goal("auc")
EARLY = Goal("partial_auc", (0.0, 0.1))
LATE = Goal("partial_auc", (0.1, 0.3))
ONE_MODEL = [name for name in MODELS if name != "auto"]


def setting(**changes):
    return SearchSetting(4, False, WHOLE, 1, 0)._replace(**changes)


def names(models, **changes):
    return [*choose_candidates(models, setting(**changes))]


def one_candidate(model, **changes):
    (candidate,) = choose_candidates([model], setting(**changes)).values()
    return candidate


def test_wide_and_sparse_tables_have_candidates_that_suit_them():
    assert names("default") == names("default", goal=EARLY) == [*CANDIDATES]
    assert "additive" not in names("default", is_sparse=True)
    wide = names("default", is_sparse=True, n_columns=100_000)
    assert "extra-trees" in wide
    assert not {"lightgbm-shallow", "lightgbm-large"} & set(wide)


def test_models_that_store_rows_can_be_left_out():
    candidates = names("default", stores_rows=False)
    kernels = {"kernel", "kernel-smooth", "kernel-narrow"}
    assert set(names("default")) - set(candidates) == kernels
    with pytest.raises(ValueError, match="'kernel' stores training rows"):
        names(["logistic", "kernel"], stores_rows=False)


@pytest.mark.parametrize("name", ONE_MODEL)
@pytest.mark.parametrize("goal", [WHOLE, EARLY])
def test_every_model_of_the_list_learns_and_can_be_saved(name, goal, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(100, 4))
    y = (X[:, 0] + 0.5 * generator.normal(size=100) > 0).astype(int)
    model = one_candidate(name, goal=goal).estimator
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=10)
    if MODELS[name].learns_survival:
        model.fit(X, aucmax.metrics.survival_target(y, np.exp(-X[:, 0])))
    else:
        model.fit(X, y)
    assert aucmax.metrics.roc_auc_score(y, model.decision_function(X)) > 0.85
    aucmax.save(model, tmp_path / "model.aucmax")
    again = aucmax.load(tmp_path / "model.aucmax")
    np.testing.assert_array_equal(
        model.decision_function(X), again.decision_function(X)
    )


def test_trees_of_pairs_train_for_the_range():
    early = Goal("partial_auc", (0.0, 0.2))
    pairs = one_candidate("lambdamart-pauc", goal=early)
    assert pairs.estimator.fpr_range == (0.0, 0.2)
    other = one_candidate("lambdamart-pauc", goal=LATE)
    assert other.estimator.fpr_range == (0.0, 0.1)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ("kernel", "for a single model"),
        (["stars"], "there is no model 'stars'. Choose from linear"),
        (["random-forrest"], "Did you mean 'random-forest'"),
        (["auto"], "there is no model 'auto'"),
    ],
)
def test_names_that_are_not_in_the_list_are_rejected(models, message):
    with pytest.raises(ValueError, match=message):
        choose_candidates(models, setting())
