"""Fitting rows that stay on disk against rows in memory: time and peak memory.

Each fit is a process of its own. Memory is what the process holds for itself (data and
stack, not the pages of mapped files), beyond what it held before it opened the table.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.harness import Report

TITLE = "Rows that stay on disk against rows in memory"
N_ROWS, N_COLUMNS = 1_000_000, 20
MODELS = {"lambdamart": {"n_estimators": 20}, "linear": {}, "svm-auc": {}}
PARTS = 4


def write_parts(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write a table with a target in some Parquet files."""
    rng = np.random.default_rng(0)
    for k in range(PARTS):
        X = rng.normal(size=(n_rows // PARTS, n_columns))
        y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=len(X)) > 2
        frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
        frame.with_columns(y=y).write_parquet(folder / f"part-{k}.parquet")


def held() -> float:
    """Return the megabytes that this process holds for itself."""
    line = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmData")
    )
    return int(line.split()[1]) / 1024


def fit(folder: str, name: str, where: str) -> None:
    """Fit one model, and print what it took."""
    import lightgbm  # noqa: F401  counted as part of the program

    from aucmax.datasets import open_table
    from aucmax.model_selection import table_model

    model = table_model(name, parameters=MODELS[name])
    before, peak = held(), [0.0]

    def watch() -> None:
        while True:
            peak[0] = max(peak[0], held())
            time.sleep(0.005)

    threading.Thread(target=watch, daemon=True).start()
    start = time.process_time()
    table = open_table(folder)
    rows = table if where == "disk" else table.collect()
    model.fit(rows.drop(["y"]), rows["y"])
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "megabytes": peak[0] - before}))


def run(report: Report) -> None:
    """Compare both for each model."""
    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder), N_ROWS, N_COLUMNS)
        for name in MODELS:
            disk, memory = (measured(folder, name, one) for one in ("disk", "memory"))
            remark = f"{disk['seconds']:.1f} s, {disk['megabytes']:.0f} MB on disk"
            for what in ("seconds", "megabytes"):
                ratio = disk[what] / memory[what]
                report.add(f"{name}, {what}: disk / memory", ratio, "x", remark=remark)


def measured(folder: str, name: str, where: str) -> dict[str, float]:
    """Fit one model in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.on_disk", folder, name, where]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


if __name__ == "__main__":
    fit(*sys.argv[1:])
