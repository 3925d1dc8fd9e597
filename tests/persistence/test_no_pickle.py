"""Nothing in a file can run: the code that could do it is not there."""

import ast
from pathlib import Path

import pytest

import aucmax

SOURCE = Path(aucmax.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
PICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"}
CALLS = {"eval", "exec", "compile", "__import__"}


def offences(source, strict):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules = {(node.module or "").partition(".")[0]}
        else:
            modules = set()
        forbidden = PICKLERS | ({"joblib"} if strict else set())
        yield from (f"imports {module}" for module in modules & forbidden)
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if isinstance(node.func, ast.Name) and name in CALLS:
                yield f"calls {name}"
            for keyword in node.keywords:
                allowed = isinstance(keyword.value, ast.Constant) and not (
                    keyword.value.value
                )
                if keyword.arg == "allow_pickle" and not allowed:
                    yield "allows pickle"
            if (
                strict
                and name == "load"
                and "allow_pickle" not in {keyword.arg for keyword in node.keywords}
            ):
                yield "loads without allow_pickle=False"


def test_no_module_unpickles_or_evaluates():
    imports = {
        str(path.relative_to(SOURCE)): [
            *offences(path.read_text(), path.parent.name == "persistence")
        ]
        for path in FILES
    }
    assert {path: names for path, names in imports.items() if names} == {}


def test_the_walk_sees_the_loader():
    assert SOURCE / "persistence" / "arrays.py" in FILES


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "import joblib",
        "import dill.source",
        "eval('1')",
        "__import__('os')",
        "np.load(f, allow_pickle=True)",
        "np.load(f, allow_pickle=yes)",
        "np.load(f)",
    ],
)
def test_the_search_finds_each_offence(code):
    assert list(offences(code, strict=True)) != []
