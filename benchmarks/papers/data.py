"""Where the data sets are, and what several studies read."""

import json
import lzma
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(
    os.environ.get("AUCMAX_DATA", Path(__file__).parents[3] / "shared" / "data")
)
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


def parts_of(name: str) -> tuple[Path, ...]:
    """Return the five published parts of a LETOR collection."""
    return tuple(FOLDER / name.format(number) for number in range(1, 6))
