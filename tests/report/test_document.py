import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from aucmax.decisions import compare_groups, net_benefit, reliability
from aucmax.report.document import _markdown_text
from aucmax.report.sections import groups_section
from report.page_samples import (
    EVIL,
    NAMES,
    RIGHT_TO_LEFT,
    labels_and_scores,
    model_results,
    page_of,
)

TEMPLATES = files("aucmax.report") / "templates"
DEMO = Path(__file__).parents[2] / "docs" / "_static" / "demo_report.html"


class Elements(HTMLParser):
    """Elements of a page with their attributes, and its strings."""

    VOID = frozenset({"meta", "input", "br", "line", "circle", "rect", "polyline"})

    def __init__(self, text):
        super().__init__()
        self.tags, self.strings, self.open, self.scripts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        is_script = "script" in self.open or "style" in self.open
        (self.scripts if is_script else self.strings).append(data)

    def attributes(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page():
    return page_of().html()


def test_the_page_is_well_formed_and_says_everything_in_order(page):
    elements = Elements(page)
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert [re.sub("<[^>]+>", "", heading) for heading in headings] == [
        "Models",
        "Parts of linear",
        "ROC curves",
        "How many cases can you review?",
        "Gains",
        "Top of the list: linear",
        "Calibration: linear",
        "Column importance: linear",
        "Decision curve: linear",
        "Net benefit",
        "Variation between folds",
        "Data checks",
        "Certificates",
        "How to reproduce this report",
    ]
    text = " ".join(elements.strings)
    for said in ("within 0.001 of the optimum", "looks like a leak", "p = 0.010"):
        assert said in text
    assert f"Written on {date.today().isoformat()} by aucmax" in text


def test_a_page_of_one_model_says_so_and_has_no_empty_sections():
    one = page_of(NAMES[:1], parts={}, certificates=())
    page = one.html()
    titles = re.sub("<[^>]+>", "", " ".join(re.findall(r"<h2>(.*?)</h2>", page)))
    assert "Performance ROC curve How many" in titles
    for absent in ("Models", "curves", "Certificate", "Parts", "linear"):
        assert absent not in titles
    assert '<ul class="legend">' not in page
    assert "## Certificate" not in one.markdown()
    Elements(page)


def test_names_are_text_and_never_markup(page):
    elements = Elements(page)
    assert len(elements.attributes("script")) == 2  # the data and our own
    assert EVIL in " ".join(elements.strings)
    assert "alert(" not in re.sub(
        r"&lt;/script&gt;&lt;script&gt;alert\(|\\u003cscript\\u003ealert\(", "", page
    )
    handlers = [a for _, attrs in elements.tags for a in attrs if a.startswith("on")]
    assert handlers == []


def test_data_for_the_script_survive_any_name(page):
    (text,) = re.findall(r'id="aucmax-data">(.*?)</script>', page, re.S)
    data = json.loads(text)
    assert [curve["name"] for curve in data["curves"]] == list(NAMES)
    assert not set("<>&") & set(text)


def test_nothing_is_fetched(page):
    elements = Elements(page)
    linked = {"src", "href", "srcset", "action", "data", "poster", "xlink:href"}
    links = [a[name] for _, a in elements.tags for name in linked & a.keys()]
    ids = {a["id"] for _, a in elements.tags if "id" in a}
    # within the page
    assert {link.removeprefix("#") for link in links} <= ids
    assert {*re.findall(r"url\(#?(.*?)\)", page)} <= ids
    assert "@import" not in page
    (policy,) = (a["content"] for a in elements.attributes("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")


def test_the_calibration_is_that_of_the_probabilities(page):
    labels, scores = labels_and_scores()
    expected = reliability(labels, 1.0 / (1.0 + np.exp(3.0 - scores[0])))
    assert f"Brier score {expected.brier_score:.4f}" in page
    without = page_of(reliability=None).html()
    assert "Brier" not in without
    assert "Decision curve" not in without


def test_300_models_and_2000_columns_make_a_small_page():
    names = [f"model {k}" for k in range(300)]
    columns = [f"column {k} {EVIL}" for k in range(2000)]
    page = page_of(names, columns=columns).html()
    assert len(page) < 1_500_000
    assert page.count("<bdi>model 299</bdi>") == 1
    assert "280 more models" in page
    assert "The curves of 7 of 300 models" in page
    assert "1,987 more columns matter less" in page
    Elements(page)


def test_without_rankings_the_page_says_why():
    some = page_of(curves=[], reliability=None, no_rankings="Rankings within queries.")
    page, markdown = some.html(), some.markdown()
    assert "Rankings within queries." in page
    assert "Rankings within queries." in markdown
    assert "aucmax-data" not in page
    Elements(page)


def test_a_model_without_measures_states_its_problem():
    models = model_results()
    nan = float("nan")
    models[3] = replace(
        models[3],
        measures={"auc": nan, "partial_auc": nan},
        low=nan,
        high=nan,
        folds=(),
        problem="constant scores <on> all folds",
    )
    page = page_of(models=models, importance=None).html()
    assert "constant scores &lt;on&gt; all folds" in page
    assert "aucmax report MODEL DATA" in page


@pytest.mark.parametrize(
    "name", ["https://evil.example", "www.evil.example", "a@evil.example", "@someone"]
)
def test_markdown_has_no_link_made_of_a_name(name):
    text = _markdown_text(f"column {name} is")
    assert re.search(r"://|www\.|@\w", text) is None
    assert text.replace("<!-- -->", "") == f"column {name} is"


def test_markdown_has_the_same_sections_and_escapes_names():
    text = page_of().markdown()
    assert re.findall(r"^## (.*)$", text, re.M) == [
        "Models",
        "Parts of linear",
        "How many cases can you review?",
        "Top of the list: linear",
        "Calibration",
        "Net benefit",
        "Column importance",
        "Variation between folds",
        "Data checks",
        "Certificates",
        "How to reproduce this report",
    ]
    assert "<" not in text
    assert r"tied \| \`code\` \$x\$ \_a\_ \*b\*" in text
    assert "````\naucmax compare ```x --target y\n````" in text
    # every line of a table has as many cells as its head
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        widths = {
            len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()
        }
        assert len(widths) == 1, table


def test_both_kinds_are_saved_whole(tmp_path, page):
    report = page_of()
    assert report.save(tmp_path / "a.html").read_text(encoding="utf-8") == page
    text = report.save(tmp_path / "a.md").read_text(encoding="utf-8")
    assert text.startswith("# Which model ranks")
    with pytest.raises(FileExistsError):
        report.save(tmp_path / "a.md")
    report.save(tmp_path / "a.md", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md"]


def test_paths_that_cannot_be_written_are_rejected(tmp_path):
    report = page_of()
    with pytest.raises(FileNotFoundError, match=r"folder .*missing"):
        report.save(tmp_path / "missing" / "a.html")
    with pytest.raises(ValueError, match=r"\.html or \.md"):
        report.save(tmp_path / "a.docx")


def test_the_page_in_the_documentation_is_of_this_version_and_names_no_folder():
    text = DEMO.read_text(encoding="utf-8")
    for name in ("page.js", "style.css"):
        assert (TEMPLATES / name).read_text(encoding="utf-8").strip() in text
    assert "<code>aucmax demo</code>" in text
    assert not re.findall(r"/(?:tmp|home|work|root|Users)/", text)
    Elements(text)


def test_notebooks_get_the_verdict_and_the_table():
    fragment = page_of()._repr_html_()
    elements = Elements(fragment)
    assert not elements.attributes("script")
    assert "linear ranks best." in " ".join(elements.strings)
    assert f"<bdi>{RIGHT_TO_LEFT}</bdi>" in fragment


def test_probabilities_have_a_decision_curve_and_calibration_slopes():
    labels, scores = labels_and_scores(400)
    rows = labels, 1.0 / (1.0 + np.exp(3.0 - scores[0]))
    expected, expected_reliability = (
        net_benefit(*rows, thresholds=[0.1]),
        reliability(*rows),
    )
    report = page_of(n_rows=400)
    page, text = report.html(), report.markdown()
    for written in (page, text):
        assert "Net benefit" in written
        assert f"{expected.net_benefit[0]:.4f}" in written
        low, high = expected_reliability.slope_interval
        assert f"{expected_reliability.slope:.2f} ({low:.2f} to {high:.2f})" in written
    assert "Decision curve: net benefit by threshold" in page


def test_groups_of_people_have_a_table_with_differences_and_escaped_names():
    labels, (scores,) = labels_and_scores(900, 1)
    names = np.array([EVIL, "men | women", None], dtype=object)
    by = names[np.random.default_rng(5).choice(3, 900, p=[0.3, 0.6, 0.1])]
    groups = compare_groups(labels, scores, by, threshold=1.0)
    report = page_of(("linear",), groups=groups_section(groups, "a <b>"))
    page, text = report.html(), report.markdown()
    assert "By <bdi>a &lt;b&gt;</bdi>" in page
    assert "## By a &lt;b&gt;" in text
    assert EVIL not in page
    one, two = groups.groups[1], groups.differences[0]
    for written in (page, text):
        assert f"{one.auc.low:.3f} to {one.auc.high:.3f}" in written
        assert f"{two.low:+.3f} to {two.high:+.3f}" in written
        assert f"{groups.n_missing} rows without a group" in written
        assert f"{groups.between[0, 1]:.3f}" in written
    only = groups_section(compare_groups(labels, scores, ["all"] * 900), None)
    page = page_of(("linear",), groups=only).html()
    assert "By group" in page
    assert "negatives of" not in page
