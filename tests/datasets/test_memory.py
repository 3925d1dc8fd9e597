"""How much memory is left, by whatever limits it."""

import pytest

from aucmax.datasets import memory as _memory
from aucmax.datasets.memory import free_memory


def test_the_least_limit_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    monkeypatch.setattr(_memory, "_GROUP", tmp_path)
    assert free_memory() == 3000
    (tmp_path / "memory.max").write_text("1000\n")
    assert free_memory() == 0
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() > 3000


def test_limits_of_the_process_count(monkeypatch):
    resource = pytest.importorskip("resource")
    used = int(_memory._PROCESS.read_text().split()[5]) * resource.getpagesize()
    limits = {resource.RLIMIT_DATA: (used + 10**6, -1), resource.RLIMIT_AS: (-1, -1)}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    assert free_memory() <= 10**6
