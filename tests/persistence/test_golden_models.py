"""Models of every kind, as a release has saved them, load and score as on that day.

``golden/models-VERSION/`` has one file for each model of ``every_model.py``, and
``scores.json`` what they gave. ``cd tests && python -m persistence.test_golden_models``
writes those of the current version, and the files of ``test_golden_files.py``. Once a
version is released its files never change, as long as its file format is read.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import aucmax
from every_model import MODELS, fitted, scores
from persistence.test_golden_files import write as write_files

GOLDEN = Path(__file__).parent / "golden"
FOLDERS = sorted(GOLDEN.glob("models-*"))
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.aucmax"))]


def write(version):
    """Save every model, and what it gives, under the version's name."""
    folder = GOLDEN / f"models-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    model_scores = {}
    for name in MODELS:
        aucmax.save(fitted(name), folder / f"{name}.aucmax")
        model_scores[name] = scores(name, fitted(name)).tolist()
    (folder / "scores.json").write_text(json.dumps(model_scores), encoding="utf-8")


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_golden_model_gives_the_scores_of_its_day(path):
    expected = json.loads((path.parent / "scores.json").read_text(encoding="utf-8"))
    model_scores = scores(path.stem, aucmax.load(path))
    np.testing.assert_allclose(model_scores, expected[path.stem], rtol=1e-9, atol=1e-12)


def test_the_newest_release_has_a_golden_file_of_every_model():
    assert FOLDERS
    assert {path.stem for path in FOLDERS[-1].glob("*.aucmax")} == MODELS.keys()


if __name__ == "__main__":
    write(aucmax.__version__)
    write_files(aucmax.__version__)
