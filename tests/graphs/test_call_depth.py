"""From ``GraphRanker.fit`` to a compiled loop there are few calls."""

import sys
from pathlib import Path

import numpy as np
import pytest

import aucmax
from aucmax import GraphRanker
from aucmax._core.compiled import Loop
from aucmax.graphs import (
    Graph,
    _flow_kernels,
    _plane_kernels,
    _precise_kernels,
    graph_training,
    grid_edges,
    total_variation,
)

SOURCE = str(Path(aucmax.__file__).parent)
ENTRIES = {
    total_variation: ("split_into_blocks", "settle_blocks"),
    graph_training: ("ascend",),
}


def frames_to_here():
    """Return the functions of aucmax between the test and its caller, `fit` first."""
    frame, names = sys._getframe(2), []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(SOURCE):
            names.append(code.co_name)
        frame = frame.f_back
    return names[::-1]


def noted(monkeypatch):
    """Note the calls that lead to each entry of the kernels."""
    paths = {}
    for module, names in ENTRIES.items():
        for name in names:
            kernel = getattr(module, name)

            def call(*args, kernel=kernel, name=name):
                path = frames_to_here()
                paths[name] = max(paths.get(name, []), path, key=len)
                return kernel(*args)

            monkeypatch.setattr(module, name, call)
    return paths


def images(size):
    rng = np.random.default_rng(0)
    edges = grid_edges(size, size)
    masks = [rng.random(size**2) < 0.3 for _ in range(3)]
    features = [(mask + rng.normal(size=mask.size))[:, None] for mask in masks]
    return [Graph(table, edges) for table in features], masks


@pytest.mark.parametrize("size", [5, 60])
def test_a_fit_reaches_the_loops_in_nine_calls(size, monkeypatch):
    paths = noted(monkeypatch)
    GraphRanker(tol=0.1, metric_tol=None).fit(*images(size))
    assert "split_into_blocks" in paths
    for path in paths.values():
        assert path[0] == "fit"
        assert len(path) <= 9, path


def test_all_entries_of_the_kernels_are_noted():
    kernels = _flow_kernels, _plane_kernels, _precise_kernels
    exported = {
        name
        for module in kernels
        for name, value in vars(module).items()
        if isinstance(value, Loop) and not name.startswith("_")
    }
    # a fit does not need the certificate of `optimality_gap`
    assert exported - {"fill_blocks"} == {
        n for names in ENTRIES.values() for n in names
    }
