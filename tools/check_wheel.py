"""Install the built wheel into new environments and use it there.

``python tools/check_wheel.py`` takes the wheel from ``dist/`` and, for each choice of
extras, makes an environment, installs the wheel there (nothing of this folder can be
imported), and prints the size on disk, the time of the
first import and whether a smoke test passes. ``--extras`` names choices, for example
``--extras "" excel "onnx,zstd"``; ``--light`` leaves out what is large. ``bare`` is the
package without polars, matplotlib, LightGBM, click and Jinja: metrics and linear models
must work there. ``--typing`` checks a script of a user with mypy and pyright.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIGHT = ["", "bare", "excel", "zstd", "onnx"]
LARGE = ["xgboost-cpu", "torch", "dask-cpu", "dask", "xgboost", "all"]
ALL = "xgboost,torch,onnx,dask,excel,zstd"
# what distributors may leave out
REMOVED = ["polars", "polars-runtime-32", "matplotlib", "lightgbm", "click", "jinja2",
           "markupsafe"]  # fmt: skip

CORE = """
import numpy as np
import aucmax
from aucmax import AUCSVC, LinearRankerCV, inference, metrics
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
y = X[:, 0] + rng.normal(size=300) > 0.5
model = AUCSVC().fit(X, y)
assert model.dual_gap_ < 1.0
scores = model.decision_function(X)
assert 0.7 < metrics.roc_auc_score(y, scores) < 0.95
assert "AUC" in str(inference.auc_interval(y, scores))
assert "AUC" in str(inference.compare_auc(y, scores, X[:, 1]))
assert 0.7 < LinearRankerCV(C_values=(0.1, 1.0), cv=2).fit(X, y).score(X, y) < 0.95
"""
SMOKE = {
    "bare": """
import importlib.util
for name in ("polars", "matplotlib", "lightgbm", "click", "jinja2", "markupsafe"):
    assert importlib.util.find_spec(name) is None, name
""",
    "": """
import os, tempfile
import matplotlib
matplotlib.use("Agg")
from aucmax import AutoRanker, LambdaMART, MarginRanker, datasets, plots
table = datasets.load_demo()[:600]
failed = table.drop_in_place("failed")
ranker = AutoRanker(models=["logistic", "lightgbm-small"], cv=2)
ranker.fit(table, failed)
LambdaMART(n_estimators=5).fit(X, y)
MarginRanker().fit(X, y)
plots.ROCCurveDisplay.from_predictions(y, scores)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "m.aucmax")
    aucmax.save(ranker, path)
    again = aucmax.load(path)
assert (again.decision_function(table) == ranker.decision_function(table)).all()
""",
    # a minimal workbook, written by hand: the extra only reads
    "excel": """
import tempfile, pathlib, zipfile
from aucmax.datasets import load_table
office = "http://schemas.openxmlformats.org"
main = f'xmlns="{office}/spreadsheetml/2006/main"'
links = f"{office}/officeDocument/2006/relationships"
def link(kind, target):
    return (f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship '
            f'Id="r1" Type="{links}/{kind}" Target="{target}"/></Relationships>')
def row(i, kind, name, age):
    return (f'<row r="{i}"><c r="A{i}" t="str"><v>{name}</v></c>'
            f'<c r="B{i}" t="{kind}"><v>{age}</v></c></row>')
cells = row(1, "str", "name", "age") + row(2, "n", "Ida", 41) + row(3, "n", "Bo", 7)
parts = {
    "_rels/.rels": link("officeDocument", "xl/workbook.xml"),
    "xl/_rels/workbook.xml.rels": link("worksheet", "worksheets/sheet1.xml"),
    "xl/workbook.xml": f'<workbook {main} xmlns:r="{links}"><sheets><sheet '
        'name="people" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/worksheets/sheet1.xml":
        f"<worksheet {main}><sheetData>{cells}</sheetData></worksheet>",
}
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "people.xlsx")
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    people = load_table(path)
assert people.rows() == [("Ida", 41), ("Bo", 7)] and people.columns == ["name", "age"]
""",
    "zstd": """
import tempfile, pathlib, zstandard
from aucmax.datasets import load_table
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "a.csv.zst")
    path.write_bytes(zstandard.ZstdCompressor().compress(b"a,b\\n1,2\\n3,4\\n"))
    assert load_table(path).shape == (2, 2)
""",
    "onnx": """
from aucmax.onnx import to_onnx
from onnx.reference import ReferenceEvaluator
(found,) = ReferenceEvaluator(to_onnx(model)).run(["score"], {"X": X})
np.testing.assert_allclose(np.ravel(found), scores)
""",
    "torch": """
