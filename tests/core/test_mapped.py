"""Matrices on disk: the same values, and nothing left behind."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from aucmax._core import mapped as _mapped
from aucmax._core.mapped import is_mapped, map_blocks, take_rows, write_map


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture
def mapped(X):
    return write_map((X[:7], X[7:30], X[30:]), 3, float)


def test_a_map_holds_what_was_written(X, mapped):
    assert is_mapped(mapped)
    assert not is_mapped(X)
    assert not mapped.flags.writeable
    np.testing.assert_array_equal(mapped, X)


def test_views_of_maps_and_maps_of_numpy_are_maps(tmp_path, X, mapped):
    X.tofile(tmp_path / "X")
    numpy_map = np.memmap(tmp_path / "X", dtype=float, mode="r", shape=X.shape)
    assert is_mapped(numpy_map)
    assert is_mapped(np.asarray(numpy_map)[3:9])
    assert is_mapped(mapped[::2])
    assert not is_mapped(np.array(mapped))


def test_rows_are_taken_into_another_map(monkeypatch, X, mapped):
    monkeypatch.setattr(_mapped, "_CELLS_AT_ONCE", 10)
    rows = np.array([4, 4, 0, 49, 17])
    chosen = take_rows(mapped, rows)
    assert is_mapped(chosen)
    np.testing.assert_array_equal(chosen, X[rows])
    assert not is_mapped(take_rows(X, rows))


def test_a_function_is_applied_block_by_block(monkeypatch, X, mapped):
    monkeypatch.setattr(_mapped, "_CELLS_AT_ONCE", 10)
    sizes = []

    def double(block):
        sizes.append(len(block))
        return 2 * block

    np.testing.assert_array_equal(map_blocks(mapped, double), 2 * X)
    assert max(sizes) == 3


def test_no_rows_are_no_map():
    assert write_map((), 4, float).shape == (0, 4)


def test_maps_have_no_names(tmp_path, monkeypatch, X):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mapped = write_map([X], 3, float)
    assert not os.listdir(tmp_path) or os.name == "nt"
    np.testing.assert_array_equal(mapped, X)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_the_error_of_a_full_disk_names_its_folder(tmp_path):
    code = (
        "import resource, numpy as np\n"
        "from aucmax._core.mapped import write_map\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    write_map([np.zeros((5000, 10))], 10, float)\n"
        "except OSError as error:\n"
        "    print(error.filename, error.strerror)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith(f"{tmp_path} the disk is full")
    assert "TMPDIR" in ran.stdout
    assert not os.listdir(tmp_path)
