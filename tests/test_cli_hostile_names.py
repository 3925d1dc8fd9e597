"""Names and cells of a stranger's file are shown, and do nothing else."""

import io
import re

import polars as pl
import pytest
from click.testing import CliRunner

from aucmax.cli import main
from aucmax.cli.entry_point import printable
from aucmax.cli.output import Console
from aucmax.cli.score import _print_scores
from command_line import run, save_logistic

# clears a screen, names a window, overwrites a line, reads from right to left
HOSTILE = "\x1b[2J\x1b]0;evil\x07\r\x9b31m\u202e\x7f"
TARGET, TEXT = f"sick{HOSTILE}", f"sex{HOSTILE}"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ROWS = 60


def table():
    return pl.DataFrame(
        {
            "age": [float(k % 17) for k in range(ROWS)],
            TEXT: [f"F{HOSTILE}", "M"] * (ROWS // 2),
            TARGET: [f"no{HOSTILE}", "x", "x"] * (ROWS // 3),
        }
    )


@pytest.fixture(scope="module")
def hostile_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    data, model = folder / "rows\x1b[2J.parquet", folder / "m\x1b[2J.aucmax"
    table().write_parquet(data)
    save_logistic(model, table(), TARGET, model=f"my{HOSTILE}")
    return folder, data, model


COMMANDS = {
    "fit": ["fit", "DATA", "--target", TARGET, "--model", "logistic", "-o", "OUT"],
    "compare": ["compare", "DATA", "--target", TARGET, "--models", "logistic",
                "--cv", "2"],
    "evaluate": ["evaluate", "MODEL", "DATA"],
    "score to a file": ["score", "MODEL", "DATA", "-o", "OUT.csv", "--keep", TEXT],
    "a target that is not there": ["fit", "DATA", "--target", "se", "-o", "OUT2"],
    "an unknown target": ["fit", "DATA", "--target", HOSTILE, "-o", "OUT2"],
    "an unknown file": ["score", "MODEL", f"no{HOSTILE}.csv"],
    "one class": ["fit", "DATA", "--target", TEXT, "--pos-label", HOSTILE, "-o",
                  "OUT2"],
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_command_prints_a_control_character_of_a_file(hostile_files, command):
    folder, data, model = hostile_files
    places = {"DATA": data, "MODEL": model}
    out = {"OUT", "OUT.csv", "OUT2"}
    words = [
        str(places.get(word, folder / f"{word}\x1b[2J" if word in out else word))
        for word in command
    ]
    words = [word.replace(".csv\x1b[2J", "\x1b[2J.csv") for word in words]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code in (0, 2), ran.stderr
    assert not FORBIDDEN.findall(ran.stdout + ran.stderr)
    assert "\\x1b[2J" in ran.stdout + ran.stderr


def test_what_is_printable_stays():
    text = "Größe\t漢字 — 'a'\n"
    assert printable(text) == text
    assert printable("\x1b\x85\u202e") == r"\x1b\x85\u202e"


def test_cells_are_copied_unchanged_to_all_but_a_terminal(monkeypatch):
    for is_terminal in (False, True):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda answer=is_terminal: answer)
        monkeypatch.setattr("sys.stdout", stream)
        _print_scores(iter([pl.DataFrame({"key": ["\x1b[2J"]})]), Console())
        assert ("\x1b" in stream.getvalue()) == (not is_terminal)
        assert (r"\x1b[2J" in stream.getvalue()) == is_terminal


CELLS = ["=1+1", "+a", "-x", "@SUM(A1)", "\tx", "-5", "+4912", "1=1", "a@b", None]


@pytest.fixture
def formulas(tmp_path):
    frame = pl.DataFrame({"age": [1.0, 2.0] * 10, "sick": [0, 1] * 10})
    save_logistic(tmp_path / "m.aucmax", frame, "sick")
    rows = frame.head(len(CELLS)).with_columns(pl.Series("=key", CELLS))
    rows.write_parquet(tmp_path / "rows.parquet")
    return [tmp_path / "m.aucmax", tmp_path / "rows.parquet", "--keep", "=key"]


def test_safe_csv_has_no_cell_that_a_spreadsheet_takes_for_a_formula(
    formulas, tmp_path
):
    output = tmp_path / "scores.csv"
    run("score", *formulas, "-o", output, "--safe-csv")
    kept = pl.read_csv(output, infer_schema=False)
    assert kept.columns[0] == "'=key"
    assert kept["'=key"].to_list() == [
        "'=1+1", "'+a", "'-x", "'@SUM(A1)", "'\tx", "-5", "+4912", "1=1", "a@b", None,
    ]  # fmt: skip
    assert (kept["score"].cast(pl.Float64) < 0).any()
