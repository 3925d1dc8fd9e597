"""Readers: svmlight and LETOR text against scikit-learn's, tables against polars."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file

from aucmax.datasets import load_letor, load_svmlight, load_table
from benchmarks.harness import Report, time_in_turn

TITLE = "Readers"
N_FEATURES = 46


def write_letor(path: Path, X: np.ndarray, style: str) -> float:
    """Write rows as the LETOR collections have them; return the size in MB."""
    features = " ".join(f"{j + 1}:{style}" for j in range(X.shape[1]))
    with path.open("w") as stream:
        for i, row in enumerate(X):
            stream.write(
                f"{i % 3} qid:{i // 100} {features % tuple(row)} #docid = {i}\n"
            )
    return path.stat().st_size / 1e6


def run_letor(report: Report, path: Path, n_rows: int, style: str) -> None:
    X = np.random.default_rng(0).random((n_rows, N_FEATURES))
    size = write_letor(path, X, style)
    times = time_in_turn(
        {
            "svmlight": lambda: load_svmlight(path),
            "letor": lambda: load_letor(path),
            "scikit-learn": lambda: load_svmlight_file(str(path), query_id=True),
        },
        repeats=3,
    )
    theirs = times["scikit-learn"].best
    name = f"{size:.0f} MB, {style}"
    for ours in ("svmlight", "letor"):
        report.add(
            f"load_{ours} over scikit-learn's reader, {name}",
            theirs / times[ours].best,
            at_least=10,
            remark=f"({size / times[ours].best:.0f} against {size / theirs:.0f} MB/s)",
        )
    report.add(f"first load_svmlight, {name}", times["svmlight"].first, "s")
    their_X, their_y, their_qid = load_svmlight_file(str(path), query_id=True)
    ours = load_svmlight(path)
    same = (
        np.array_equal(ours.X.data.view(np.int64), their_X.data.view(np.int64))
        and np.array_equal(ours.X.indices, their_X.indices)
        and np.array_equal(ours.y, their_y)
        and np.array_equal(ours.qid, their_qid)
    )
    report.add(f"equal bit for bit, {name}", same, "", at_least=1)


def run_table(report: Report, path: Path) -> None:
    X = np.random.default_rng(0).random((100_000, N_FEATURES)).round(6)
    pl.DataFrame(X).write_csv(path)
    times = time_in_turn(
        {"load_table": lambda: load_table(path), "polars": lambda: pl.read_csv(path)}
    )
    report.add(
        "load_table, checked, over polars.read_csv, unchecked",
        times["load_table"].best / times["polars"].best,
        remark=f"({path.stat().st_size / 1e6 / times['load_table'].best:.0f} MB/s)",
    )


def run(report: Report) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder)
        run_letor(report, path / "short.txt", 100_000, "%.6f")
        run_letor(report, path / "long.txt", 30_000, "%.16g")
        run_table(report, path / "table.csv")
