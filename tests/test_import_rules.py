"""Imports point one way, and ``import aucmax`` stays cheap."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import aucmax

SOURCE = Path(aucmax.__file__).parent
# any package may import these
SHARED = {"exceptions", "_core", "_version"}
# packages that each may import, besides itself and SHARED; the top comes last
MAY_IMPORT = {
    **{name: set() for name in SHARED},
    "metrics": set(),
    "risks": set(),
    "regularizers": set(),
    "persistence": set(),
    "binary_ranker": {"metrics"},
    "datasets": set(),
    "hypotheses": {"binary_ranker"},
    "solvers": {"risks", "regularizers"},
    "linear": {
        *("binary_ranker", "risks", "regularizers", "solvers", "hypotheses", "metrics"),
    },
    "margin": {
        *("binary_ranker", "risks", "regularizers", "solvers", "hypotheses", "metrics"),
    },
    "boosting": {"binary_ranker", "risks", "hypotheses", "metrics"},
    "trees": {"binary_ranker", "risks", "metrics", "persistence"},
    "objectives": {"risks", "trees"},
    "graphs": {
        *("binary_ranker", "linear", "risks", "regularizers", "solvers", "metrics"),
    },
    "inference": {"metrics"},
    "decisions": {"metrics", "inference"},
    "tables": {"metrics", "datasets", "decisions"},
    "inspection": {"metrics", "inference", "tables"},
    "model_selection": {
        *("binary_ranker", "metrics", "tables", "datasets", "decisions", "inspection"),
        *("linear", "margin", "boosting", "trees", "persistence", "risks"),
        "inference",
    },
    "torch": {"binary_ranker", "risks", "metrics", "inference"},
    "onnx": {
        *(
            "datasets",
            "hypotheses",
            "linear",
            "persistence",
            "tables",
            "decisions",
            "model_selection",
        ),
    },
    "dask": {"risks", "trees"},
    "plots": {"metrics", "inference", "margin", "decisions", "inspection"},
    "report": {
        *("metrics", "inference", "tables", "decisions", "inspection", "plots"),
        "model_selection",
    },
    "cli": {
        *("model_selection", "tables", "datasets", "metrics", "plots", "persistence"),
        *("decisions", "inspection", "report", "inference", "onnx"),
    },
}


def imported_siblings(path: Path) -> Iterator[str]:
    """Dotted names below ``aucmax`` that the file imports, anywhere in it."""
    package = ("aucmax", *path.relative_to(SOURCE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (n.removeprefix("aucmax.") for n in names if n.startswith("aucmax."))


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_imports_point_one_way(folder):
    files = [*SOURCE.glob(f"{folder}.py"), *(SOURCE / folder).rglob("*.py")]
    assert files
    allowed = {folder} | SHARED | MAY_IMPORT[folder]
    offences = [
        f"{path.relative_to(SOURCE)} imports aucmax.{name}"
        for path in files
        for name in imported_siblings(path)
        if not any(f"{name}.".startswith(f"{home}.") for home in allowed)
    ]
    assert not offences


def test_compiled_functions_call_those_of_their_own_file_only():
    # numba's disk cache does not notice a change in another file and runs old code
    files = [path for path in SOURCE.rglob("*.py") if "@njit" in path.read_text()]
    homes = {".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in files}
    assert {"_core.sorting", "risks._pairs.hinge_kernels"} <= homes
    offences = [
        f"{path.relative_to(SOURCE)} imports aucmax.{name}"
        for path in files
        for name in imported_siblings(path)
        if any(f"{name}.".startswith(f"{home}.") for home in homes)
    ]
    assert not offences


def test_every_folder_has_a_rule():
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    files = {path.stem for path in SOURCE.glob("[a-z]*.py")}
    assert folders | files | SHARED == set(MAY_IMPORT)


def test_rules_leave_no_way_back():
    # each folder imports only what is above it in the table
    above = set()
    for folder, allowed in MAY_IMPORT.items():
        assert allowed <= above, folder
        above.add(folder)


def loaded_by(code: str, suspects: set[str]) -> list[str]:
    """Run the code in a new process; return which of the suspects it loads."""
    code += f"; import sys; print(*sorted({suspects!r} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return ran.stdout.split()


def test_what_is_heavy_is_imported_where_it_is_used():
    used_late = {"lightgbm", "matplotlib", "torch", "dask"}
    heavy = {"sklearn", "scipy", "numba", "polars", *used_late}
    assert loaded_by("import aucmax", heavy) == []
    public = "aucmax.metrics, aucmax.plots, aucmax.AUCSVC, aucmax.LambdaMART"
    assert loaded_by(f"import aucmax; {public}", used_late) == []