import torch
from aucmax.torch import PairLogisticLoss
rows, labels = torch.from_numpy(X), torch.from_numpy(y)
w = torch.zeros(4, dtype=rows.dtype, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
for _ in range(20):
    optimizer.zero_grad()
    PairLogisticLoss()(rows @ w, labels).backward()
    optimizer.step()
assert 0.7 < metrics.roc_auc_score(y, X @ w.detach().numpy()) < 0.95
""",
    "xgboost": """
import xgboost
from aucmax import objectives
plugin, history = objectives.xgboost("auc"), {}
data = xgboost.DMatrix(X, y)
xgboost.train(
    {"max_depth": 2, "disable_default_eval_metric": True}, data, num_boost_round=5,
    obj=plugin.objective, custom_metric=plugin.metric, evals=[(data, "train")],
    evals_result=history, verbose_eval=False,
)
assert 0.7 < history["train"][plugin.name][-1] < 0.95
""",
    "dask": """
import dask.array as da, distributed
from aucmax import LambdaMART
X_parts, y_parts = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
with distributed.Client(
    processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
):
    on_dask = AUCSVC().fit(X_parts, y_parts)
    np.testing.assert_allclose(on_dask.coef_, model.coef_, rtol=1e-9)
    np.testing.assert_allclose(on_dask.score(X_parts, y_parts), model.score(X, y))
    trees = LambdaMART(n_estimators=5).fit(X_parts, y_parts)
assert 0.7 < trees.score(X, y) < 1
""",
}
IMPORTS = "import aucmax; aucmax.metrics.roc_auc_score; aucmax.AUCSVC"


def run(*command: object, **options: object) -> str:
    """Run a command; return what it prints, or stop with it."""
    line = list(map(str, command))
    ran = subprocess.run(line, capture_output=True, text=True, **options)
    if ran.returncode:
        sys.exit(f"{' '.join(line)}\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout


def find_uv() -> str | None:
    """Return the path of uv, of this environment first, or None."""
    return shutil.which("uv", path=Path(sys.executable).parent) or shutil.which("uv")


def make_environment(folder: Path) -> Path:
    """Make an empty environment; return its Python."""
    if uv := find_uv():
        run(uv, "venv", "--quiet", "--python", sys.executable, folder)
    else:
        run(sys.executable, "-m", "venv", folder)
    scripts = "Scripts" if os.name == "nt" else "bin"
    return folder / scripts / ("python.exe" if os.name == "nt" else "python")


def pip(python: Path, command: str, *arguments: str) -> None:
    """Install or uninstall packages with uv, or with pip where there is no uv."""
    if uv := find_uv():
        certificates = ["--system-certs"] if command == "install" else []
        line = [uv, "pip", command, "--quiet", *certificates, "--python", python]
    else:
        agreed = ["--yes"] if command == "uninstall" else []
        line = [python, "-m", "pip", command, "--quiet", *agreed]
    run(*line, *arguments)


def size_of(folder: Path) -> float:
    """Return the size of all files in megabytes."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 1e6


def time_of_import(python: Path, folder: Path) -> float:
    """Return the seconds of the processor for an import, the least of three."""
    code = f"{IMPORTS}; import time; print(time.process_time())"
    return min(float(run(python, "-c", code, cwd=folder)) for _ in range(3))


def smoke_code(extras: str) -> str:
    """Return the program that uses what the extras bring."""
    names = ALL.split(",") if extras == "all" else extras.split(",")
    names = [name.removesuffix("-cpu") for name in names]
    if extras != "bare":
        names = ["", *names]
    return CORE + "".join(SMOKE[name] for name in dict.fromkeys(names))


def check(wheel: Path, extras: str, torch_build: str) -> None:
    """Install the wheel with these extras, use it and print one line."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="aucmax-wheel-") as name:
        folder = Path(name)
        python = make_environment(folder / "venv")
        packages = ALL if extras == "all" else extras
        is_plain = extras in ("", "bare", "xgboost-cpu")
        if "torch" in packages and torch_build:
            # uv would look past a build that is found on this machine
            run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet",
                "--disable-pip-version-check", torch_build)  # fmt: skip
        if extras == "xgboost-cpu":
            pip(python, "install", extras)
        pip(python, "install", str(wheel) if is_plain else f"{wheel}[{packages}]")
        if extras == "bare":
            pip(python, "uninstall", *REMOVED)
        seconds = time_of_import(python, folder)
        megabytes = size_of(folder / "venv")
        (folder / "smoke.py").write_text(smoke_code(extras), encoding="utf-8")
        start = time.perf_counter()
        run(python, "-W", "error::DeprecationWarning:aucmax", "smoke.py", cwd=folder)
        used = time.perf_counter() - start
        if extras != "bare":
            program = python.with_name("aucmax" + python.suffix)
            assert run(program, "--version").startswith("aucmax")
        label = f"aucmax[{extras}]" if extras else "aucmax"
        print(
            f"{label:<22}{megabytes:>8.0f} MB  import {seconds:.2f} s  "
            f"smoke test {used:.0f} s  in all {time.perf_counter() - begin:.0f} s",
            flush=True,
        )


def check_typing(wheel: Path) -> None:
    """Check a user's script with mypy and pyright, both strict."""
    with tempfile.TemporaryDirectory(prefix="aucmax-typing-") as name:
        folder = Path(name)
        python = make_environment(folder / "venv")
        pip(python, "install", f"{wheel}[typing]")
        script = folder / "user_script.py"
        shutil.copy(ROOT / "tests" / "typing_from_outside" / script.name, script)
        (folder / "pyrightconfig.json").write_text(
            '{"typeCheckingMode": "strict", "include": ["user_script.py"]}'
        )
        run(python, "-m", "mypy", "--strict", script.name, cwd=folder)
        run(python, "-m", "pyright", "--pythonpath", python, cwd=folder)
        run(python, script.name, cwd=folder)
        print("a script is checked by mypy and pyright, strict, and runs", flush=True)


def main() -> None:
    """Read the options and check each choice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extras", nargs="*", help="choices; all by default")
    parser.add_argument("--light", action="store_true", help="leave out what is large")
    parser.add_argument("--typing", action="store_true", help="check a typed script")
    parser.add_argument("--torch", default="", help="a CPU build to install first")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    wheels = sorted(options.dist.glob("aucmax-*.whl"))
    if len(wheels) != 1:
        sys.exit(f"{options.dist} must hold one wheel, found {len(wheels)}: make dist")
    every = LIGHT if options.light else LIGHT + LARGE
    for extras in options.extras or every:
        check(wheels[0].resolve(), extras, options.torch)
    if options.typing:
        check_typing(wheels[0].resolve())


if __name__ == "__main__":
    main()
