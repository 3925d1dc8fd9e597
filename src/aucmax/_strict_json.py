"""JSON in one canonical form, so that a text has one meaning and a value one text."""

import json
import re
from typing import Any

from aucmax.exceptions import ModelFileError

__all__ = ["MAX_DEPTH", "dump_json", "parse_json"]

MAX_JSON_BYTES = 2**26
MAX_DEPTH = 100

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")


def dump_json(value: Any) -> bytes:
    """Return the canonical JSON of a value: ASCII, no spaces, keys in given order."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def parse_json(content: bytes, name: str) -> Any:
    """Read what `dump_json` wrote.

    Another spelling of the same value is refused, and so are repeated keys, NaN,
    numbers that a double cannot hold, and deep nesting.
    """
    if len(content) > MAX_JSON_BYTES:
        raise ModelFileError(
            f"{name} has {len(content)} bytes, more than the {MAX_JSON_BYTES} allowed"
        )
    depth = json_depth(content)
    if depth > MAX_DEPTH:
        raise ModelFileError(
            f"{name} is nested {depth} deep, more than the {MAX_DEPTH} allowed"
        )
    try:
        value = json.loads(content.decode("ascii"))
        canonical = dump_json(value)
    except ValueError as error:
        raise ModelFileError(f"{name} is not valid JSON ({error})") from error
    if canonical != content:
        raise ModelFileError(f"{name} is not in the canonical form that aucmax writes")
    return value


def json_depth(content: bytes) -> int:
    """Return how deep brackets are nested in a JSON text, without parsing it."""
    depth = deepest = 0
    for bracket in _BRACKET.finditer(_STRING.sub(b"", content)):
        depth += 1 if bracket[0] in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest
