"""Where the data sets are, and what several studies read."""

import json
import lzma
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from aucmax.datasets import load_svmlight

FOLDER = Path(
    os.environ.get("AUCMAX_DATA", Path(__file__).parents[3] / "shared" / "data")
)
#: files and numbers of columns of the sparse tables
SPARSE = {
    "thrombin": ("thrombin/thrombin.svm.xz", 88_119),
    "bace": ("bace/bace_morgan2048.svm.gz", 2048),
    "a9a": ("a9a/a9a_train.svm.gz", 123),
}
NEWS = FOLDER / "reuters21578" / "reuters21578.jsonl.xz"


@lru_cache(maxsize=1)
def news_articles() -> list[dict[str, Any]]:
    """Return the articles of Reuters that have a topic."""
    with lzma.open(NEWS, "rt", encoding="utf-8") as lines:
        articles = [json.loads(line) for line in lines]
    return [article for article in articles if article["topics"]]


def news_texts() -> list[str]:
    """Return title and text of each of these articles."""
    return [one["title"] + "\n" + one["text"] for one in news_articles()]


def path_of(name: str) -> Path:
    """Return the file of a table."""
    return FOLDER / (SPARSE[name][0] if name in SPARSE else f"{name}/{name}.csv.gz")


def read_sparse(name: str) -> tuple[Any, np.ndarray]:
    """Return the rows of a sparse table, and which are positive."""
    read = load_svmlight(path_of(name), n_features=SPARSE[name][1])
    return sparse.csr_array(read.X), np.asarray(read.y) > 0


def parts_of(name: str) -> tuple[Path, ...]:
    """Return the five published parts of a LETOR collection."""
    return tuple(FOLDER / name.format(number) for number in range(1, 6))
