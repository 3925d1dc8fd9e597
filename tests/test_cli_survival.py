"""Censored times at the command line."""

import polars as pl
import pytest

import aucmax
from aucmax.inference import concordance_interval
from aucmax.metrics import concordance_index
from command_line import error_of, read_json, run
from survival_samples import censored_rows

# files of these tests have columns that are neither features nor the target
pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.ColumnsWarning")

TIMES = ["--duration", "days", "--target", "died"]


def patients(seed: int, n_rows: int = 150) -> pl.DataFrame:
    table, y = censored_rows(seed, n_rows)
    return table.with_columns(
        days=pl.Series((100 * y["time"]).round(1)),
        died=pl.Series(y["event"].astype(int)),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of training and test rows, and a model of cox and of auto."""
    folder = tmp_path_factory.mktemp("patients")
    patients(0).write_csv(folder / "known.csv")
    patients(1).write_csv(folder / "new.csv")
    fit = ["fit", folder / "known.csv", *TIMES, "-q"]
    run(*fit, "--model", "cox", "-o", folder / "cox.aucmax")
    model = aucmax.load(folder / "cox.aucmax")
    roles = model.file_roles_
    assert (roles["target"], roles["duration"]) == ("died", "days")
    settings = ["--model", "auto:max_fits=4,cv=2"]
    run(*fit, *settings, "-o", folder / "auto.aucmax")
    return folder


def test_a_model_file_knows_the_columns_of_events_and_times(folder):
    new = patients(1)
    said = run("evaluate", folder / "cox.aucmax", folder / "new.csv").stdout
    model = aucmax.load(folder / "cox.aucmax")
    scores = model.decision_function(new)
    expected = concordance_interval(new["died"], new["days"], scores)
    assert repr(expected) in said
    assert "Uno's C" in said
    assert said.count("at time") == 3
    record = read_json("evaluate", folder / "cox.aucmax", folder / "new.csv")
    assert record["concordance"] == concordance_index(new["died"], new["days"], scores)
    assert record["duration"] == "days"
    assert len(record["auc_at_times"]) == 3


def test_scores_come_with_the_probability_of_an_event(folder):
    arguments = "score", folder / "auto.aucmax", folder / "new.csv", "--horizon", 50
    table = pl.read_csv(run(*arguments).stdout.encode())
    assert table.columns == ["score", "probability"]
    model = aucmax.load(folder / "auto.aucmax")
    expected = model.predict_event_probability(patients(1), 50.0)
    assert table["probability"].to_numpy() == pytest.approx(expected)
    said = error_of(
        "score", folder / "cox.aucmax", folder / "new.csv", "--threshold", 0
    )
    assert "censored times" in said


def test_columns_are_explained_by_concordance(folder):
    said = run("explain", folder / "cox.aucmax", folder / "new.csv", "-q").stdout
    assert said.startswith("C index 0.")
    assert said.splitlines()[1].split()[0] == "x"


def test_reports_have_survival_curves(folder):
    page = folder / "page.html"
    run("report", folder / "auto.aucmax", folder / "new.csv", "-o", page, "-q")
    html = page.read_text()
    assert "Survival by risk" in html
    title = "rank by how early the event comes (column 'died', time: column 'days')?"
    assert title.replace("'", "&#39;") in html
    assert "Calibration at" in html


def test_comparisons_test_against_cox_and_save_the_best(folder):
    names = ["--models", "cox,additive-cox", "--cv", 2, "--output-dir", folder]
    said = run("compare", folder / "known.csv", *TIMES, *names, "-q").stdout
    assert "vs cox" in said
    assert "Harrell's C over 2 folds" in said
    best = aucmax.load(folder / "known.aucmax")
    assert best.is_survival_
    test = ["--models", "cox", "--test", folder / "new.csv"]
    tested = read_json("compare", folder / "known.csv", *TIMES, *test)
    assert tested["test_rows"] == 150


def test_the_code_of_an_event_is_asked_for(folder):
    table = patients(0).with_columns(pl.col("died") + 1)
    table.write_csv(folder / "codes.csv")
    fit = ["fit", folder / "codes.csv", *TIMES, "--model", "cox", "-q", "--force"]
    said = error_of(*fit, "-o", folder / "codes.aucmax")
    assert "column 'died' has the codes 1: " in said
    assert "Name it with --pos-label" in said
    run(*fit, "--pos-label", 2, "-o", folder / "codes.aucmax")
    both = (aucmax.load(folder / f"{name}.aucmax") for name in ("codes", "cox"))
    first, second = (model.decision_function(patients(1)) for model in both)
    assert first == pytest.approx(second)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--duration", "days"], "Name it with --target"),
        (["--time", "days", "--event", "died"], "name the column of times until"),
        ([*TIMES, "--model", "lightgbm"], "cannot learn from censored times"),
        ([*TIMES, "--fpr-range", 0, 0.1], "censored times"),
        ([*TIMES, "--metric", "auc"], "choose from concordance"),
        (["--duration", "ward", "--target", "died"], "durations as numbers"),
    ],
)
def test_options_that_do_not_apply_are_rejected(folder, options, said):
    fit = ["fit", folder / "known.csv", *options, "-o", folder / "other.aucmax", "-q"]
    assert said in error_of(*fit)


@pytest.mark.parametrize("option", [["--recall", 0.9], ["--by", "ward"]])
def test_tests_of_classes_are_rejected(folder, option):
    evaluate = ["evaluate", folder / "cox.aucmax", folder / "new.csv", *option]
    assert "censored times" in error_of(*evaluate)
