"""The page in a real browser: it tells what Python tells, and fetches nothing."""

import os
import shutil

import numpy as np
import pytest

from aucmax.decisions import operating_point
from aucmax.report import Report
from report.page_samples import EVIL, NAMES, contents

playwright = pytest.importorskip(
    "playwright.sync_api",
    reason="playwright is not installed: pip install aucmax[browser]",
)

# AUCMAX_BROWSER names another one
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WIDTHS = (390, 1400)


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
    return contents(n_rows=3000)


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
    """What the row of a model tells, in full."""
    return page.evaluate(
        """place => Object.fromEntries(
            [...document.querySelectorAll(`#aucmax-row-${place} [data-cell]`)].map(
                cell => [cell.dataset.cell, {...cell.dataset, text: cell.innerText}]))
        """,
        place,
    )


def as_told(labels, scores, k):
    """The operating point of at most so many alerts, by Python."""
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
    for place, ranking in enumerate(said.rankings):
        told = numbers(page, place)
        values, ends = as_told(said.labels, ranking.scores, k)
        for name, value in values.items():
            assert float(told[name]["value"]) == pytest.approx(value, abs=1e-12)
        for name, (low, high) in ends.items():
            assert float(told[name]["low"]) == pytest.approx(low, rel=1e-9, abs=1e-9)
            assert float(told[name]["high"]) == pytest.approx(high, rel=1e-9)
        assert f"{values['found']:,}" in told["found"]["text"].split()


@pytest.mark.parametrize("k", [1, 2, 37, 100, 999, 2999, 3000])
def test_any_number_of_cases_tells_what_python_tells(opened, said, k):
    opened.page.fill("#aucmax-number", str(k))
    check_numbers(opened.page, said, k)


def test_the_slider_moves_the_number_the_table_and_the_dots(opened, said):
    page = opened.page
    seen = set()
    for place in (0, 150, 640, 1000):
        page.evaluate(
            """place => {
                const slider = document.getElementById("aucmax-slider");
                slider.value = place;
                slider.dispatchEvent(new Event("input"));
            }""",
            place,
        )
        k = int(page.input_value("#aucmax-number"))
        check_numbers(page, said, k)
        seen.add(k)
        values, _ = as_told(said.labels, said.rankings[0].scores, k)
        dots = page.evaluate(
            """() => ["aucmax-roc", "aucmax-gains"].map(name => {
                const dot = document.querySelector(`#${name} .d0`);
                return [dot.cx.baseVal.value, dot.cy.baseVal.value];
            })"""
        )
        n_positive = int(said.labels.sum())
        n_negative = said.labels.size - n_positive
        height = 12 + 296 * (1 - values["found"] / n_positive)
        roc = (52 + 364 * values["alarms"] / n_negative, height)
        assert dots[0] == pytest.approx(roc, abs=1e-3)
        gains = (52 + 364 * values["opened"] / said.labels.size, height)
        assert dots[1] == pytest.approx(gains, abs=1e-3)
    assert {1, 3000} <= seen
    page.focus("#aucmax-slider")
    page.keyboard.press("ArrowLeft")
    assert int(page.input_value("#aucmax-number")) < 3000


def test_the_pointer_shows_rates_threshold_and_alerts(opened):
    page = opened.page
    page.locator("#aucmax-roc").scroll_into_view_if_needed()
    box = page.locator("#aucmax-roc").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    told = page.inner_text("#aucmax-readout")
    for word in ("FPR 0.", "TPR 0.", "threshold", "alerts"):
        assert word in told
    assert any(told.startswith(name) for name in NAMES)


def test_the_page_is_no_wider_than_the_screen(opened):
    width, screen = opened.page.evaluate(
        "[document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert width <= screen


def test_nothing_is_fetched_and_nothing_goes_wrong(opened, path):
    assert opened.requests == [path.as_uri()]
    assert opened.errors == []


def test_names_are_shown_as_they_are(opened):
    assert EVIL in opened.page.inner_text("h1")


def test_without_a_script_everything_but_the_slider_is_there(browser, path, said):
    opened = Opened(browser, path, 1400, java_script_enabled=False)
    text = opened.page.inner_text("main")
    values, _ = as_told(said.labels, said.rankings[0].scores, 100)
    assert "with JavaScript any number" in text
    assert not opened.page.is_visible("#aucmax-slider")
    row = opened.page.inner_text("#aucmax-row-0")
    assert str(values["found"]) in row.split()
    for heading in ("Gains", "Calibration", "Certificate", "How to reproduce it"):
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
