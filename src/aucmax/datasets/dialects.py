"""Which character separates columns, and which one decimals; found in the text."""

import csv
import io
from itertools import islice

__all__ = ["SAMPLE_SIZE", "find_separator"]

SAMPLE_SIZE = 1 << 16

_N_RECORDS = 50


def find_separator(sample: bytes, quote_char: str | None) -> str:
    """Return what separates the columns of a table, given the start of its text.

    A separator fits if all records have as many fields as the first one, and more than
    one. The comma comes first; where none fits, it is assumed.
    """
    text = sample.decode(errors="replace")
    if len(sample) >= SAMPLE_SIZE:
        text = text[: text.rfind("\n") + 1]  # the last record may be cut
    widths = {mark: _width(text, mark, quote_char) for mark in ",;\t|"}
    if widths[","]:
        return ","
    widest = max(widths, key=lambda mark: widths[mark])
    return widest if widths[widest] else ","


def _width(text: str, separator: str, quote_char: str | None) -> int:
    """Return the number of columns, 0 if records differ in it or there is one."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quotechar=quote_char,
        quoting=csv.QUOTE_MINIMAL if quote_char else csv.QUOTE_NONE,
    )
    try:
        records = (record for record in reader if any(map(str.strip, record)))
        widths = {len(record) for record in islice(records, _N_RECORDS)}
    except csv.Error:
        return 0
    return widths.pop() if len(widths) == 1 and widths != {1} else 0
