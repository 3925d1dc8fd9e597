"""The gallery's examples run, each in seconds, and draw at least one figure."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").rglob("plot_*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws(path):
    if "import torch" in path.read_text():
        pytest.importorskip("torch", reason="PyTorch is not installed")
    with mpl.rc_context():
        mpl.use("Agg")
        try:
            runpy.run_path(str(path))
            assert plt.get_fignums()
        finally:
            plt.close("all")
