"""Each command loads the packages that it uses, and what is missing is named."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from aucmax.cli import main

HEAVY = {"numba", "sklearn", "scipy.stats", "lightgbm", "matplotlib", "jinja2"}
HEAVY |= {"pandas", "polars", "xgboost", "torch", "dask"}
# what scikit-learn imports by itself, pandas only if it is installed
OF_SKLEARN = {"sklearn", "scipy.stats", "pandas"}

# scripts run in a process of their own, which prints the heavy packages that it loaded
LOADED = f"""
import sys
from aucmax.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert not stop.code
print("LOADED", *set({sorted(HEAVY)}) & set(sys.modules))
"""


def run(folder, *arguments):
    """Run Python in a folder; return what it prints."""
    ran = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of 600 rows, and models of it."""
    folder = tmp_path_factory.mktemp("startup")
    rng = np.random.default_rng(0)
    n = 600
    level = rng.normal(size=n)
    table = pl.DataFrame(
        {
            "level": np.where(rng.random(n) < 0.1, np.nan, level),
            "size": rng.lognormal(sigma=3.0, size=n),
            "kind": rng.choice(list("abcd"), n),
            "word": [f"w{k}" for k in rng.integers(0, 130, n)],
            "day": [f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(n)],
            "sick": (level + rng.normal(size=n) > 1.0).astype(int),
        }
    ).with_columns(pl.col("level").fill_nan(None))
    table.write_csv(folder / "rows.csv")
    few = table.select("level", "size", "sick")
    few.write_csv(folder / "few.csv")
    for model, data, options in (
        ("linear", "rows", []),
        ("logistic", "rows", []),
        ("svm-auc", "rows", []),
        ("linear", "few", ["--fpr-range", "0", "0.3"]),
        ("lambdamart:n_estimators=3", "few", []),
    ):
        name = str(folder / f"{model.partition(':')[0]}-{data}.aucmax")
        fit = ["fit", str(folder / f"{data}.csv"), "--target", "sick", "-q"]
        done = CliRunner().invoke(main, [*fit, "--model", model, "-o", name, *options])
        assert done.exit_code == 0, done.output
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("score linear-few.aucmax few.csv", {"polars", *OF_SKLEARN}),
        ("score lambdamart-few.aucmax few.csv", {"polars", "lightgbm", *OF_SKLEARN}),
        ("evaluate lambdamart-few.aucmax few.csv", {"polars", "lightgbm", *OF_SKLEARN}),
        ("explain linear-few.aucmax few.csv", {"polars", *OF_SKLEARN}),
        (
            "report linear-few.aucmax few.csv",
            {"polars", "jinja2", "matplotlib", *OF_SKLEARN},
        ),
        (
            "compare few.csv --target sick --models logistic --cv 2",
            {"polars", *OF_SKLEARN},
        ),
        ("plan --auc 0.75 --null 0.65 --power 0.8", set()),
    ],
)
def test_a_command_loads_what_it_uses(folder, command, expected):
    loaded = run(folder, "-c", LOADED, *command.split()).rpartition("LOADED")[2]
    # loops that take long in Python are compiled, and scikit-learn looks for pandas
    optional = {"pandas", "numba"} if "sklearn" in expected else set()
    assert set(loaded.split()) - optional == expected - optional


# a finder, not an entry of sys.modules: packages such as scikit-learn look there
BLOCKED = """
import sys
missing = {"polars", "matplotlib", "lightgbm", "click"}
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""

CORE = """
import numpy as np, aucmax
from aucmax import inference, metrics, risks
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = X[:, 0] + rng.normal(size=80) > 0.0
assert 0.5 < metrics.roc_auc_score(y, X[:, 0]) < 1.0
print(inference.auc_interval(y, X[:, 0]), inference.compare_auc(y, X[:, 0], X[:, 1]))
metrics.partial_auc_score(y, X[:, 0], fpr_range=(0.0, 0.2))
inference.plan_auc(auc=0.75, null=0.65, power=0.8)
for risk in (risks.PairHinge(), risks.PairLogistic(), risks.PartialHinge((0.0, 0.3))):
    risk.bind(y).value_and_gradient(X[:, 0])
for model in (
    aucmax.AUCSVC(),
    aucmax.LinearRankerCV(C_values=(1.0,), cv=2),
    aucmax.MarginRanker(),
    aucmax.RankBoost(n_estimators=3),
):
    scores = model.fit(X, y).decision_function(X)
    aucmax.save(model, "model.aucmax", overwrite=True)
    again = aucmax.load("model.aucmax").decision_function(X)
    assert again.tobytes() == scores.tobytes()
    assert model.score(X, y) > 0.5
"""

MISSING = """
import aucmax, numpy as np
X = np.arange(8.0).reshape(4, 2)
for use in (
    lambda: aucmax.LambdaMART().fit(X, [0, 0, 1, 1]),
    lambda: aucmax.plots.ROCCurveDisplay.from_predictions([0, 0, 1, 1], X[:, 0]),
    lambda: __import__("aucmax.cli"),
):
    try:
        use()
    except ImportError as error:
        print(error)
"""


def test_metrics_and_linear_models_need_no_other_package(tmp_path):
    assert "AUC" in run(tmp_path, "-c", BLOCKED + CORE)


@pytest.mark.slow
def test_a_missing_package_is_named_with_the_command_that_installs_it(folder):
    lines = run(folder, "-c", BLOCKED + MISSING).splitlines()
    packages = ["lightgbm", "matplotlib", "click"]
    assert len(lines) == len(packages), lines
    for line, package in zip(lines, packages, strict=True):
        assert f" needs {package}" in line, line
        assert line.endswith(f": pip install {package}."), line
