"""Versions, ours and of what we depend on, are said once; what repeats them agrees."""

import ast
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

import aucmax

ROOT = Path(__file__).parents[1]


def test_the_installed_package_has_the_version():
    assert version("aucmax") == aucmax.__version__


def test_the_citation_has_the_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [
        aucmax.__version__
    ]


def test_the_changelog_begins_with_the_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == aucmax.__version__


def test_the_documentation_takes_the_version_from_the_package():
    settings = ast.parse((ROOT / "docs" / "conf.py").read_text())
    values = {
        target.id: ast.unparse(node.value)
        for node in settings.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    assert values["version"] == values["release"] == "aucmax.__version__"


def test_the_lowest_versions_that_are_tested_are_the_lowest_allowed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = [
        Requirement(line)
        for line in (ROOT / "requirements-lowest.txt").read_text().splitlines()
        if "==" in line
    ]
    tested = {pin.name: str(pin.specifier).removeprefix("==") for pin in pins}
    for dependency in map(Requirement, project["dependencies"]):
        lowest = str(dependency.specifier).removeprefix(">=")
        assert Version(tested[dependency.name]) == Version(lowest), dependency.name
