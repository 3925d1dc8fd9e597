"""Reports by the command line: where they go, and what is rejected before the work."""

import json

import pytest

from aucmax.datasets import load_demo
from command_line import run


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_demo().head(600).write_csv("machines.csv")
    return tmp_path


COMPARE = ("compare", "machines.csv", "--target", "failed", "--models", "logistic")


def test_compare_and_report_write_pages(inside):
    ran = run(*COMPARE, "--cv", "2", "--output-dir", inside, "--json", "--quiet")
    assert ran.exit_code == 0, ran.output
    page = inside / "machines-report.html"
    assert json.loads(ran.stdout)["report"] == str(page)
    text = page.read_text(encoding="utf-8")
    assert "aucmax compare machines.csv --target failed" in text
    assert str(inside) not in text
    ran = run("report", "machines.aucmax", "machines.csv", "-o", "model.md")
    assert ran.exit_code == 0, ran.output
    assert "model.md" in ran.stdout
    text = (inside / "model.md").read_text(encoding="utf-8")
    assert "running" in text  # a column that the model looks at
    assert "aucmax report machines.aucmax machines.csv" in text
