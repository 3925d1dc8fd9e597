"""A fit of trees that was ended at any round goes on to the same model."""

import numpy as np
import pytest
from scipy import sparse

from aucmax import LambdaMART
from aucmax.exceptions import CheckpointError, IncompatibleError, ModelFileError
from aucmax.persistence import checkpoint as checkpoint_file
from aucmax.persistence.checkpoint import Checkpoint
from aucmax.trees import segments
from killed import KilledError
from persistence.equality import same
from trees.tree_samples import sample


def killed_at(round_number):
    def callback(progress):
        if progress.n_iter == round_number:
            raise KilledError

    return callback


@pytest.fixture(autouse=True)
def _every_segment_is_written(monkeypatch):
    monkeypatch.setattr(checkpoint_file, "_SHARE_OF_TIME", 0.0)


def fit_with_deaths(path, deaths, fit_options, **parameters):
    """Fit a model in as many attempts as there are deaths, and one more."""
    for death in deaths:
        model = LambdaMART(callback=killed_at(death), **parameters)
        with pytest.raises(KilledError):
            model.fit(checkpoint=path, **fit_options)
    return LambdaMART(**parameters).fit(checkpoint=path, **fit_options)


@pytest.mark.parametrize(
    ("objective", "parameters"),
    [
        ("logistic", {}),
        ("auc", {"subsample": 0.6, "params": {"bagging_seed": 5}}),
        ("pauc", {"params": {"extra_trees": True, "feature_fraction_bynode": 0.5}}),
        ("ordinal", {"n_iter_no_change": 25, "n_estimators": 150}),
    ],
)
def test_the_model_is_the_same_wherever_it_was_ended(objective, parameters, tmp_path):
    X, y, qid = sample(0, objective)
    parameters = {"objective": objective, "n_estimators": 65, **parameters}
    rows = {"X": X, "y": y, "qid": qid if objective == "ordinal" else None}
    whole = LambdaMART(**parameters).fit(checkpoint=tmp_path / "whole", **rows)
    assert whole.n_iter_ > 40
    found = fit_with_deaths(tmp_path / "part", (3, 21, 40, 44), rows, **parameters)
    for name, value in vars(whole).items():
        if name.endswith("_"):
            assert same(getattr(found, name), value), name


def test_sparse_rows_and_validation_rows_go_on_as_well(tmp_path):
    X, y, _ = sample(0)
    X = sparse.csr_array(np.where(np.abs(X) < 0.8, 0.0, X))
    rows = {"X": X[:200], "y": y[:200], "eval_set": (X[200:], y[200:])}
    whole = LambdaMART(n_estimators=60).fit(checkpoint=tmp_path / "whole", **rows)
    found = fit_with_deaths(tmp_path / "part", (30, 50), rows, n_estimators=60)
    assert found.model_text_ == whole.model_text_
    assert found.best_iteration_ == whole.best_iteration_
    np.testing.assert_array_equal(
        found.history_["validation"], whole.history_["validation"]
    )


def test_without_draws_a_checkpoint_changes_nothing(tmp_path):
    X, y, _ = sample(0)
    model = LambdaMART(n_estimators=50, colsample_bytree=1.0)
    plain = model.fit(X, y).model_text_.partition("\nparameters:")[0]
    kept = model.fit(X, y, checkpoint=tmp_path / "a.part").model_text_
    assert kept.partition("\nparameters:")[0] == plain


def test_columns_are_drawn_anew_in_each_segment(tmp_path):
    X, y, _ = sample(0)
    model = LambdaMART(n_estimators=60, colsample_bytree=0.4, num_leaves=2)
    model.fit(X, y, checkpoint=tmp_path / "a.part")
    used = [
        line
        for line in model.model_text_.splitlines()
        if line.startswith("split_feature=")
    ]
    assert len({tuple(used[k : k + 20]) for k in (0, 20, 40)}) == 3


