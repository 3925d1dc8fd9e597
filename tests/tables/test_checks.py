"""Planted leaks are found, and clean tables raise no alarm."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from aucmax.datasets import load_demo
from aucmax.tables import check_table, encode_target
from aucmax.tables.checks import TableNotice, without_columns
from aucmax.tables.folds import split_rows

ROWS = 400
RNG = np.random.default_rng(0)
LABELS = RNG.random(ROWS) < 0.3
FOLDS = list(split_rows(encode_target(LABELS), 4, 0))


def clean(**columns: object) -> pl.DataFrame:
    """A table of usual columns: continuous, rounded, whole, words, dates, gaps."""
    rng = np.random.default_rng(1)
    usual = {
        "size": rng.normal(size=ROWS) + 2 * LABELS,
        "age": rng.integers(20, 90, ROWS),
        "price": rng.normal(50, 9, ROWS).round(1),
        "word": rng.choice(["red", "green", "blue"], ROWS),
        "town": [f"town {k}" for k in rng.integers(0, 150, ROWS)],
        "seen": [f"2024-01-01T{i // 60:02d}:{i % 60:02d}:00" for i in range(ROWS)],
        "dose": [None if i % 7 == 0 else float(i % 11) for i in range(ROWS)],
    }
    return pl.DataFrame({**usual, **columns})


def kinds(table: object, labels: np.ndarray = LABELS) -> dict[str, tuple[str, ...]]:
    return {n.kind: n.columns for n in check_table(table, labels, FOLDS)}


def test_a_clean_table_raises_no_alarm():
    assert kinds(clean()) == {}
    machines = load_demo()
    target = encode_target(machines["failed"])
    folds = list(split_rows(target, 5, 0))
    assert check_table(machines.drop("failed"), target.relevant, folds) == []
    # values that all differ, but are measured and do not name rows
    assert kinds(pl.DataFrame(RNG.normal(size=(ROWS, 5)))) == {}


LEAKS = {
    "number": LABELS * 10 + RNG.random(ROWS),
    "low for positives": -3.0 * LABELS,
    "boolean": LABELS,
    "word": np.where(LABELS, "paid", "open"),
    "many words": np.where(LABELS, "ward ", "home ").astype(object)
    + (np.arange(ROWS) % 20).astype(str),
    "gaps of negatives": [float(i % 5) if p else None for i, p in enumerate(LABELS)],
    "gaps of positives": [None if p else float(i % 5) for i, p in enumerate(LABELS)],
    "number as text": [f"{p + i / 1000:.3f}" for i, p in enumerate(LABELS)],
    "day": [f"2024-0{1 + p}-1{i % 9}" for i, p in enumerate(LABELS)],
    "nearly": LABELS ^ (np.arange(ROWS) == 7),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_named(name):
    values = LEAKS[name]
    values = values.tolist() if isinstance(values, np.ndarray) else values
    (notice,) = check_table(clean(bill=values), LABELS, FOLDS)
    assert (notice.kind, notice.columns) == ("leak", ("bill",))
    assert "column 'bill' alone ranks the target" in str(notice)
    assert json.loads(json.dumps(notice.to_dict()))["columns"] == ["bill"]


def test_there_is_one_notice_per_kind_with_a_count():
    leaks = {f"leak {k}": LABELS + 0.1 * RNG.random(ROWS) for k in range(9)}
    keys = {f"key {k}": RNG.permutation(ROWS) for k in range(2)}
    identifier, leak = check_table(clean(**leaks, **keys), LABELS, FOLDS)
    assert identifier.columns == ("key 0", "key 1")
    assert "2 columns are different in every row: 'key 0', 'key 1';" in str(identifier)
    assert "column 'key 1' is different in every row" in identifier.details[1]
    assert len(leak.columns) == len(leak.details) == 9
    assert str(leak).startswith("9 columns alone rank the target almost perfectly")
    assert "'leak 4' and 4 more" in leak.text


def test_a_strong_column_is_no_leak():
    strong = LABELS * 2.5 + RNG.normal(size=ROWS)
    assert kinds(clean(strong=strong)) == {}
    # on all rows, words that occur once would tell everything
    assert kinds(clean(rare=[f"word {i // 2}" for i in range(ROWS)])) == {}


def test_a_leak_of_a_sparse_matrix_is_named():
    dense = RNG.random((ROWS, 6)) * (RNG.random((ROWS, 6)) < 0.3)
    assert kinds(sparse.csr_matrix(dense)) == {}
    dense[:, 4] = LABELS
    (notice,) = check_table(sparse.csr_matrix(dense), LABELS, FOLDS)
    assert (notice.kind, notice.columns) == ("leak", ("x4",))
    assert "column number 5 alone" in str(notice)


@pytest.mark.parametrize(
    "values",
    [
        RNG.permutation(ROWS) + 5000,
        RNG.choice(10**9, ROWS, replace=False),
        np.arange(ROWS) * 2.0,
        np.array([f"patient {i}" for i in RNG.permutation(ROWS)], dtype=object),
    ],
    ids=["shuffled counter", "key", "whole floats", "text"],
)
def test_a_column_that_names_rows_is_an_identifier(values):
    assert kinds(clean(key=values.tolist())) == {"identifier": ("key",)}


def test_whole_numbers_that_repeat_and_few_rows_are_no_identifiers():
    key = RNG.permutation(ROWS)
    key[0] = key[1]
    assert kinds(clean(key=key)) == {}
    few = pl.DataFrame({"income": [31_000, 52_000, 47_500, 23_100] * 10})
    few = few.with_columns(pl.col("income") + 977 * pl.int_range(40))
    labels = np.arange(40) % 2 == 0
    folds = [(np.arange(20), np.arange(20, 40))]
    assert check_table(few, labels, folds) == []


def test_copies_in_other_folds_are_counted():
    table = clean()
    train, test = FOLDS[0]
    rows = np.arange(ROWS)
    rows[test[:30]] = train[:30]
    labels = LABELS[rows]
    (notice,) = check_table(table[rows], labels, FOLDS)
    assert notice.kind == "copies"
    # each of the copies, and each original that is tested by a fold with the copy
    assert f"60 of {ROWS} test rows have an exact copy" in notice.text
    matrix = sparse.random_array((ROWS, 50), density=0.4, rng=0, format="csr")
    assert kinds(matrix) == {}
    assert set(kinds(matrix[rows], labels)) == {"copies"}


def test_copies_of_a_coarse_table_are_coincidence():
    coarse = pl.DataFrame({name: RNG.integers(0, 3, ROWS) for name in "abc"})
    assert kinds(coarse) == {}
    assert kinds(sparse.csr_matrix(RNG.integers(0, 2, (ROWS, 6)))) == {}


def test_a_column_that_is_constant_in_training_is_named():
    alarm = np.zeros(ROWS)
    alarm[FOLDS[2][1][:3]] = 1
    assert kinds(clean(alarm=alarm)) == {"constant": ("alarm",)}
    # constant throughout is the encoder's business, which leaves it out
    assert kinds(clean(alarm=np.zeros(ROWS), none=[None] * ROWS)) == {}
    many = {f"alarm {k}": alarm for k in range(8)}
    (notice,) = check_table(clean(**many), LABELS, FOLDS)
    assert notice.text.startswith("8 columns have one value in all training rows")
    assert "'alarm 4' and 3 more" in notice.text


def test_few_positives_are_told():
    labels = np.zeros(ROWS, dtype=bool)
    labels[:20] = True
    folds = list(split_rows(encode_target(labels), 4, 0))
    (notice,) = check_table(RNG.normal(size=(ROWS, 2)), labels, folds)
    assert notice.kind == "few positives"
    assert "20 positive rows are few for 4 folds: one of them has 5" in notice.text


def test_notices_are_rebuilt_without_columns():
    ids = {f"id {k}": RNG.permutation(ROWS) for k in range(3)}
    notices = check_table(clean(**ids), LABELS, FOLDS)
    (kept,) = without_columns(notices, {"id 0"})
    assert kept.columns == ("id 1", "id 2")
    assert kept.text.startswith("2 columns are different in every row: 'id 1', 'id 2';")
    assert len(kept.details) == 2
    (kept,) = without_columns(notices, {"id 0", "id 1"})
    assert kept.text.startswith("column 'id 2' is different in every row")
    assert list(without_columns(notices, ids)) == []
    rows = TableNotice("copies", "some rows are equal")
    assert list(without_columns([rows], ids)) == [rows]
