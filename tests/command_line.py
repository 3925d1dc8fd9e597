"""Run commands as a user types them, in this process."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

import aucmax
from aucmax import AutoRanker
from aucmax.cli import main


def run(*arguments: object, exit_code: int = 0, content: object = None) -> Result:
    """Run a command; it must end with this code, and without a traceback."""
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(main, words, input=content)
    assert result.exit_code == exit_code, result.output
    assert "Traceback" not in result.output
    return result


def read_json(*arguments: object) -> dict:
    """Return what a command prints with --json."""
    return json.loads(run(*arguments, "--json", "--quiet").stdout)


def error_of(*arguments: object) -> str:
    """Return the message of a command that must fail and change no file."""
    before = _modified()
    result = run(*arguments, exit_code=2)
    assert result.stdout == ""
    assert _modified() == before, "a rejected command changed a file"
    message = result.stderr[result.stderr.index("Error: ") :]
    assert message.count("\n") <= 3
    return message


def save_logistic(path: Path, table: object, target: str, **roles: str) -> None:
    """Fit a small model to a table, and save it as `aucmax fit` does."""
    model = AutoRanker(models=["logistic"], cv=2)
    model.fit(table.drop(target), table[target])
    model.file_roles_ = {"target": target, **roles}
    aucmax.save(model, path)


def _modified() -> dict[str, int]:
    if Path("pyproject.toml").exists():  # other tests write to this folder meanwhile
        return {}
    return {str(p): p.stat().st_mtime_ns for p in Path().rglob("*") if p.is_file()}