def test_a_finished_fit_is_found_and_others_may_have_its_file(tmp_path):
    X, y, _ = sample(0)
    path, model = tmp_path / "a.part", LambdaMART(n_estimators=30)
    first = model.fit(X, y, checkpoint=path).model_text_
    rounds = []
    again = LambdaMART(n_estimators=30, callback=rounds.append)
    assert again.fit(X, y, checkpoint=path).model_text_ == first
    assert rounds == []
    other = LambdaMART(n_estimators=30, callback=rounds.append)
    other.fit(X[:, ::-1], y, checkpoint=path)
    assert len(rounds) == 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"learning_rate": 0.2}, "learning_rate was 0.05 and is 0.2 now"),
        ({"objective": "auc"}, "objective was logistic and is auc now"),
        ({"params": {"max_bin": 63}}, "max_bin was not there and is 63 now"),
        ({"eval_metric": "roc_auc"}, "eval_metric was None and is roc_auc"),
        ({}, "the digest of the rows"),
    ],
)
def test_another_fit_is_refused_and_an_earlier_model_kept(change, words, tmp_path):
    X, y, _ = sample(0)
    path = tmp_path / "a.part"
    with pytest.raises(KilledError):
        LambdaMART(callback=killed_at(30)).fit(X, y, checkpoint=path)
    model = LambdaMART(n_estimators=3).fit(X, y)
    before = model.model_text_
    model.set_params(n_estimators=300, **change)
    with pytest.raises(CheckpointError, match=words):
        model.fit(X if change else X * 2.0, y, checkpoint=path)
    assert model.model_text_ == before


def test_threads_and_callbacks_do_not_make_another_fit(tmp_path):
    X, y, _ = sample(0)
    with pytest.raises(KilledError):
        LambdaMART(n_estimators=45, callback=killed_at(30)).fit(
            X, y, checkpoint=tmp_path / "a.part"
        )
    rounds = []
    model = LambdaMART(n_estimators=45, n_jobs=2, callback=rounds.append)
    model.fit(np.asfortranarray(X), y, checkpoint=tmp_path / "a.part")
    assert [news.n_iter for news in rounds] == list(range(21, 46))


def test_time_of_earlier_attempts_counts(tmp_path):
    X, y, _ = sample(0)
    rows = {"X": X, "y": y}
    with pytest.raises(KilledError):
        LambdaMART(max_time=60.0, callback=killed_at(25)).fit(
            checkpoint=tmp_path / "a.part", **rows
        )
    forge(tmp_path / "a.part", seconds=59.99999)
    model = LambdaMART(max_time=60.0).fit(checkpoint=tmp_path / "a.part", **rows)
    assert model.stop_reason_ == "max time"
    assert model.n_iter_ == 21


def forge(path, **changes):
    """Change the state of a checkpoint, hashes and all."""
    fit, _, state = checkpoint_file._unpack(path.read_bytes())
    Checkpoint(path, fit).write({**state, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"n_iter": 19},
        {"n_iter": 20.0},
        {"n_kept": 21},
        {"n_kept": -1},
        {"validation": [0.5]},
        {"seconds": None},
        {"reason": 3},
        {"scores": np.zeros(3)},
        {"scores": np.full(400, np.nan)},
        {"kept_scores": np.zeros(400, dtype=np.float32)},
        {"apart_scores": np.zeros(400)},
        {"texts": []},
        {"texts": ["tree\n"]},
        {"texts": [7]},
        {"more": 1},
    ],
    ids=str,
)
def test_forged_states_are_refused(changes, tmp_path):
    X, y, _ = sample(0)
    assert len(X) == 400
    path = tmp_path / "a.part"
    with pytest.raises(KilledError):
        LambdaMART(callback=killed_at(21)).fit(X, y, checkpoint=path)
    forge(path, **changes)
    with pytest.raises(ModelFileError, match="Delete the file"):
        LambdaMART().fit(X, y, checkpoint=path)


def test_what_cannot_be_kept_is_refused(tmp_path):
    X, y, _ = sample(0)
    goss = LambdaMART(params={"data_sample_strategy": "goss"})
    with pytest.raises(IncompatibleError, match="goss"):
        goss.fit(X, y, checkpoint=tmp_path / "a.part")


def test_a_later_segment_without_a_split_ends_the_rounds(tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "ROUNDS_PER_SEGMENT", 1)
    monkeypatch.setattr("aucmax.trees.rounds.ROUNDS_PER_SEGMENT", 1)
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat([0, 1], 10)
    model = LambdaMART(
        n_estimators=50, learning_rate=1.0, params={"min_gain_to_split": 0.1}
    )
    plain = model.fit(X, y).n_iter_
    assert model.stop_reason_ == "no split"
    kept = model.fit(X, y, checkpoint=tmp_path / "a.part")
    assert (kept.n_iter_, kept.stop_reason_) == (plain, "no split")
    assert kept.model_text_.count("\nTree=") == plain
