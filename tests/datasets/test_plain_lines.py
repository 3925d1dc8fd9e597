"""Lines without quotes are counted in Python, as the compiled scan counts them."""

from hypothesis import given
from hypothesis import strategies as st

from aucmax.datasets import text_layout
from aucmax.exceptions import DataFileError

PIECES = st.sampled_from(
    ["a", "1.5", ",", ",", ",", "\n", "\n", "\r\n", " ", "\t", '"', "é"]
)


def layout_of(text, quote_char, has_header):
    try:
        found = text_layout.find_layout("t.csv", text, ",", quote_char, has_header)
    except DataFileError as error:
        return str(error)
    return found._replace(blanks=found.blanks.tolist())


@given(
    st.lists(PIECES, max_size=40).map("".join),
    st.sampled_from(['"', None]),
    st.booleans(),
)
def test_counted_lines_have_the_layout_of_the_scan(text, quote_char, has_header):
    content = ("x,y\n" + text).encode()
    counted = layout_of(content, quote_char, has_header)
    limit = text_layout._MAX_COUNTED
    text_layout._MAX_COUNTED = -1
    try:
        assert layout_of(content, quote_char, has_header) == counted
    finally:
        text_layout._MAX_COUNTED = limit


def test_usual_lines_are_counted(monkeypatch):
    monkeypatch.setattr(text_layout.kernels, "scan_delimited", None)
    found = layout_of(b"x,y\n1,2\n3,4\n", '"', True)
    assert (found.names, found.n_records, found.skip_lines) == (["x", "y"], 2, 1)
