"""Every module and every public class has a name of its own."""

import ast
from collections import defaultdict
from pathlib import Path

import aucmax

SOURCE = Path(aucmax.__file__).parent


def homes_by_name(pairs):
    """Return names with more than one home, and these homes."""
    homes = defaultdict(set)
    for name, home in pairs:
        homes[name].add(home)
    return {name: sorted(found) for name, found in homes.items() if len(found) > 1}


def modules():
    for path in SOURCE.rglob("*.py"):
        if path.stem not in ("__init__", "__main__"):
            yield path.stem, str(path.relative_to(SOURCE))


def public_classes():
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, str(path.relative_to(SOURCE))


def test_no_module_name_is_used_twice():
    assert not homes_by_name(modules())


def test_no_public_class_name_is_used_twice():
    assert not homes_by_name(public_classes())
