"""Measurements of speed and quality, and studies of papers."""

import sys
from pathlib import Path

# the linear programs of the papers, which the tests compare with
sys.path.append(str(Path(__file__).parents[1] / "tests"))
