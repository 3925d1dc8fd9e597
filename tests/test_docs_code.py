"""The code of the pages and of the docstrings runs and prints the output shown."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def with_examples(paths, root):
    """Return the files that have examples, by their path relative to ``root``."""
    return [
        path.relative_to(root).as_posix()
        for path in sorted(paths)
        if ">>>" in path.read_text()
    ]


def skip_without_extras(path):
    """Skip a file that needs PyTorch, onnx or Dask if that is not installed."""
    text = path.read_text()
    for extra in ("torch", "onnx", "dask"):
        is_used = f"import {extra}" in text or f"from aucmax.{extra}" in text
        if is_used or f"aucmax/{extra}/" in path.as_posix():
            needed = "distributed" if extra == "dask" else extra
            pytest.importorskip(needed, reason=f"{needed} is not installed")


def is_whole(found, path):
    """Return whether every example of the file has run without a failure."""
    lines = path.read_text().splitlines()
    n_examples = sum(line.lstrip().startswith(">>>") for line in lines)
    return found == (0, n_examples)


PAGES = with_examples([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")], ROOT)
MODULES = with_examples(SOURCE.rglob("*.py"), SOURCE)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_the_page_runs_and_prints_what_it_says(page):
    skip_without_extras(ROOT / page)
    results = doctest.testfile(str(ROOT / page), module_relative=False)
    assert is_whole(results, ROOT / page)


@pytest.mark.parametrize("module", MODULES)
def test_the_code_of_the_docstrings_runs_and_prints_what_they_say(module):
    skip_without_extras(SOURCE / module)
    name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    # without the names of the module: an example imports what it uses, as a reader does
    results = doctest.testmod(import_module(name), globs={})
    assert is_whole(results, SOURCE / module)


def test_the_first_pages_that_people_see_have_code_that_runs():
    first = ["README.md", "docs/index.md", "docs/getting_started.md"]
    assert set(first) <= set(PAGES)


def test_the_readme_is_at_most_170_lines_long():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 170


def test_the_risk_of_the_contributing_page_equals_its_definition():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], names)
    rng = np.random.default_rng(0)
    labels, queries = rng.random(30) < 0.4, rng.integers(0, 2, 30)
    scores, weight = rng.integers(-3, 4, 30) / 2.0, rng.random(30)
    bound = names["PairSquaredHinge"]().bind(labels, weight, queries)
    values = []
    for query in range(2):
        p, n = (np.flatnonzero((queries == query) & (labels == c)) for c in (1, 0))
        losses = np.maximum(0.0, 1.0 - scores[p][:, None] + scores[n]) ** 2
        values.append(np.average(losses, weights=np.outer(weight[p], weight[n])))
    value, gradient = bound.value_and_gradient(scores)
    assert value == pytest.approx(np.mean(values), rel=1e-12)
    moves = 1e-6 * np.eye(30)
    slopes = [(bound.value(scores + d) - bound.value(scores - d)) / 2e-6 for d in moves]
    np.testing.assert_allclose(gradient, slopes, atol=1e-7)
