"""The first commands of the README and the home pages work in a fresh copy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/index.md", "docs/getting_started.md"]
# one is done by the fixture, the other would start this test again
NOT_RUN = ("git clone", "make test")


def commands_of(page):
    """Return the commands of the first console block of a page, without comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    block = re.search(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for line in block[1].splitlines()]
    return [line.partition("  #")[0].strip() for line in lines]


def test_all_first_pages_begin_with_the_same_commands():
    first, *others = map(commands_of, PAGES)
    assert first[0].startswith("git clone")
    assert first[1:3] == ["make demo", "make test"]
    assert all(other == first for other in others)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the Makefile is for Linux and macOS")
def test_the_first_commands_run_in_a_fresh_copy(tmp_path):
    copy, environment = tmp_path / "aucmax", tmp_path / "environment"
    hidden = shutil.ignore_patterns(".venv*", ".git", "__pycache__", "_build", "dist")
    shutil.copytree(ROOT, copy, ignore=hidden)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for command in commands_of("README.md"):
        if not command.startswith(NOT_RUN):
            subprocess.run(
                command,
                shell=True,
                check=True,
                cwd=copy,
                env={**os.environ, "PATH": path},
            )
    assert (copy / "aucmax-demo").is_dir()
    installed = environment / "bin" / "aucmax"
    shown = subprocess.run([installed, "--version"], capture_output=True, text=True)
    assert shown.stdout.startswith("aucmax")
