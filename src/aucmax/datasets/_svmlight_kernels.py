"""Compiled reading of numbers and of svmlight lines.

Every text handed in ends with a newline, so that no loop needs to watch for the end:
a run of digits, blanks or comment bytes always meets the newline first.
"""

import math

import numpy as np

from aucmax._core.compiled import njit

# LLVM alone leaves calls in the inner loop, which then takes half as long again
inlined = njit(cache=True, nogil=True, inline="always")

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
HASH, PLUS, MINUS, DOT, ZERO, NINE, COLON = 35, 43, 45, 46, 48, 57, 58
LETTER_E = 101
QID_COLON = np.frombuffer(b"qid:", dtype=np.uint8)


@inlined
def at(text, i):
    """Return byte i; an unsigned index spares the test for counting from the end."""
    return text[np.uint64(i)]


# ---------------------------------------------------------------- decimal numbers

MAX_EXACT = np.uint64(2**53)  # every integer up to here is a float64
MAX_BEFORE_DIGIT = np.uint64(10**18)  # below it, one more digit fits 64 bits
TEN = np.uint64(10)
ONE = np.uint64(1)
HALF_WORD = np.uint64(32)
LOW_WORD = np.uint64(0xFFFFFFFF)
NINE_ONES = np.uint64(0x1FF)
POWERS_OF_TEN = 10.0 ** np.arange(23)  # exact

MIN_POWER, MAX_POWER = -325, 308

# what `number` found
EXACT, LEFT_TO_PYTHON, MALFORMED = 0, 1, 2


def _powers_of_five():
    """Return 5**q for each q, its leading 128 bits as two words, high then low.

    Cut off, except that the reciprocals down to 5**-27, which can meet an exact tie,
    are rounded up: what the proof of `nearest_double` asks for.
    """
    words = np.empty((MAX_POWER - MIN_POWER + 1, 2), dtype=np.uint64)
    for row, q in enumerate(range(MIN_POWER, MAX_POWER + 1)):
        power = 5 ** abs(q)
        if q >= 0:
            excess = power.bit_length() - 128
            bits = power >> excess if excess > 0 else power << -excess
        else:
            bits = (1 << (127 + (power - 1).bit_length())) // power
            bits += q >= -27
        words[row] = bits >> 64, bits & (2**64 - 1)
    return words


POWERS_OF_FIVE = _powers_of_five()


@njit(cache=True, nogil=True)
def wide_product(a, b):
    """Return the high and the low word of the 128-bit product of two words."""
    a_high, a_low = a >> HALF_WORD, a & LOW_WORD
    b_high, b_low = b >> HALF_WORD, b & LOW_WORD
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF_WORD)
    cross = a_low * b_high + (middle & LOW_WORD)
    high = a_high * b_high + (middle >> HALF_WORD) + (cross >> HALF_WORD)
    return high, (cross << HALF_WORD) | (low & LOW_WORD)


@njit(cache=True, nogil=True)
def nearest_double(w, q):
    """Return the float64 nearest to w * 10**q (ties to even), or NaN if unsure.

    w = a positive word, q = a power within the table. Eisel and Lemire's method: one
    128-bit product with the leading bits of 5**q settles the 53 bits and the rounding.
    NaN where the result would be subnormal or infinite.
    """
    shift = 0
    step = 32
    while step > 0:
        # the leading `shift` bits of the original w were zero
        if w >> np.uint64(64 - step) == 0:
            w = w << np.uint64(step)
            shift += step
        step >>= 1
    row = q - MIN_POWER
    high, low = wide_product(w, POWERS_OF_FIVE[row, 0])
    if high & NINE_ONES == NINE_ONES:
        # a carry from the bits cut off could still reach the rounding bit
        carry, _ = wide_product(w, POWERS_OF_FIVE[row, 1])
        room = ~low
        if carry > room:
            high += ONE
            low = carry - room - ONE
        else:
            low += carry
    upper = np.int64(high >> np.uint64(63))
    cut = np.uint64(upper + 9)
    mantissa = high >> cut
    exponent = ((217706 * q) >> 16) + upper - shift + 11
    if exponent < -1074 or exponent > 970:
        return math.nan
    exact_tie = low <= ONE and -4 <= q <= 23 and mantissa << cut == high
    if mantissa & ONE and not (exact_tie and mantissa & np.uint64(3) == ONE):
        mantissa += ONE
    return math.ldexp(np.float64(np.int64(mantissa >> ONE)), int(exponent))


@inlined
def digits(text, i, mantissa):
    """Append the digits at byte i to mantissa, as long as they fit.

    Returns the mantissa, the byte after the digits, and how many did not fit.
    """
    dropped = 0
    while ZERO <= at(text, i) <= NINE:
        if mantissa < MAX_BEFORE_DIGIT:
            mantissa = mantissa * TEN + np.uint64(at(text, i) - ZERO)
        else:
            dropped += 1
        i += 1
    return mantissa, i, dropped


@inlined
def exponent_part(text, i):
    """Read what may follow the digits, such as e-5: the power, the end, well formed."""
    if at(text, i) | 32 != LETTER_E:
        return 0, i, True
    i += 1
    sign = -1 if at(text, i) == MINUS else 1
    if at(text, i) == MINUS or at(text, i) == PLUS:
        i += 1
    start = i
    power = 0
    while ZERO <= at(text, i) <= NINE:
        power = min(power * 10 + np.int64(at(text, i) - ZERO), 100_000)
        i += 1
    return sign * power, i, i > start


