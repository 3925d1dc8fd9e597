"""Reports by the command line: where they go, and what is rejected before the work."""

from aucmax.datasets import load_demo
from command_line import read_json, run

COMPARE = ("compare", "machines.csv", "--target", "failed", "--models", "logistic")


def test_compare_and_report_write_pages(inside):
    load_demo().head(600).write_csv("machines.csv")
    page = inside / "machines-report.html"
    record = read_json(*COMPARE, "--cv", "2", "--output-dir", inside)
    assert record["report"] == str(page)
    text = page.read_text(encoding="utf-8")
    assert "aucmax compare machines.csv --target failed" in text
    assert str(inside) not in text
    ran = run("report", "machines.aucmax", "machines.csv", "-o", "model.md")
    assert "model.md" in ran.stdout
    text = (inside / "model.md").read_text(encoding="utf-8")
    assert "running" in text  # a column that the model looks at
    assert "aucmax report machines.aucmax machines.csv" in text
