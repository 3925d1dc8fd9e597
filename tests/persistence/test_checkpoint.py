"""The file of a fit that may be killed: whose it is, and what it may hold."""

import errno
import os

import numpy as np
import pytest

from aucmax.exceptions import CheckpointError, ModelFileError
from aucmax.persistence import checkpoint as module
from aucmax.persistence import load, save
from aucmax.persistence.checkpoint import Checkpoint
from aucmax.persistence.model_file import pack_value
from persistence.toy_models import Toy

FIT = {"learning_rate": "0.1", "the digest of the rows": "1234"}


def test_a_state_is_found_again_by_the_same_fit(tmp_path):
    path = tmp_path / "a.part"
    first = Checkpoint(path, FIT)
    assert first.state == {}
    first.write({"scores": np.arange(3.0), "strings": ["a"]})
    again = Checkpoint(str(path), FIT)
    assert again.state["strings"] == ["a"]
    np.testing.assert_array_equal(again.state["scores"], np.arange(3.0))


def test_another_fit_is_told_what_differs_until_this_one_is_finished(tmp_path):
    path = tmp_path / "a.part"
    mine = Checkpoint(path, FIT)
    mine.write({"n": 1})
    other = {"learning_rate": "0.2", "the digest of the rows": "1234", "seed": "1"}
    with pytest.raises(CheckpointError) as caught:
        Checkpoint(path, other)
    for words in (
        "learning_rate was 0.1 and is 0.2 now",
        "seed was not there and is 1 now",
        "delete this one",
        str(path),
    ):
        assert words in str(caught.value)
    assert "digest" not in str(caught.value)
    assert Checkpoint(path, FIT).state == {"n": 1}
    mine.write({"n": 2}, is_done=True)
    assert Checkpoint(path, FIT).state == {"n": 2}
    assert Checkpoint(path, other).state == {}
    with pytest.raises(CheckpointError):
        Checkpoint(path, FIT)


def test_opening_notices_a_path_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Checkpoint(tmp_path / "no" / "a.part", FIT)
    with pytest.raises(ModelFileError, match="it is a folder"):
        Checkpoint(tmp_path, FIT)
    with pytest.raises(TypeError, match="checkpoint must be the path of a file"):
        Checkpoint(7, FIT)


def test_files_of_another_kind_are_left_alone(tmp_path):
    data, model = tmp_path / "data.csv", tmp_path / "m.aucmax"
    data.write_text("a,b\n1,2\n")
    with pytest.raises(ModelFileError, match="path of another file"):
        Checkpoint(data, FIT)
    assert data.read_text() == "a,b\n1,2\n"
    save(Toy(), model)
    with pytest.raises(ModelFileError, match="not a checkpoint"):
        Checkpoint(model, FIT)
    Checkpoint(tmp_path / "a.part", FIT)
    with pytest.raises(ModelFileError, match="does not hold an estimator"):
        load(tmp_path / "a.part")


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"fit": FIT, "is_done": False},
        {"fit": FIT, "is_done": 0, "state": {}},
        {"fit": {"a": 1}, "is_done": False, "state": {}},
        {"fit": {1: "a"}, "is_done": False, "state": {}},
        {"fit": FIT, "is_done": False, "state": []},
    ],
)
def test_forged_checkpoints_are_rejected(value, tmp_path):
    (tmp_path / "a.part").write_bytes(pack_value(value, "checkpoint"))
    with pytest.raises(ModelFileError, match=r"a\.part"):
        Checkpoint(tmp_path / "a.part", FIT)


def test_too_large_a_state_is_left_out_with_a_warning(tmp_path, monkeypatch):
    file = Checkpoint(tmp_path / "a.part", FIT)
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 2000)
    with pytest.warns(RuntimeWarning, match=r"a\.part.*needs \d+ bytes, and 2000 are"):
        file.write({"n": np.random.default_rng(0).random(1000)})
    assert Checkpoint(tmp_path / "a.part", FIT).state == {}


def test_a_disk_that_is_full_for_a_while_gives_one_warning(tmp_path, monkeypatch):
    file = Checkpoint(tmp_path / "a.part", FIT)
    file.write({"n": 1})
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.warns(
            RuntimeWarning, match=r"continues.*a\.part.*the disk is full"
        ):
            file.write({"n": 2})
        file.write({"n": 3})  # a second warning would be an error
    assert Checkpoint(tmp_path / "a.part", FIT).state == {"n": 1}
    file.write({"n": 4}, is_done=True)
    assert Checkpoint(tmp_path / "a.part", FIT).state == {"n": 4}


def full(_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
