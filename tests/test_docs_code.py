"""The code of the pages about models, and of the README, does what the pages say."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "docs/user_guide/aucsvc.md",
    "docs/user_guide/command_line.md",
    "docs/user_guide/graphs.md",
    "docs/user_guide/lambdamart.md",
    "docs/user_guide/own_training_code.md",
    "docs/user_guide/partial_auc.md",
    "docs/user_guide/queries.md",
    "docs/user_guide/sparse_models.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_the_page_runs_and_prints_what_it_says(page):
    found = doctest.testfile(str(ROOT / page), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0
