"""The examples of the docstrings are true."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "aucmax.datasets.letters",
    "aucmax.regularizers.bounded_l2",
    "aucmax.structured.graph",
    "aucmax.structured.graph_ranker",
    "aucmax.structured.inference",
    "aucmax.structured.total_variation",
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(name):
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
