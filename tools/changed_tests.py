"""Print the tests of the packages whose source changed since the merge base with main.

On main itself, the change is the last commit; ``CHANGED_SINCE`` names another base.
"""

import os
import subprocess
from pathlib import Path

FOLDERS = {
    "_core": "core",
    "onnx": "onnx_export",
    "dask": "on_dask",
    "torch": "pytorch",
}


def git(*arguments: str) -> str:
    """Return what git prints, or nothing if it fails."""
    run = subprocess.run(("git", *arguments), capture_output=True, text=True)
    return run.stdout.strip()


def base() -> str:
    """Return the commit to compare with."""
    if named := os.environ.get("CHANGED_SINCE"):
        return named
    merge_base = git("merge-base", "HEAD", "origin/main")
    is_older = merge_base not in ("", git("rev-parse", "HEAD"))
    return merge_base if is_older else "HEAD^1"


def tests_of(changed: list[str]) -> list[str]:
    """Return the existing test folders and files of changed files in src/aucmax."""
    folders = set()
    for path in changed:
        package = Path(path).parts[2]
        if package == "cli":
            folders.update(map(str, Path("tests").glob("test_cli*.py")))
        folder = Path("tests", FOLDERS.get(package, package))
        if folder.is_dir():
            folders.add(str(folder))
    return sorted(folders)


if __name__ == "__main__":
    changed = git("diff", "--name-only", base(), "--", "src/aucmax").splitlines()
    print("\n".join(tests_of(changed)))
