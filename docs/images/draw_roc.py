"""Draw the picture of the README again: ``.venv/bin/python docs/images/draw_roc.py``.

It is the one that ``aucmax demo`` writes.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

with TemporaryDirectory() as folder:
    command = ["demo", "--quiet", "--output-dir", folder]
    subprocess.run([sys.executable, "-m", "aucmax", *command], check=True)
    shutil.copy(Path(folder, "machines-roc.png"), Path(__file__).parent / "roc.png")
