"""The order of the gallery: by the number in the file name, 9 before 10."""

import re
from pathlib import Path


def by_number(path):
    """Return the number of an example, ``plot_<number>_<name>.py``."""
    return int(re.match(r"plot_(\d+)_", Path(path).name)[1])
