"""Compiled parser of svmlight lines; a newline at the end stops every loop."""

import numpy as np

from aucmax._core.compiled import njit

# LLVM alone leaves calls in the inner loop, which then takes half as long again
inlined = njit(cache=True, nogil=True, inline="always")

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
HASH, PLUS, MINUS, DOT, ZERO, NINE, COLON = 35, 43, 45, 46, 48, 57, 58
LETTER_E = 101
QID_COLON = np.frombuffer(b"qid:", dtype=np.uint8)

MAX_EXACT = 2**53  # every integer up to here is a float64
POWERS_OF_TEN = 10.0 ** np.arange(23)  # exact
MAX_TENTH, MAX_DIGIT = divmod(2**63 - 1, 10)

# what `number` found
EXACT, LEFT_TO_PYTHON, MALFORMED = 0, 1, 2

# what `parse_svmlight` found
DONE, BAD_LABEL, BAD_QID, QID_MISSING, QID_UNEXPECTED = 0, 1, 2, 3, 4
BAD_INDEX, INDEX_OUT_OF_RANGE, INDEX_NOT_INCREASING, BAD_VALUE = 5, 6, 7, 8

# the entries of its state: whether rows have a query, the index range allowed
QUERIES, LOWEST, HIGHEST = 0, 1, 2
UNKNOWN, PRESENT, ABSENT = 0, 1, 2


@inlined
def at(text, i):
    """Return byte i; an unsigned index spares the test for counting from the end."""
    return text[np.uint64(i)]


@inlined
def digits(text, i, mantissa):
    """Append the digits at byte i to mantissa, up to MAX_EXACT; return both."""
    while ZERO <= at(text, i) <= NINE:
        if mantissa <= MAX_EXACT:
            mantissa = mantissa * 10 + np.int64(at(text, i) - ZERO)
        i += 1
    return mantissa, i


@inlined
def exponent_part(text, i):
    """Read an exponent such as e-5, if any: the power, the end, well formed."""
    if at(text, i) | 32 != LETTER_E:
        return 0, i, True
    i += 1
    sign = -1 if at(text, i) == MINUS else 1
    if at(text, i) == MINUS or at(text, i) == PLUS:
        i += 1
    start = i
    power, i = digits(text, i, 0)
    return sign * power, i, i > start


@njit(cache=True, nogil=True)
def number(text, i):
    """Read the number at byte i: what was found, its value if EXACT, and its end."""
    negative = at(text, i) == MINUS
    if negative or at(text, i) == PLUS:
        i += 1
    start = i
    mantissa, i = digits(text, i, 0)
    n_digits = i - start
    power = 0
    if at(text, i) == DOT:
        start = i + 1
        mantissa, i = digits(text, start, mantissa)
        n_digits += i - start
        power = start - i
    exponent, i, well_formed = exponent_part(text, i)
    if n_digits == 0 or not well_formed:
        return MALFORMED, 0.0, i
    power = power + exponent if mantissa > 0 else 0
    if mantissa > MAX_EXACT or not -22 <= power <= 22:
        return LEFT_TO_PYTHON, 0.0, i
    # one correctly rounded operation on two exact numbers
    value = np.float64(mantissa)
    value = value / POWERS_OF_TEN[-power] if power < 0 else value * POWERS_OF_TEN[power]
    return EXACT, -value if negative else value, i


@inlined
def ends_token(byte):
    """Return whether a token ends before this byte."""
    return byte in (SPACE, HASH) or TAB <= byte <= RETURN


@inlined
def skip_blanks(text, i):
    """Return the first byte from i on that is not a blank; a newline is not one."""
    while ends_token(at(text, i)) and at(text, i) not in (NEWLINE, HASH):
        i += 1
    return i


@inlined
def integer(text, i):
    """Read an integer without a minus: its value (-1 none, -2 too large) and end."""
    if at(text, i) == PLUS:
        i += 1
    start = i
    value = 0
    while ZERO <= at(text, i) <= NINE:
        digit = np.int64(at(text, i) - ZERO)
        if value > MAX_TENTH or (value == MAX_TENTH and digit > MAX_DIGIT):
            return -2, i
        value = value * 10 + digit
        i += 1
    return (value if i > start else -1), i


