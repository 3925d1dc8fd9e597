"""The examples of the docstrings and of the guide's page are true."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

MODULES = (
    "bootstrap",
    "top_sets",
    "multiclass",
    "nominal",
    "partial",
    "retrieval",
    "roc",
    "scorers",
    "structured",
    "uncertainty",
)
PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "metrics.md"


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(name):
    found = doctest.testmod(import_module(f"aucmax.metrics.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_examples_of_the_guide_are_true():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0
