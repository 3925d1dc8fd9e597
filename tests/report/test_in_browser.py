"""The page in a real browser: it agrees with Python, fits and fetches nothing."""

import os
import shutil

import numpy as np
import pytest

from aucmax.report.review import review_depths, review_top
from report.page_samples import NAMES, labels_and_scores, page_of

playwright = pytest.importorskip(
    "playwright.sync_api",
    reason="playwright is not installed: pip install aucmax[browser]",
)

# AUCMAX_BROWSER names another one
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WIDTHS = (390, 1200)
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
def rows():
    return labels_and_scores(3000, len(NAMES) + 1)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    report = page_of((*NAMES, LONG), n_rows=3000)
    return report.save(tmp_path_factory.mktemp("page") / "page.html")


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
def page_in_browser(request, browser, path):
    opened = Opened(browser, path, request.param)
    yield opened
    opened.page.close()


def move_to(page, place):
    """Move the slider, and return the number of cases."""
    page.evaluate(
        """place => {
            const slider = document.getElementById("aucmax-slider");
            slider.value = place;
            slider.dispatchEvent(new Event("input"));
        }""",
        place,
    )
    return int(page.input_value("#aucmax-number"))


def test_the_slider_moves_the_number_the_table_and_the_dots(page_in_browser, rows):
    labels, scores_of_models = rows
    page, depths = page_in_browser.page, review_depths(labels.size)
    n_negative = int((~labels).sum())
    for place in (0, 99, 109, depths.size - 1):
        assert move_to(page, place) == depths[place]
        for k, scores in enumerate(scores_of_models):
            (at,) = review_top(labels, scores, depths[[place]]).to_dicts()
            shown = page.inner_text(f"#aucmax-row-{k}").split()
            for name in ("alerts", "tp", "fn", "fp"):
                assert f"{at[name]:,}" in shown
            low, high = at["tp_ends"]
            assert f"{low:,.0f} to {high:,.0f}" in " ".join(shown)
            centres = page.evaluate(
                """k => ["aucmax-roc", "aucmax-gains"].map(name => {
                    const svg = document.getElementById(name);
                    const plane = svg.dataset.plane.split(" ").map(Number);
                    const dot = svg.querySelectorAll(".dot")[k];
                    return [(dot.cx.baseVal.value - plane[0]) / plane[2],
                            (plane[1] - dot.cy.baseVal.value) / plane[3]];
                })""",
                k,
            )
            rates = at["fp"] / n_negative, at["tp"] / labels.sum()
            assert centres[0] == pytest.approx(rates, abs=1e-3)
            assert centres[1] == pytest.approx((at["alerts"], at["tp"]), abs=0.5)


def test_a_number_between_two_depths_gives_the_smaller_one(page_in_browser):
    page = page_in_browser.page
    page.fill("#aucmax-number", "1234")
    page.keyboard.press("Tab")
    assert page.input_value("#aucmax-number") == "1200"
    page.focus("#aucmax-slider")
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#aucmax-number") == "1100"


def test_the_pointer_shows_rates_threshold_and_alerts(page_in_browser):
    page = page_in_browser.page
    page.locator("#aucmax-roc").scroll_into_view_if_needed()
    box = page.locator("#aucmax-roc").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    shown = page.inner_text("#aucmax-readout")
    for word in ("FPR 0.", "TPR 0.", "threshold", "alerts"):
        assert word in shown
    assert any(shown.startswith(name) for name in (*NAMES, LONG))


def test_nothing_overflows(page_in_browser):
    page = page_in_browser.page
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


def test_nothing_is_fetched_and_nothing_goes_wrong(page_in_browser, path):
    assert page_in_browser.requests == [path.as_uri()]
    assert page_in_browser.errors == []


def test_without_a_script_everything_but_the_slider_is_there(browser, path, rows):
    opened = Opened(browser, path, 1400, java_script_enabled=False)
    text = opened.page.inner_text("main")
    labels, scores = rows
    (at,) = review_top(labels, scores[0], np.array([100])).to_dicts()
    assert "JavaScript is off" in text
    assert not opened.page.is_visible("#aucmax-slider")
    row = opened.page.inner_text("#aucmax-row-0")
    assert str(at["tp"]) in row.split()
    for heading in ("Gains", "Calibration", "Certificates", "How to reproduce"):
        assert heading in text
    opened.page.close()


def test_it_prints_on_few_pages_of_a4(browser, path):
    opened = Opened(browser, path, 1400)
    printed = opened.page.pdf(prefer_css_page_size=True)
    n_pages = printed.count(b"/Type /Page\n") or printed.count(b"/Type/Page\n")
    assert printed.startswith(b"%PDF")
    assert 1 <= n_pages <= 5
    assert b"/MediaBox [0 0 595" in printed or b"/MediaBox [0 0 594" in printed
    opened.page.close()
