import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.decisions import operating_point
from aucmax.report.ranked_steps import RankedRows, usual_length

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def read(text):
    """Read steps into groups of (negatives, positives), character by character."""
    numbers, number, unit = [], 0, 1
    for character in text:
        digit = ALPHABET.index(character)
        number += digit % 32 * unit
        unit *= 32
        if digit < 32:
            numbers.append(number)
            number, unit = 0, 1
    groups, place = [], iter(numbers)
    for head in place:
        n, kind = divmod(head, 4)
        if kind == 2:
            groups.append((n, next(place)))
        else:
            groups += [(1 - kind, kind)] * n
    return groups


rows = st.lists(
    st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=60
).filter(lambda drawn: len({label for label, _ in drawn}) == 2)


@given(rows, st.booleans())
def test_steps_hold_every_group_of_a_ranking(drawn, with_ties):
    labels = np.array([label for label, _ in drawn])
    scores = np.array([float(score) for _, score in drawn])
    if not with_ties:
        scores += np.linspace(0.0, 0.5, scores.size)
    expected = [
        (int((~labels & (scores == s)).sum()), int((labels & (scores == s)).sum()))
        for s in sorted(set(scores), reverse=True)
    ]
    assert read(RankedRows.of(labels, scores).encode()) == expected


@given(rows, st.integers(1, 60))
def test_opening_rows_is_the_operating_point(drawn, wanted):
    labels = np.array([label for label, _ in drawn])
    scores = np.array([float(score) for _, score in drawn])
    wanted = min(wanted, labels.size)
    at = RankedRows.of(labels, scores).open(wanted)
    if (scores == scores.max()).sum() > wanted:
        assert (at.n_alerts, at.found) == (0, 0)
        assert at.precision_ends == (0.0, 1.0)
        return
    point = operating_point(labels, scores, alerts=wanted)
    counts = (at.n_alerts, at.found, at.missed, at.false_alarms)
    assert counts == (point.n_alerts, point.found, point.missed, point.false_alarms)
    assert at.precision == point.precision
    assert at.found_ends == pytest.approx(point.intervals["found"])
    assert at.alarm_ends == pytest.approx(point.intervals["false_alarms"])
    assert at.precision_ends == pytest.approx(point.intervals["precision"])


def test_long_runs_and_large_ties_are_few_characters():
    labels = np.arange(100_000) < 500
    assert len(RankedRows.of(labels, np.arange(100_000.0)).encode()) < 10
    assert len(RankedRows.of(labels, np.zeros(100_000)).encode()) < 10


@pytest.mark.parametrize(
    ("n_rows", "opened"), [(2, 1), (50, 5), (900, 90), (10**6, 100)]
)
def test_a_page_opens_a_hundred_rows_or_a_tenth(n_rows, opened):
    assert usual_length(n_rows) == opened
