"""Commands on a file of 5,000 x 42, against a script that reads it and scores it.

The script imports polars and LightGBM, reads the file, scores all rows with 300 trees
and writes the scores: a process that loads what ours loads.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import lightgbm
import polars as pl

from benchmarks.gates import gate, ratio
from benchmarks.speed.tables import table

N_ROWS, N_COLUMNS = 5000, 42
SCRIPT = """
import sys
import lightgbm
import polars as pl
frame = pl.read_csv(sys.argv[1])
booster = lightgbm.Booster(model_file=sys.argv[2])
scores = booster.predict(frame.drop("y").to_numpy())
pl.DataFrame({"score": scores}).write_csv(sys.argv[3])
"""


def against_script(*arguments: str) -> float:
    """Return the time of a command with a LightGBM model over that of the script."""
    X, y = table(N_ROWS, N_COLUMNS)
    frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
    parameters = {"objective": "binary", "verbosity": -1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y.astype(float)), 300)
    with TemporaryDirectory() as folder:
        rows, model, theirs, scores = (
            str(Path(folder, name))
            for name in ("rows.csv", "model.aucmax", "model.txt", "scores.csv")
        )
        frame.with_columns(y=y.astype(int)).write_csv(rows)
        booster.save_model(theirs)
        names = {"ROWS": rows, "MODEL": model, "SCORES": scores}
        command = [names.get(one, one) for one in arguments]
        fit = ["fit", rows, "--target", "y", "--model", "lightgbm", "--output", model]
        process("-m", "aucmax", *fit)()
        return ratio(
            process("-m", "aucmax", *command),
            process("-c", SCRIPT, rows, theirs, scores),
            repeats=2,
        )


def process(*arguments: str) -> Callable[[], object]:
    """Return a call that runs Python in a new process, on one thread."""
    line, one_thread = [sys.executable, *arguments], {"OMP_NUM_THREADS": "1"}
    return lambda: subprocess.run(
        line, check=True, capture_output=True, env={**os.environ, **one_thread}
    )


@gate("aucmax score / a script of polars and LightGBM, 5,000 x 42", at_most=2.0)
def score() -> float:
    return against_script("score", "MODEL", "ROWS", "--output", "SCORES", "--force")


@gate("aucmax evaluate / the same script", at_most=2.5)
def evaluate() -> float:
    return against_script("evaluate", "MODEL", "ROWS")


@gate("aucmax explain / the same script", at_most=8.0)
def explain() -> float:
    return against_script("explain", "MODEL", "ROWS")
