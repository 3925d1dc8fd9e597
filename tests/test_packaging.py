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


# names of packages that differ from those of their modules
MODULE_OF = {"scikit-learn": "sklearn", "xgboost-cpu": "xgboost"}
# of users who hand over frames of it
OF_THE_USER = {"pandas"}


def imported_modules():
    """Names of other packages that the files of the package import, anywhere."""
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Call) and "import_module" in ast.dump(node.func):
                names = [a.value for a in node.args if isinstance(a, ast.Constant)]
            elif isinstance(node, ast.Call) and "import_reader" in ast.dump(node.func):
                names = [node.args[1].value]
            imported.update(name.partition(".")[0] for name in names)
    return imported - set(sys.stdlib_module_names) - {"aucmax"}


def test_packages_are_declared_if_and_only_if_they_are_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    # the other extras are for those who work on the package
    user_requirements = (
        "xgboost",
        "torch",
        "onnx",
        "dask",
        "dask-cpu",
        "excel",
        "zstd",
    )
    lines = [
        *project["dependencies"],
        *(r for name in user_requirements for r in extras[name]),
    ]
    names = [Requirement(line).name for line in lines]
    declared = {MODULE_OF.get(name, name) for name in names}
    assert imported_modules() - OF_THE_USER == declared


def test_links_of_the_readme_are_absolute_on_the_package_index():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hook = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for change in hook["substitutions"]:
        text, n_changes = re.subn(change["pattern"], change["replacement"], text)
        assert n_changes
    targets = re.findall(r'\]\(([^)]+)\)|src="([^"]+)"', text)
    assert all("".join(target).startswith("https://") for target in targets)


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
