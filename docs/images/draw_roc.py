"""Make the picture of the README and the report of the demo again.

``.venv/bin/python docs/images/draw_roc.py``: they are what ``aucmax demo`` writes.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

DOCS = Path(__file__).parents[1]

with TemporaryDirectory() as folder:
    command = ["demo", "--quiet", "--output-dir", folder]
    subprocess.run([sys.executable, "-m", "aucmax", *command], check=True)
    shutil.copy(Path(folder, "machines-roc.png"), DOCS / "images" / "roc.png")
    page = DOCS / "_static" / "demo_report.html"
    shutil.copy(Path(folder, "machines-report.html"), page)
