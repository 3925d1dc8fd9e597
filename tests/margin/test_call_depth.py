"""Few frames lie between a fit and the arithmetic, on small and large data."""

import sys
from pathlib import Path

import numpy as np
import pytest

from aucmax import MarginRanker
from aucmax.hypotheses import _stump_kernels
from aucmax.risks._pairs import hinge_kernels

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.rotating(4)]
KERNELS = {
    "pairs": (hinge_kernels, "partners"),
    "instances": (hinge_kernels, "split_cell"),
}


@pytest.fixture
def depths(monkeypatch):
    """Count our frames from `fit` to the callers of some kernels."""
    found = {}

    def watch(module, name):
        compiled = getattr(module, name)

        def watched(*arguments):
            ours, frame = [], sys._getframe(1)
            while frame is not None:
                code, frame = frame.f_code, frame.f_back
                if "aucmax" in Path(code.co_filename).parts:
                    ours.append(code.co_name)
            # a search for the rank of a pair calls itself on fewer rows
            if "difference_of_rank" not in ours:
                found.setdefault(name, set()).add(ours.index("fit") + 1)
            return compiled(*arguments)

        monkeypatch.setattr(module, name, watched)

    for module, name in KERNELS.values():
        watch(module, name)
    watch(_stump_kernels, "best_places")
    return found


@pytest.mark.parametrize("n_rows", [100, 2600])
@pytest.mark.parametrize("kind", ["signed", "stumps"])
@pytest.mark.parametrize("formulation", ["pairs", "instances"])
def test_at_most_nine_frames_lie_between_a_fit_and_a_kernel(
    depths, formulation, kind, n_rows
):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 6))
    y = X[:, 0] + generator.normal(size=n_rows) > 1.0
    MarginRanker(kind, formulation, max_iter=15).fit(X, y)
    if formulation == "pairs" or n_rows > 100:  # few rows are selected by NumPy
        assert KERNELS[formulation][1] in depths
    assert ("best_places" in depths) == (kind == "stumps")
    assert max(map(max, depths.values())) <= 9, depths