@njit(cache=True, nogil=True)
def query(text, i):
    """Read the query that may follow a label: status, query, end."""
    for offset in range(4):
        if at(text, i + offset) != QID_COLON[offset]:
            return (QID_MISSING if offset == 0 else BAD_QID), 0, i
    start = i + 4
    sign = -1 if at(text, start) == MINUS else 1
    value, end = integer(text, start + (at(text, start) == MINUS))
    if value < 0 or not ends_token(at(text, end)):
        return BAD_QID, 0, start
    return DONE, sign * value, end


@njit(cache=True, nogil=True)
def features(text, i, values, indices, hard, counts, state):
    """Read ``index:value`` tokens from byte i to the end of the line or a comment."""
    # counts = numbers of values and of hard numbers so far; returns status and end
    n_values, n_hard = counts[0], counts[1]
    previous = -1
    i = skip_blanks(text, i)
    while at(text, i) != NEWLINE and at(text, i) != HASH:
        index, colon = integer(text, i)
        if index == -1 or (index >= 0 and at(text, colon) != COLON):
            return BAD_INDEX, i
        if not state[LOWEST] <= index <= state[HIGHEST]:
            return INDEX_OUT_OF_RANGE, i
        if index <= previous:
            return INDEX_NOT_INCREASING, i
        kind, value, end = number(text, colon + 1)
        if kind == MALFORMED or not ends_token(at(text, end)):
            return BAD_VALUE, colon + 1
        if kind == LEFT_TO_PYTHON:
            hard[n_hard, 0], hard[n_hard, 1] = n_values, colon + 1
            hard[n_hard, 2] = end
            n_hard += 1
        values[n_values] = value
        indices[n_values] = index
        n_values += 1
        previous = index
        i = skip_blanks(text, end)
    counts[0], counts[1] = n_values, n_hard
    return DONE, i


@njit(cache=True, nogil=True)
def head(text, i, row, labels, queries, hard, counts, state):
    """Read the label and the query of a row; return the status and where it stopped."""
    kind, label, end = number(text, i)
    if kind == MALFORMED or not ends_token(at(text, end)):
        return BAD_LABEL, i
    if kind == LEFT_TO_PYTHON:
        hard[counts[1], 0], hard[counts[1], 1] = -1 - row, i
        hard[counts[1], 2] = end
        counts[1] += 1
    labels[row] = label
    start = skip_blanks(text, end)
    status, queries[row], i = query(text, start)
    if status == BAD_QID:
        return BAD_QID, i
    found = PRESENT if status == DONE else ABSENT
    if state[QUERIES] == UNKNOWN:
        state[QUERIES] = found
    if found != state[QUERIES]:
        return (QID_MISSING if found == ABSENT else QID_UNEXPECTED), start
    return DONE, i


@njit(cache=True, nogil=True)
def parse_svmlight(text, state):
    """Read whole lines ``label qid:id index:value ... # comment``."""
    # Returns status and end; the labels, queries and ends of the rows; values and
    # indices; and of numbers left to Python the place in the values (-1 - r: the label
    # of row r), the first byte and the end.
    # the shortest row is "1\n", the shortest feature " 1:1"
    labels = np.empty(text.size // 2 + 1)
    queries = np.empty(labels.size, dtype=np.int64)
    ends = np.empty(labels.size, dtype=np.int64)
    values = np.empty(text.size // 4 + 1)
    indices = np.empty(values.size, dtype=np.int64)
    hard = np.empty((values.size, 3), dtype=np.int64)
    counts = np.zeros(2, dtype=np.int64)  # values and hard numbers
    status = DONE
    i = row = 0
    while i < text.size:
        i = skip_blanks(text, i)
        if at(text, i) != NEWLINE and at(text, i) != HASH:
            status, i = head(text, i, row, labels, queries, hard, counts, state)
            if status == DONE:
                status, i = features(text, i, values, indices, hard, counts, state)
            if status != DONE:
                break
            ends[row] = counts[0]
            row += 1
        while at(text, i) != NEWLINE:
            i += 1
        i += 1
    rows = labels[:row], queries[:row], ends[:row]
    n = counts[0]
    return status, i, rows, values[:n], indices[:n], hard[: counts[1]]
