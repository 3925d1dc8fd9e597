"""Whole or not at all: the old file, the new file, and never anything between."""

import errno
import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from aucmax._core import atomic as _atomic
from aucmax._core.atomic import atomic_output

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
NOT_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)


def names(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_new_file_appears_whole(tmp_path, overwrite):
    with atomic_output(tmp_path / "a", overwrite=overwrite) as file:
        file.write(b"one ")
        assert "a" not in names(tmp_path)
        file.write(b"two")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"one two"


def test_an_existing_file_is_rejected_before_anything_is_done(tmp_path):
    (tmp_path / "a").write_text("old")
    with (
        pytest.raises(FileExistsError, match=r"choose another name.*overwrite=True"),
        atomic_output(tmp_path / "a"),
    ):
        pytest.fail("the block ran")
    assert (tmp_path / "a").read_text() == "old"


def test_an_existing_file_is_replaced_on_request(tmp_path):
    (tmp_path / "a").write_text("old and longer")
    with atomic_output(tmp_path / "a", overwrite=True) as file:
        assert (tmp_path / "a").read_text() == "old and longer"
        file.write(b"new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "new"


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    with (
        pytest.raises(FileExistsError, match="already"),
        atomic_output(tmp_path / "a"),
    ):
        (tmp_path / "a").write_text("theirs")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "theirs"


@POSIX
@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_file_system_without_hard_links_works_too(tmp_path, monkeypatch, meanwhile):
    def no_links(*args):
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", no_links)
    if meanwhile:
        with (
            pytest.raises(FileExistsError, match="already"),
            atomic_output(tmp_path / "a"),
        ):
            (tmp_path / "a").write_text("theirs")
    else:
        with atomic_output(tmp_path / "a") as file:
            file.write(b"mine")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == ("theirs" if meanwhile else "mine")


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, SystemExit, GeneratorExit, ValueError, MemoryError]
)
def test_any_exception_leaves_the_folder_as_it_was(tmp_path, error):
    def write_half(name, overwrite):
        with atomic_output(tmp_path / name, overwrite=overwrite) as file:
            file.write(b"half" * 10_000)
            raise error("stop")

    (tmp_path / "a").write_text("old")
    for name, overwrite in (("a", True), ("b", False)):
        with pytest.raises(error, match="stop"):
            write_half(name, overwrite)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.EIO, "bad disk")])
def test_an_exception_while_finishing_leaves_the_old_file(
    tmp_path, monkeypatch, step, error
):
    def fail(*args):
        raise error

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, step, fail)
    with (
        pytest.raises(type(error)),
        atomic_output(tmp_path / "a", overwrite=True) as file,
    ):
        file.write(b"new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_explained(tmp_path, monkeypatch, number):
    def full(*args):
        raise OSError(number, os.strerror(number))

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(OSError, match=r"the disk is full.*Free some space") as caught,
        atomic_output(tmp_path / "a", overwrite=True) as file,
    ):
        file.write(b"new")
    assert caught.value.errno == number
    assert caught.value.filename == str(tmp_path / "a")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_disk_that_fills_up_while_writing_is_explained(tmp_path, monkeypatch):
    real_open = os.open

    def open_full(path, flags, *mode):
        real_open(path, flags, *mode)
        return real_open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(os, "open", open_full)
    monkeypatch.setattr(_atomic, "_lock", lambda descriptor: None)
    with (
        pytest.raises(OSError, match=r"the disk is full.*Free some space"),
        atomic_output(tmp_path / "a") as file,
    ):
        file.write(b"x" * 1_000_000)
    assert names(tmp_path) == []


@POSIX
@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("no such/a", FileNotFoundError, r"no such.*does not exist; create it"),
        ("f/a", NotADirectoryError, "is not a folder"),
        ("", IsADirectoryError, "give the name of a file"),
        ("/dev/null", OSError, "not a regular file"),
        ("x" * 300, OSError, "choose a shorter one"),
    ],
)
def test_a_place_for_no_file_is_explained(tmp_path, name, error, message):
    (tmp_path / "f").write_text("")
    with (
        pytest.raises(error, match=message),
        atomic_output(tmp_path / name, overwrite=True),
    ):
        pytest.fail("the block ran")


