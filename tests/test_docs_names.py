"""Every public name is documented, in full and in the reference; the README runs."""

import inspect
import pkgutil
import re
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from numpydoc.validate import validate

import aucmax

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference" / "index.rst"
# sections unknown or out of order; no docstring, no summary, no full stop after it
SUMMARY = {"GL06", "GL07", "GL08", "SS01", "SS03", "SS04"}
# parameters missing or unknown; nothing said of what is returned
CONTENT = {"PR01", "PR02", "PR05", "PR10", "RT01", "YD01"}
# methods of these follow a protocol, which is explained once
BUILDING_BLOCKS = "aucmax.risks."
PINNED = (ROOT / "tests" / "public_names.txt").read_text().split()
ABSENT = tuple(f"aucmax.{name}" for name in ("onnx", "torch") if not find_spec(name))
INSTALLED = [name for name in PINNED if not name.startswith(ABSENT)]
MODULES = sorted({name.rpartition(".")[0] for name in INSTALLED})


def public_names():
    for module in MODULES:
        for name in import_module(module).__all__:
            if callable(getattr(import_module(module), name)):
                yield f"{module}.{name}"


def public_methods(path):
    module, name = path.rsplit(".", 1)
    member = getattr(import_module(module), name)
    if inspect.isclass(member):
        for method, function in vars(member).items():
            if not method.startswith("_") and inspect.isfunction(function):
                yield f"{path}.{method}"


def listed_names():
    """Names in the autosummary tables of the reference, in full."""
    module = ""
    for line in REFERENCE.read_text().splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif module and (match := re.fullmatch(r"   ([A-Za-z][\w.]*)", line)):
            yield f"{module}.{match[1]}"


def test_the_reference_lists_every_public_name_once():
    listed = list(listed_names())
    assert len(listed) == len(set(listed))
    missing = set(public_names()) - set(listed)
    # listed under aucmax, where they are meant to be imported from
    homes = {f"{home}.{name}" for name, home in aucmax._HOME.items()}
    named = {name for name in homes if name.rsplit(".", 1)[0] in MODULES}
    assert missing == named, f"list in {REFERENCE}: {missing ^ named}"


def test_the_reference_lists_names_that_exist():
    for name in listed_names():
        if not name.startswith(ABSENT):
            pkgutil.resolve_name(name)


def test_public_names_change_on_purpose():
    # a name may be added; one that goes is deprecated first (see docs/releasing.md)
    assert sorted(set(PINNED)) == PINNED
    public = {f"{m}.{name}" for m in MODULES for name in import_module(m).__all__}
    assert public == set(INSTALLED), f"tests/public_names.txt: {public ^ {*INSTALLED}}"


@pytest.mark.parametrize("package", ["hypotheses", "regularizers", "solvers"])
def test_internal_packages_say_so(package):
    assert "Internal" in import_module(f"aucmax.{package}").__doc__


def checks_for(path, found):
    if path.startswith(BUILDING_BLOCKS):
        return SUMMARY
    is_estimator = hasattr(found, "set_params")
    if (is_dataclass(found) and not is_estimator) or hasattr(found, "_fields"):
        return (SUMMARY | CONTENT) - {"PR01"}  # a record has attributes instead
    return SUMMARY | CONTENT


@pytest.mark.parametrize("name", sorted(public_names()))
def test_docstring_is_complete(name):
    module, attribute = name.rsplit(".", 1)
    checks = checks_for(name, getattr(import_module(module), attribute))
    faults = [
        f"{path}: {code} {text}"
        for path in (name, *public_methods(name))
        for code, text in validate(path)["errors"]
        if code in checks
    ]
    assert not faults
