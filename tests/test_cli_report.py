"""Reports by the command line: where they go, and what is refused before the work."""

import json
import time

import pytest
from click.testing import CliRunner

from aucmax.cli import main
from aucmax.datasets import load_demo


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_demo().head(600).write_csv("machines.csv")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


COMPARE = ("compare", "machines.csv", "--target", "failed", "--models", "logistic")


@pytest.mark.parametrize("page", ["page.html", "page.md"])
def test_compare_and_report_write_pages(inside, page):
    ran = run(*COMPARE, "--folds", "2", "--report", page, "--json", "--quiet")
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["report"] == page
    text = (inside / page).read_text(encoding="utf-8")
    assert "aucmax compare machines.csv --target failed" in text
    assert str(inside) not in text
    ran = run("report", "machines.aucmax", "machines.csv", "-o", f"model-{page}")
    assert ran.exit_code == 0, ran.output
    assert f"model-{page}" in ran.stdout
    text = (inside / f"model-{page}").read_text(encoding="utf-8")
    assert "running" in text  # a column that the model looks at
    assert "aucmax report machines.aucmax machines.csv" in text


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("missing/page.html", "there is no folder missing"),
        ("page.docx", ".html, .htm, .md"),
        ("machines.csv", "the name must end"),
        ("taken.html", "taken.html exists"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_before_the_work(
    inside, page, message
):
    (inside / "taken.html").write_text("mine")
    start = time.process_time()
    ran = run(*COMPARE, "--report", page)
    assert ran.exit_code == 2
    assert message in ran.stderr
    assert time.process_time() - start < 1
    assert (inside / "taken.html").read_text() == "mine"


def test_a_report_and_no_files_contradict_each_other(inside):
    ran = run(*COMPARE, "--report", "page.html", "--no-save")
    assert ran.exit_code == 2
    assert "--no-save contradicts" in ran.stderr


def test_folders_of_this_machine_are_not_told(inside):
    ran = run(*COMPARE, "--folds", "2", "--report", inside / "page.md", "--quiet")
    assert ran.exit_code == 0, ran.output
    text = (inside / "page.md").read_text(encoding="utf-8")
    assert "--report page.md" in text
    assert str(inside) not in text