@POSIX
@NOT_ROOT
def test_a_folder_without_permission_is_explained(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with (
            pytest.raises(PermissionError, match="no permission to write in"),
            atomic_output(tmp_path / "a"),
        ):
            pytest.fail("the block ran")
    finally:
        tmp_path.chmod(0o700)


@POSIX
@NOT_ROOT
def test_a_write_protected_file_is_kept(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o444)
    with (
        pytest.raises(PermissionError, match="write-protected"),
        atomic_output(tmp_path / "a", overwrite=True),
    ):
        pytest.fail("the block ran")


@POSIX
def test_permissions_are_those_of_the_old_file_or_of_the_umask(tmp_path):
    old_mask = os.umask(0o027)
    try:
        with atomic_output(tmp_path / "new") as file:
            file.write(b"")
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    with atomic_output(tmp_path / "new", overwrite=True) as file:
        file.write(b"")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


@POSIX
def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a")
    with atomic_output(tmp_path / "link", overwrite=True) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "a").read_text() == "new"
    assert names(tmp_path / "there") == ["a"]


KILLED_WRITER = """
import os, signal, sys
from aucmax._core.atomic import atomic_output
with atomic_output(sys.argv[1], overwrite=True) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@POSIX
def test_leftovers_of_a_killed_writer_are_removed_by_the_next(tmp_path):
    (tmp_path / "a").write_text("old")
    for name in ("a", "a", "b"):
        done = subprocess.run([sys.executable, "-c", KILLED_WRITER, tmp_path / name])
        assert done.returncode == -9
    # the second writer of "a" removed what the first one left
    leftovers = [name for name in names(tmp_path) if "partial" in name]
    assert len(leftovers) == 2
    assert (tmp_path / "a").read_text() == "old"
    with atomic_output(tmp_path / "a", overwrite=True) as file:
        file.write(b"new")
    # only those of the same target
    remaining = names(tmp_path)
    assert len(remaining) == 2
    assert remaining[0].startswith(".b.")
    assert remaining[1] == "a"


@POSIX
def test_files_that_only_look_similar_are_left_alone(tmp_path):
    similar = [".a.aucmax-partial", ".a.x.aucmax-partial", ".a.0123456789abcdef", "b"]
    similar += [
        ".a.0123456789ABCDEF.aucmax-partial",
        ".ab.0123456789abcdef.aucmax-partial",
    ]
    for name in similar:
        (tmp_path / name).write_text("")
    (tmp_path / ".a.0123456789abcdef.aucmax-partial").mkdir()
    with atomic_output(tmp_path / "a") as file:
        file.write(b"")
    kept = {*similar, "a", ".a.0123456789abcdef.aucmax-partial"}
    assert set(names(tmp_path)) == kept


def test_many_writers_at_once_leave_one_whole_file(tmp_path):
    def write(letter):
        for _ in range(15):
            with atomic_output(tmp_path / "a", overwrite=True) as file:
                file.write(letter * 5000)

    threads = [
        threading.Thread(target=write, args=(bytes([65 + i]),)) for i in range(6)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.002)
        if (tmp_path / "a").exists():
            content = (tmp_path / "a").read_bytes()
            assert content == content[:1] * 5000
    for thread in threads:
        thread.join()
    assert names(tmp_path) == ["a"]


def test_only_one_of_many_writers_creates_a_file(tmp_path):
    outcomes = []

    def write():
        try:
            with atomic_output(tmp_path / "a") as file:
                file.write(b"x")
                time.sleep(0.02)
            outcomes.append("written")
        except FileExistsError:
            outcomes.append("rejected")

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["rejected"] * 7 + ["written"]
    assert names(tmp_path) == ["a"]


@POSIX
def test_a_cleaner_that_takes_a_newborn_file_does_no_harm(tmp_path, monkeypatch):
    real_lock, taken = _atomic._lock, []

    def lock_late(descriptor):
        if not taken:  # another writer comes between creation and lock
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        return real_lock(descriptor)

    monkeypatch.setattr(_atomic, "_lock", lock_late)
    with atomic_output(tmp_path / "a") as file:
        file.write(b"whole")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "whole"


def test_a_file_system_without_locks_works_and_removes_nothing(tmp_path, monkeypatch):
    if _atomic.fcntl is None:
        pytest.skip("this system has no such locks")

    def no_locks(*args):
        raise OSError(errno.ENOLCK, "no locks here")

    leftover = tmp_path / ".a.0123456789abcdef.aucmax-partial"
    leftover.write_text("may be alive")
    monkeypatch.setattr(_atomic.fcntl, "flock", no_locks)
    with atomic_output(tmp_path / "a") as file:
        file.write(b"whole")
    assert names(tmp_path) == [leftover.name, "a"]
