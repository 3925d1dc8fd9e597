"""The tasks of the Makefile where there is no make: ``python -m nox -s test``.

Each session has its own environment; arguments after ``--`` go to the last command.
"""

import os
import re
import shutil
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["test", "lint"]
# files that tests write without naming an encoding, on Windows
os.environ["PYTHONUTF8"] = "1"
ROOT = Path(__file__).parent
PYTEST = ("python", "-m", "pytest", "-n", "auto", "--dist", "worksteal")


def listed(variable: str) -> list[str]:
    """Return a list of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.search(rf"^{variable} := (.*)$", text, re.MULTILINE)
    assert found is not None, variable
    return found[1].split()


@nox.session
def test(session: nox.Session) -> None:
    """Run the tests."""
    session.install("--editable", ".[test]")
    ignored = [f"--ignore={path}" for path in listed("SEPARATE_TESTS")]
    session.run(*PYTEST, "-m", "not slow", *ignored, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and types."""
    session.install("--editable", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the core of the tests with the lowest versions allowed."""
    constraint = ("--constraint", "requirements-lowest.txt")
    session.install(*constraint, "--editable", ".[test]")
    os.environ["NUMBA_CACHE_DIR"] = str(Path(session.virtualenv.location, "numba"))
    session.run(*PYTEST, *listed("LOWEST_TESTS"), *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Run the code of the pages and build the site."""
    session.install("--editable", ".[test,docs]")
    session.run(*PYTEST, "tests/test_docs_code.py")
    build = ("-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
    session.run("sphinx-build", *build, *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the wheel, and use it in new environments."""
    session.install("--editable", ".[dist]", "pip", "uv")  # --torch needs pip
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build")
    session.run("twine", "check", "--strict", *map(str, (ROOT / "dist").glob("*")))
    session.run("check-wheel-contents", *map(str, (ROOT / "dist").glob("*.whl")))
    session.run("python", "tools/check_wheel.py", *session.posargs)