@inlined
def magnitude(mantissa, power):
    """Return the float64 nearest to mantissa * 10**power, or NaN if unsure."""
    if mantissa == 0:
        return 0.0
    if mantissa <= MAX_EXACT and -22 <= power <= 22:
        # one correctly rounded operation on two exact numbers
        if power < 0:
            return np.float64(np.int64(mantissa)) / POWERS_OF_TEN[-power]
        return np.float64(np.int64(mantissa)) * POWERS_OF_TEN[power]
    if MIN_POWER <= power <= MAX_POWER:
        return nearest_double(mantissa, power)
    return math.nan


@njit(cache=True, nogil=True)
def number(text, i):
    """Read the decimal number that starts at byte i.

    Returns what was found (EXACT, LEFT_TO_PYTHON or MALFORMED), its value if EXACT, and
    the byte after the number (where the trouble is, if MALFORMED).
    """
    negative = at(text, i) == MINUS
    if negative or at(text, i) == PLUS:
        i += 1
    start = i
    mantissa, i, dropped = digits(text, i, np.uint64(0))
    n_digits = i - start
    power = 0
    if at(text, i) == DOT:
        start = i + 1
        mantissa, i, dropped_too = digits(text, start, mantissa)
        dropped += dropped_too
        n_digits += i - start
        power = start - i
    shift, i, well_formed = exponent_part(text, i)
    if n_digits == 0 or not well_formed:
        return MALFORMED, 0.0, i
    value = magnitude(mantissa, power + shift)
    if dropped > 0 or value != value:
        return LEFT_TO_PYTHON, 0.0, i
    return EXACT, -value if negative else value, i


# ---------------------------------------------------------------- svmlight lines

# what `parse_svmlight` found
DONE, BAD_LABEL, BAD_QID, QID_MISSING, QID_UNEXPECTED = 0, 1, 2, 3, 4
BAD_INDEX, INDEX_OUT_OF_RANGE, INDEX_NOT_INCREASING, BAD_VALUE = 5, 6, 7, 8

# the entries of its state: whether the rows name their query, the smallest and the
# largest index allowed, the newlines passed so far, and the byte where reading
# stopped in this one
QUERIES, LOWEST, HIGHEST, LINES, STOPPED = 0, 1, 2, 3, 4
UNKNOWN, PRESENT, ABSENT = 0, 1, 2

MAX_TENTH, MAX_DIGIT = divmod(2**63 - 1, 10)


@inlined
def ends_token(byte):
    """Return whether a token ends before this byte."""
    return byte in (SPACE, HASH) or TAB <= byte <= RETURN


@inlined
def skip_blanks(text, i):
    """Return the first byte from i on that is not a blank; a newline is none."""
    while ends_token(at(text, i)) and at(text, i) not in (NEWLINE, HASH):
        i += 1
    return i


@inlined
def integer(text, i):
    """Read an integer without a minus: its value and end.

    The value is -1 if there are no digits, -2 (and the end amid them) if it is too
    large for 64 bits.
    """
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
    """Read what may stand after the label: status, the query, where it ends.

    The status is QID_MISSING if the next token is no ``qid:``.
    """
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
    """Read ``index:value`` tokens from byte i to the end of the line or a comment.

    counts = how many values and how many hard numbers are written so far; updated.
    Returns the status and the byte where reading stopped.
    """
    lowest, highest = state[LOWEST], state[HIGHEST]
    n_values, n_hard = counts[0], counts[1]
    previous = -1
    i = skip_blanks(text, i)
    while at(text, i) != NEWLINE and at(text, i) != HASH:
        index, colon = integer(text, i)
        if index == -1 or (index >= 0 and at(text, colon) != COLON):
            return BAD_INDEX, i
        if not lowest <= index <= highest:
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
def head(text, i, row, rows, labels, hard, counts, state):
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
    status, rows[row, 1], i = query(text, start)
    if status == BAD_QID:
        return BAD_QID, i
    queries = PRESENT if status == DONE else ABSENT
    if state[QUERIES] == UNKNOWN:
        state[QUERIES] = queries
    if queries != state[QUERIES]:
        return (QID_MISSING if queries == ABSENT else QID_UNEXPECTED), start
    return DONE, i


@njit(cache=True, nogil=True)
def parse_svmlight(text, values, indices, rows, labels, hard, state):
    """Read whole lines ``label qid:id index:value ... # comment``.

    rows[r] = where the values of row r end, and its query. hard[h] = a number left to
    Python: its place in values (-1 - r: the label of row r), the bytes where it starts
    and ends. Returns the status and the counts of rows, values and hard numbers.
    """
    counts = np.zeros(2, dtype=np.int64)  # values and hard numbers
    status = DONE
    i = row = 0
    while i < text.size:
        i = skip_blanks(text, i)
        if at(text, i) != NEWLINE and at(text, i) != HASH:
            status, i = head(text, i, row, rows, labels, hard, counts, state)
            if status == DONE:
                status, i = features(text, i, values, indices, hard, counts, state)
            if status != DONE:
                break
            rows[row, 0] = counts[0]
            row += 1
        while at(text, i) != NEWLINE:
            i += 1
        i += 1
        state[LINES] += 1
    state[STOPPED] = i
    return status, row, counts[0], counts[1]
