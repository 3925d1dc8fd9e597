"""Versions, ours and of what we depend on, are said once; what repeats them agrees."""

import ast
import re
import subprocess
import sys
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


ABSENT = """
import sys
for name in ("onnx", "torch", "dask", "zstandard", "fastexcel"):
    sys.modules[name] = None
from aucmax.datasets import load_table
for use in (
    "import aucmax.onnx", "import aucmax.torch", "import aucmax.dask",
    "load_table('a.csv.zst')", "load_table('a.xlsx')",
):
    try:
        exec(use)
    except Exception as error:
        print(error)
"""


def test_a_missing_extra_says_how_to_install_it(tmp_path):
    for name in ("a.csv.zst", "a.xlsx"):
        (tmp_path / name).write_bytes(b"PK")
    ran = subprocess.run(
        [sys.executable, "-c", ABSENT], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    hints = ran.stdout.replace("\n", " ")
    for extra in ("onnx", "torch", "dask", "zstd", "excel"):
        assert f"'aucmax[{extra}]'" in hints, hints
