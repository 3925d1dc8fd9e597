"""Compiled scan of delimited text: fields are counted, nothing is parsed."""

import numpy as np

from aucmax._core.compiled import njit

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32

# what `scan_delimited` found
DONE, RECORD_ENDS, TOO_MANY_FIELDS, TOO_FEW_FIELDS = 0, 1, 2, 3
TEXT_AFTER_QUOTE, NEVER_CLOSED, STRAY_QUOTE = 4, 5, 6

# the entries of its state:
PLACE = 0  # where in a field the scan is, see below
FIELD = 1  # fields in front of this one in the record
FILLED = 2  # whether the record has more than blanks
START = 3  # first byte of the record
FIRST = 4  # first byte of the first record that is not blank
RECORDS = 5  # records from that one to the last that is not blank
TRAILING = 6  # blank records since
BLANKS = 7  # blank records after the first record
QUOTED = 8  # fields in quotes
OPENED, OPENED_FIELD = 9, 10  # where the latest quote opened
STRAY, STRAY_FIELD = 11, 12  # the first quote within a plain field; byte -1: none
STATE_SIZE = 13

# the places: at the start of a field, within a plain one, within quotes, behind them
EMPTY, PLAIN, WITHIN, BEHIND = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def quote_seen(state, i):
    """Update the state for a quote character."""
    place = state[PLACE]
    if place == EMPTY:
        state[PLACE] = WITHIN
        state[QUOTED] += 1
        state[OPENED], state[OPENED_FIELD] = i, state[FIELD]
    elif place == WITHIN:
        state[PLACE] = BEHIND
    elif place == BEHIND:
        state[PLACE] = WITHIN  # a doubled quote stands for one
    elif state[STRAY] < 0:
        state[STRAY], state[STRAY_FIELD] = i, state[FIELD]
    state[FILLED] = 1


@njit(cache=True, nogil=True)
def record_ended(state, i, n_fields, blanks):
    """Judge a record and update the state for the newline behind it."""
    if state[FIELD] > 0 or state[FILLED]:
        if n_fields == 0:
            return RECORD_ENDS
        if state[FIELD] + 1 < n_fields:
            return TOO_FEW_FIELDS
        if state[RECORDS] == 0:
            state[FIRST] = state[START]
        state[RECORDS] += state[TRAILING] + 1
        state[TRAILING] = 0
    elif state[RECORDS] > 0:
        if state[BLANKS] < blanks.size:
            blanks[state[BLANKS]] = state[RECORDS] + state[TRAILING]
        state[BLANKS] += 1
        state[TRAILING] += 1
    state[PLACE], state[FIELD], state[FILLED], state[START] = EMPTY, 0, 0, i + 1
    return DONE


@njit(cache=True, nogil=True)
def scan_delimited(text, separator, quote, n_fields, blanks):
    """Check that every record has n_fields fields; a record may span lines."""
    # quote = -1 for none; n_fields = 0 stops after the first record that is not blank;
    # blanks receives the numbers of blank records. Returns status, byte, field, state.
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    state[STRAY] = -1
    for i in range(text.size):
        byte = text[i]
        if byte == quote:
            quote_seen(state, i)
        elif state[PLACE] == WITHIN:
            continue
        elif byte == separator:
            state[FIELD] += 1
            state[PLACE] = EMPTY
            if state[FIELD] == n_fields:
                return TOO_MANY_FIELDS, i, state[FIELD], state
        elif byte == NEWLINE:
            status = record_ended(state, i, n_fields, blanks)
            if status != DONE:
                return status, i, state[FIELD] + 1, state
        elif byte != RETURN:
            if state[PLACE] == BEHIND:
                return TEXT_AFTER_QUOTE, i, state[FIELD], state
            state[PLACE] = PLAIN
            state[FILLED] |= byte not in (SPACE, TAB)
    return DONE, text.size, state[FIELD], state


@njit(cache=True, nogil=True)
def finish_scan(state, size, n_fields, blanks):
    """Judge what is open where the text ends; return the status, its byte and field."""
    if state[PLACE] == WITHIN:
        return NEVER_CLOSED, state[OPENED], state[OPENED_FIELD]
    if state[START] < size:  # the last record has no newline
        status = record_ended(state, size, n_fields, blanks)
        if status != DONE:
            return status, size, state[FIELD] + 1
    if state[QUOTED] and state[STRAY] >= 0:
        return STRAY_QUOTE, state[STRAY], state[STRAY_FIELD]
    return DONE, size, state[FIELD]
