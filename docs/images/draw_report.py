"""Make the picture of the README and the report of the demo again.

``.venv/bin/python docs/images/draw_report.py``: the report is the one that ``aucmax
demo`` writes. Its picture needs the extra ``aucmax[browser]`` and Chromium.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parents[1]

with TemporaryDirectory() as folder:
    command = ["demo", "--quiet", "--output-dir", folder]
    subprocess.run([sys.executable, "-m", "aucmax", *command], check=True)
    (report,) = Path(folder).glob("*-report.html")
    page = DOCS / "_static" / "demo_report.html"
    shutil.copy(report, page)

with sync_playwright() as started:
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
    opened = browser.new_page(viewport={"width": 1200, "height": 800})
    opened.goto(page.as_uri())
    curves = opened.locator(".curves").bounding_box()
    shown = {"x": 0, "y": 0, "width": 1200, "height": curves["y"] + curves["height"]}
    picture = DOCS / "images" / "report.png"
    opened.screenshot(path=picture, clip=shown, full_page=True)
    browser.close()
