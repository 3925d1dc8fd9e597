"""The page in a real browser: it agrees with Python, fits and fetches nothing."""

import os
import shutil

import numpy as np
import pytest

from aucmax.decisions import operating_point
from aucmax.report import Report
from aucmax.report.charts import ROC_PLANE
from report.page_samples import EVIL, NAMES, contents

playwright = pytest.importorskip(
    "playwright.sync_api",
    reason="playwright is not installed: pip install aucmax[browser]",
)

# AUCMAX_BROWSER names another one
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WIDTHS = (390, 768, 1200, 1400)
LONG = "logistic_regression_with_splines_and_interactions_of_all_columns"


@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("AUCMAX_BROWSER")
    path = path or next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as started:
        try:
            # as root, and in containers, its sandbox cannot be had
            browser = started.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--disable-gpu"]
            )
        except playwright.Error as error:
            pytest.skip(f"no browser can be started: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def said():
    return contents((*NAMES, LONG), n_rows=3000)


@pytest.fixture(scope="module")
def path(said, tmp_path_factory):
    return Report(said).save(tmp_path_factory.mktemp("page") / "page.html")


class Opened:
    """A page, with what it asked for and what went wrong in it."""

    def __init__(self, browser, path, width, **options):
        self.requests, self.errors = [], []
        self.page = browser.new_page(
            viewport={"width": width, "height": 800}, **options
        )
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self.page.goto(path.as_uri())


@pytest.fixture(scope="module", params=WIDTHS)
def opened(request, browser, path):
    opened = Opened(browser, path, request.param)
    yield opened
    opened.page.close()


def numbers(page, place):
    """Counts and intervals in the row of a model, in full precision."""
    return page.evaluate(
        """place => Object.fromEntries(
            [...document.querySelectorAll(`#aucmax-row-${place} [data-cell]`)].map(
                cell => [cell.dataset.cell, {...cell.dataset, text: cell.innerText}]))
        """,
        place,
    )


def expected(labels, scores, k):
    """Counts and intervals of the operating point with at most k alerts."""
    if (scores == scores.max()).sum() > k:
        return {"opened": 0, "found": 0, "missed": int(labels.sum()), "alarms": 0}, {}
    point = operating_point(labels, scores, alerts=k)
    values = {
        "opened": point.n_alerts,
        "found": point.found,
        "missed": point.missed,
        "alarms": point.false_alarms,
        "precision": point.precision,
    }
    ends = point.intervals
    return values, {
        "found": ends["found"],
        "alarms": ends["false_alarms"],
        "precision": ends["precision"],
    }


def check_numbers(page, said, k):
    for place, scores in enumerate(said.rankings.values()):
        shown = numbers(page, place)
        values, ends = expected(said.labels, scores, k)
        for name, value in values.items():
            assert float(shown[name]["value"]) == pytest.approx(value, abs=1e-12)
        for name, (low, high) in ends.items():
            assert float(shown[name]["low"]) == pytest.approx(low, rel=1e-9, abs=1e-9)
            assert float(shown[name]["high"]) == pytest.approx(high, rel=1e-9)
        assert f"{values['found']:,}" in shown["found"]["text"].split()


@pytest.mark.parametrize("k", [1, 2, 37, 100, 999, 2999, 3000])
def test_counts_for_any_number_of_cases_agree_with_python(opened, said, k):
    opened.page.fill("#aucmax-number", str(k))
    check_numbers(opened.page, said, k)


def test_the_slider_moves_the_number_the_table_and_the_dots(opened, said):
    page, plane = opened.page, ROC_PLANE
    for place in (1, 150, 1640, 3000):
        page.evaluate(
            """place => {
                const slider = document.getElementById("aucmax-slider");
                slider.value = place;
                slider.dispatchEvent(new Event("input"));
            }""",
            place,
        )
        k = int(page.input_value("#aucmax-number"))
        assert k == place
        check_numbers(page, said, k)
        values, _ = expected(said.labels, next(iter(said.rankings.values())), k)
        dots = page.evaluate(
            """() => ["aucmax-roc", "aucmax-gains"].map(name => {
                const dot = document.querySelector(`#${name} .d0`);
                return [dot.cx.baseVal.value, dot.cy.baseVal.value];
            })"""
        )
        n_positive = int(said.labels.sum())
        n_negative = said.labels.size - n_positive
        height = plane.top + plane.height * (1 - values["found"] / n_positive)
        roc = (plane.left + plane.width * values["alarms"] / n_negative, height)
        assert dots[0] == pytest.approx(roc, abs=1e-3)
        gains = (plane.left + plane.width * values["opened"] / said.labels.size, height)
        assert dots[1] == pytest.approx(gains, abs=1e-3)
    page.focus("#aucmax-slider")
    page.keyboard.press("ArrowLeft")
    assert int(page.input_value("#aucmax-number")) < 3000


def test_the_pointer_shows_rates_threshold_and_alerts(opened):
    page = opened.page
    page.locator("#aucmax-roc").scroll_into_view_if_needed()
    box = page.locator("#aucmax-roc").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    shown = page.inner_text("#aucmax-readout")
    for word in ("FPR 0.", "TPR 0.", "threshold", "alerts"):
        assert word in shown
    assert any(shown.startswith(name) for name in (*NAMES, LONG))


def test_nothing_overflows(opened):
    page = opened.page
    assert not page.evaluate(
        """() => [...document.querySelectorAll("main *")]
            .filter(one => !one.parentElement.closest(".wide, svg"))
            .filter(one => one.getBoundingClientRect().right > innerWidth)
            .map(one => one.outerHTML.slice(0, 80))"""
    )
    scrolling = page.evaluate(
        """() => [...document.querySelectorAll(".wide")]
            .filter(one => one.scrollWidth > one.clientWidth)
            .map(one => one.innerText.slice(0, 40))"""
    )
    # on narrow screens the widest tables scroll, within the page
    assert len(scrolling) <= (0 if page.viewport_size["width"] >= 1200 else 3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_labels_of_an_axis_do_not_overlap(opened):
    assert not opened.page.evaluate(
        """() => [...document.querySelectorAll(".axis")].filter(axis => {
            const boxes = [...axis.children].map(one => one.getBoundingClientRect());
            return boxes.some((box, k) => k && box.left < boxes[k - 1].right + 2);
        }).map(axis => axis.innerText)"""
    )


def test_nothing_is_fetched_and_nothing_goes_wrong(opened, path):
    assert opened.requests == [path.as_uri()]
    assert opened.errors == []


def test_names_are_shown_as_they_are(opened):
    assert EVIL in opened.page.inner_text("h1")


def test_without_a_script_everything_but_the_slider_is_there(browser, path, said):
    opened = Opened(browser, path, 1400, java_script_enabled=False)
    text = opened.page.inner_text("main")
    values, _ = expected(said.labels, next(iter(said.rankings.values())), 100)
    assert "JavaScript is off" in text
    assert not opened.page.is_visible("#aucmax-slider")
    row = opened.page.inner_text("#aucmax-row-0")
    assert str(values["found"]) in row.split()
    for heading in ("Gains", "Calibration", "Certificates", "How to reproduce"):
        assert heading in text
    opened.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_light_and_dark(browser, path, scheme):
    opened = Opened(browser, path, 390, color_scheme=scheme)
    colours = opened.page.evaluate(
        """() => ["h1", ".soft", "td.beats .cell"].map(name => [
            getComputedStyle(document.querySelector(name)).color,
            getComputedStyle(document.body).backgroundColor])"""
    )
    for ink, paper in colours:
        assert contrast(ink, paper) >= 4.5
    opened.page.close()


def contrast(*colours):
    """Ratio of luminances as the Web Content Accessibility Guidelines define it."""
    levels = []
    for colour in colours:
        shares = np.array(
            [float(part) for part in colour.strip("rgb()").split(",")[:3]]
        )
        shares /= 255
        linear = np.where(
            shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4
        )
        levels.append(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(levels) / min(levels)


def test_it_prints_on_few_pages_of_a4(browser, path):
    opened = Opened(browser, path, 1400)
    printed = opened.page.pdf(prefer_css_page_size=True)
    n_pages = printed.count(b"/Type /Page\n") or printed.count(b"/Type/Page\n")
    assert printed.startswith(b"%PDF")
    assert 1 <= n_pages <= 5
    assert b"/MediaBox [0 0 595" in printed or b"/MediaBox [0 0 594" in printed
    opened.page.close()
