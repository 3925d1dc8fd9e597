# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled scan of delimited text: fields are counted, nothing is parsed."""

from aucmax._core.compiled import njit

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32

# what `scan_delimited` found
DONE, RECORD_ENDS, TOO_MANY_FIELDS, TOO_FEW_FIELDS, TEXT_AFTER_QUOTE = 0, 1, 2, 3, 4

# the entries of its state:
PLACE = 0  # where in a field the scan is, see below
FIELD = 1  # fields in front of this one in the record
FILLED = 2  # whether the record has more than blanks
LINE = 3  # newlines passed
START_LINE = 4  # newlines in front of this record
RECORDS = 5  # records from the first to the last that is not blank
TRAILING = 6  # blank records since
SKIPPED = 7  # lines in front of the first record that is not blank
QUOTED = 8  # fields in quotes
OPENED_LINE, OPENED_FIELD = 9, 10  # where the latest quote opened
STRAY_LINE, STRAY_FIELD = 11, 12  # the first quote within a plain field; line -1: none
STATE_SIZE = 13

# the places: at the start of a field, within a plain one, within quotes, behind them
START, PLAIN, WITHIN, BEHIND = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def quote_seen(state):
    """Update the state for a quote character."""
    place = state[PLACE]
    if place == START:
        state[PLACE] = WITHIN
        state[QUOTED] += 1
        state[OPENED_LINE], state[OPENED_FIELD] = state[LINE], state[FIELD]
    elif place == WITHIN:
        state[PLACE] = BEHIND
    elif place == BEHIND:
        state[PLACE] = WITHIN  # a doubled quote stands for one
    elif state[STRAY_LINE] < 0:
        state[STRAY_LINE], state[STRAY_FIELD] = state[LINE], state[FIELD]
    state[FILLED] = 1


@njit(cache=True, nogil=True)
def record_status(state, n_fields):
    """Judge a record at its end; a blank one is always fine."""
    if state[FIELD] == 0 and not state[FILLED]:
        return DONE
    if n_fields == 0:
        return RECORD_ENDS
    return TOO_FEW_FIELDS if state[FIELD] + 1 < n_fields else DONE


@njit(cache=True, nogil=True)
def record_ended(state, blanks, n_blanks):
    """Update the state for the newline behind a record; return the count of blanks."""
    if state[FIELD] > 0 or state[FILLED]:
        if state[RECORDS] == 0:
            state[SKIPPED] = state[START_LINE]
        state[RECORDS] += state[TRAILING] + 1
        state[TRAILING] = 0
    elif state[RECORDS] > 0:
        blanks[n_blanks] = state[RECORDS] + state[TRAILING]
        n_blanks += 1
        state[TRAILING] += 1
    state[LINE] += 1
    state[START_LINE] = state[LINE]
    state[PLACE], state[FIELD], state[FILLED] = START, 0, 0
    return n_blanks


@njit(cache=True, nogil=True)
def scan_delimited(text, separator, quote, n_fields, state, blanks):
    """Check that every record has n_fields fields; a record may span lines and texts.

    separator, quote = byte values, quote = -1 for none. n_fields = 0 stops after the
    first record that is not blank. blanks = receives the numbers of blank records.
    Returns the status, the byte where the scan stopped, the count of blank records.
    """
    n_blanks = 0
    for i in range(text.size):
        byte = text[i]
        if byte == quote:
            quote_seen(state)
        elif state[PLACE] == WITHIN:
            state[LINE] += byte == NEWLINE
        elif byte == separator:
            if state[FIELD] + 1 == n_fields:
                return TOO_MANY_FIELDS, i, n_blanks
            state[FIELD] += 1
            state[PLACE] = START
        elif byte == NEWLINE:
            status = record_status(state, n_fields)
            if status != DONE:
                return status, i, n_blanks
            n_blanks = record_ended(state, blanks, n_blanks)
        elif byte != RETURN:
            if state[PLACE] == BEHIND:
                return TEXT_AFTER_QUOTE, i, n_blanks
            state[PLACE] = PLAIN
            state[FILLED] |= byte not in (SPACE, TAB)
    return DONE, text.size, n_blanks
