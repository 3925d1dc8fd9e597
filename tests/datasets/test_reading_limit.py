"""A file whose rows take more memory than allowed is an error before they are read."""

import gzip
import io
import json
import resource

import polars as pl
import pytest
from click.testing import CliRunner
from scipy import sparse

import aucmax.datasets.memory
from aucmax.cli import main
from aucmax.datasets import load_svmlight, load_table, max_memory
from aucmax.datasets.opening import find_source
from aucmax.exceptions import DataFileError
from aucmax.tables import TableEncoder

ROWS = 200_000
ALLOW = r"takes \d.* of memory or more, .*datasets\.max_memory"


def csv_text():
    return b"a,b\n" + b"1,1\n" * ROWS


def arrow(write):
    def content():
        file = io.BytesIO()
        write(pl.DataFrame({"a": [1] * ROWS, "b": ["x"] * ROWS}), file)
        return file.getvalue()

    return content


def distant_cells():
    """Two cells, with 17 thousand million empty ones between them."""
    import xlsxwriter

    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, 1)
    return file.getvalue()


def own_names():
    """Lines each of which names a column of its own."""
    lines = (json.dumps({f"a{k}": k}) for k in range(600))
    return "\n".join(lines).encode()


# Files of a few kilobytes whose rows take megabytes; the last two take gigabytes.
LARGE = {
    "csv": csv_text,
    "csv.gz": lambda: gzip.compress(csv_text()),
    "parquet": arrow(pl.DataFrame.write_parquet),
    "feather": arrow(lambda frame, file: frame.write_ipc(file, compression="zstd")),
    "jsonl": own_names,
    "jsonl.gz": lambda: gzip.compress(b'{"a": 1}\n' * ROWS),
    "xlsx": distant_cells,
}


@pytest.mark.parametrize("ending", LARGE)
def test_rows_beyond_the_limit_are_an_error_that_names_the_option(tmp_path, ending):
    path = tmp_path / f"large.{ending}"
    path.write_bytes(LARGE[ending]())
    with max_memory(1e6), pytest.raises(DataFileError, match=ALLOW):
        load_table(path)
    if ending != "xlsx":
        with max_memory(1e9):
            assert load_table(path).height >= 600


def test_a_small_file_may_not_take_much_memory_by_default(tmp_path, monkeypatch):
    monkeypatch.setattr(aucmax.datasets.memory, "FREE_BYTES", 1e6)
    small, large = tmp_path / "small.csv.gz", tmp_path / "large.csv"
    small.write_bytes(LARGE["csv.gz"]())
    large.write_bytes(LARGE["csv"]())
    with pytest.raises(DataFileError, match="allowed for a file of this size"):
        load_table(small)
    assert load_table(large).height == ROWS
    monkeypatch.setattr(aucmax.datasets.memory, "free_memory", lambda: 1e6)
    with pytest.raises(DataFileError, match=ALLOW):
        load_table(large)


def test_a_device_that_never_ends_is_an_error():
    with max_memory(1e8), pytest.raises(DataFileError, match=f"/dev/zero {ALLOW}"):
        find_source("/dev/zero")


@pytest.mark.parametrize("n_bytes", [0, -1, float("nan")])
def test_a_limit_is_above_zero(n_bytes):
    with pytest.raises(ValueError, match="must be above 0"), max_memory(n_bytes):
        pass


def test_columns_of_a_single_large_index_are_counted_before_they_are_made():
    X = sparse.csr_array(([1.0, 2.0], ([0, 1], [0, 999_999_999])))
    with pytest.raises(DataFileError, match=f"1000000000 columns {ALLOW}"):
        TableEncoder().fit(X)


@pytest.fixture
def large_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{k % 2} 1:{k} 2:{-k * (k % 3)}" for k in range(40)]
    (tmp_path / "rows.svm").write_text("\n".join(rows))
    (tmp_path / "large.svm").write_text("\n".join([*rows, "1 1000000000:1"]))


def run(*arguments):
    return CliRunner().invoke(main, [*arguments, "-q"])


def test_a_single_large_index_takes_no_memory_in_any_command(large_index):
    assert load_svmlight("large.svm").X.shape == (41, 1_000_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for fit in (["fit", "--model", "svm-auc", "-o", "n"], ["compare"]):
        ran = run(*fit, "large.svm")
        assert ran.exit_code == 2
        assert "max_memory" in ran.stderr
    assert run("fit", "rows.svm", "--model", "svm-auc", "-o", "m").exit_code == 0
    for command in ("score", "evaluate", "explain", "report"):
        assert run(command, "m", "large.svm").exit_code == 0, command
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 1_000_000  # kilobytes
