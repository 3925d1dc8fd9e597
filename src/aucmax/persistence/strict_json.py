"""JSON in one canonical form: one value, one spelling."""

import json
from typing import Any

from aucmax.exceptions import ModelFileError

MAX_JSON_BYTES = 2**26
MAX_MARKS = 4_000_000  # quotes, commas and opening brackets: a table of 50,000 columns


def dump_json(value: object) -> bytes:
    """Return the canonical JSON of a value: ASCII, no spaces, keys in given order."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def parse_json(content: bytes, name: str) -> Any:
    """Read the output of `dump_json`; reject other spellings and excessive sizes."""
    if len(content) > MAX_JSON_BYTES:
        raise ModelFileError(
            f"{name} has {len(content)} bytes, more than the {MAX_JSON_BYTES} allowed"
        )
    n_marks = sum(content.count(mark) for mark in b'",[{')
    if n_marks > MAX_MARKS:
        raise ModelFileError(
            f"{name} has {n_marks} quotes, commas and brackets, more than the "
            f"{MAX_MARKS} allowed"
        )
    try:
        value = json.loads(content.decode("ascii"))
        canonical = dump_json(value)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} is not valid JSON ({error})") from error
    if canonical != content:
        raise ModelFileError(f"{name} is not in the canonical form that aucmax writes")
    return value
