"""A search that was ended at any candidate resumes to the same model."""

import errno
import os

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from aucmax import AutoRanker, LambdaMART
from aucmax.exceptions import CheckpointError, ModelFileError
from aucmax.model_selection import auto_checkpoint
from aucmax.persistence import load, save
from aucmax.persistence.model_file import pack_value, unpack_value
from every_model import TABLE, Y
from killed import KilledError
from persistence.equality import same

MODELS = ["logistic", "additive", LambdaMART(n_estimators=3)]


def killed_before(candidate):
    def callback(progress):
        if progress.candidate == candidate:
            raise KilledError

    return callback


def ranker(models=MODELS, **parameters):
    return AutoRanker(models=models, cv=2, time_limit=None, **parameters)


def killed(path, candidate, models=MODELS):
    with pytest.raises(KilledError):
        ranker(models, callback=killed_before(candidate)).fit(TABLE, Y, checkpoint=path)


@pytest.fixture(scope="module")
def first_done(tmp_path_factory):
    """A checkpoint of the first candidate alone."""
    path = tmp_path_factory.mktemp("done") / "a.part"
    killed(path, "additive")
    return path.read_bytes()


def test_the_model_is_the_same_wherever_it_was_ended(tmp_path):
    path = tmp_path / "a.part"
    for candidate in ("additive", "additive", "LambdaMART", "combination"):
        killed(path, candidate)
    tried = []
    resumed = ranker(callback=tried.append).fit(TABLE, Y, checkpoint=path)
    assert [progress.candidate for progress in tried] == ["combination"]
    whole = ranker().fit(TABLE, Y)
    for name, value in vars(whole).items():
        if name.endswith("_") and name != "board_":
            assert same(getattr(resumed, name), value), name
    whole.board_.pop("seconds")
    resumed.board_.pop("seconds")
    assert same(resumed.board_, whole.board_)


def test_a_model_that_no_file_can_hold_is_fitted_again(tmp_path):
    models = [RandomForestClassifier(5, random_state=0), "logistic"]
    killed(tmp_path / "a.part", "combination", models)
    tried = []
    ranker(models, callback=tried.append).fit(TABLE, Y, checkpoint=tmp_path / "a.part")
    names = [progress.candidate for progress in tried]
    assert names == ["RandomForestClassifier", "combination"]


def test_another_search_is_rejected_until_this_one_is_finished(tmp_path):
    path = tmp_path / "a.part"
    killed(path, "additive")
    with pytest.raises(CheckpointError, match="random_state was 0 and is 1 now"):
        ranker(random_state=1).fit(TABLE, Y, checkpoint=path)
    with pytest.raises(CheckpointError, match="the digest of the rows"):
        ranker().fit(TABLE[:, ::-1], Y, checkpoint=path)
    others = [*MODELS[:2], LambdaMART(n_estimators=4)]
    with pytest.raises(CheckpointError, match="the model 'LambdaMART'"):
        ranker(others).fit(TABLE, Y, checkpoint=path)
    ranker().fit(TABLE, Y, checkpoint=path)
    ranker(random_state=1).fit(TABLE, Y, checkpoint=path)


def test_time_that_was_spent_counts_and_more_time_resumes(first_done, tmp_path):
    path = tmp_path / "a.part"
    path.write_bytes(first_done)
    _, content = unpack_value(first_done)
    content[2]["logistic"]["seconds"] = 1000.0
    path.write_bytes(pack_value(content, "checkpoint"))
    with pytest.warns(UserWarning, match="one model only"):
        resumed = ranker().set_params(time_limit=900.0).fit(TABLE, Y, checkpoint=path)
    assert list(resumed.weights_) == ["logistic"]
    resumed = ranker().fit(TABLE, Y, checkpoint=path)
    assert len(resumed.board_["model"]) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"models": [1, 2]},
        {"parts": [np.zeros(3), np.zeros(37)]},
        {"parts": [np.zeros(20), np.full(20, np.nan)]},
        {"more": 1},
    ],
    ids=str,
)
def test_forged_records_are_rejected(change, first_done, tmp_path):
    path = tmp_path / "a.part"
    _, content = unpack_value(first_done)
    content[2]["logistic"] |= change
    path.write_bytes(pack_value(content, "checkpoint"))
    with pytest.raises(ModelFileError, match="its record of 'logistic"):
        ranker().fit(TABLE, Y, checkpoint=path)


def test_files_of_another_kind_are_left_alone(first_done, tmp_path):
    data, model, part = (tmp_path / name for name in ("a.csv", "m.aucmax", "a.part"))
    data.write_text("a,b\n1,2\n")
    with pytest.raises(ModelFileError, match="path of another file"):
        ranker().fit(TABLE, Y, checkpoint=data)
    assert data.read_text() == "a,b\n1,2\n"
    save(LambdaMART(), model)
    with pytest.raises(ModelFileError, match="not a checkpoint"):
        ranker().fit(TABLE, Y, checkpoint=model)
    part.write_bytes(first_done)
    with pytest.raises(ModelFileError, match="does not hold an estimator"):
        load(part)
    part.write_bytes(pack_value([{}, 0, {}], "checkpoint"))
    with pytest.raises(ModelFileError, match="not a checkpoint"):
        ranker().fit(TABLE, Y, checkpoint=part)


def test_a_path_that_cannot_be_written_fails_before_the_search(tmp_path):
    for path, error, text in (
        (tmp_path / "no" / "a.part", FileNotFoundError, "does not exist"),
        (tmp_path, ModelFileError, "it is a folder"),
        (7, TypeError, "PathLike"),
    ):
        with pytest.raises(error, match=text):
            ranker().fit(TABLE, Y, checkpoint=path)


def test_a_full_disk_or_too_large_a_file_gives_one_warning(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill(progress):
        if progress.candidate == "additive":
            monkeypatch.setattr(os, "fsync", full)

    path = tmp_path / "a.part"
    with pytest.warns(
        RuntimeWarning, match=r"continues.*a\.part.*disk is full"
    ) as all_:
        ranker(callback=fill).fit(TABLE, Y, checkpoint=path)
    assert len([one for one in all_ if one.category is RuntimeWarning]) == 1
    monkeypatch.undo()
    assert list(unpack_value(path.read_bytes())[1][2]) == ["logistic"]
    monkeypatch.setattr(auto_checkpoint, "MAX_FILE_BYTES", 4000)
    with pytest.warns(RuntimeWarning, match=r"needs \d+ bytes, and 4000 are"):
        ranker().fit(TABLE, Y, checkpoint=tmp_path / "b.part")
