import pytest

from aucmax.persistence.registry import REGISTRY


@pytest.fixture(autouse=True)
def _register_toys(monkeypatch):
    for name in ("Toy", "Checked"):
        monkeypatch.setitem(REGISTRY, name, "persistence.toy_models")
