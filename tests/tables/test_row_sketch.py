"""Training rows are recognised, in any order, in part, and among many."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from aucmax.tables import TableEncoder
from aucmax.tables.row_sketch import share_of_known_rows, sketch_rows

RNG = np.random.default_rng(0)
TABLE = pl.DataFrame(
    {
        "size": RNG.normal(size=5000),
        "kind": RNG.choice(["a", "b"], 5000),
        "gap": [None if k % 3 else k / 2 for k in range(5000)],
    }
)
LABELS = (RNG.random(5000) < 0.3).astype(np.int64)
ENCODER = TableEncoder().fit(TABLE)
SKETCH = sketch_rows(ENCODER, TABLE, LABELS)
OTHERS = TABLE.with_columns(size=pl.Series(RNG.normal(size=5000)))


def known(rows, labels, encoder=ENCODER, sketch=SKETCH):
    return share_of_known_rows(sketch, encoder, rows, labels)


def test_the_same_rows_are_known_in_any_order_and_others_are_not():
    order = RNG.permutation(5000)
    assert known(TABLE[order], LABELS[order]) == 1.0
    assert known(TABLE.select("gap", "kind", "size"), LABELS) == 1.0
    assert known(OTHERS, LABELS) == 0.0


def test_a_part_of_the_training_rows_and_a_mixture_are_told():
    assert known(TABLE[:900], LABELS[:900]) == 1.0
    mixture = pl.concat([TABLE[:2500], OTHERS[:2500]])
    assert known(mixture, LABELS) == pytest.approx(0.5, abs=0.08)


def test_another_label_is_another_row():
    assert known(TABLE, 1 - LABELS) == 0.0


def test_hashes_depend_on_values_alone():
    encoder = TableEncoder().fit(pl.DataFrame({"a": [0.0, 1.0, 2.0]}))

    def hashes(*values):
        rows = pl.DataFrame({"a": pl.Series(values)})
        return sketch_rows(encoder, rows, np.array([0, 1])).tolist()

    # the same on every machine, since they go into files
    assert hashes(1.0, 2.0) == [258181728628715636, 17221818339153918717]
    assert hashes(1, 2) == hashes("1", "2") == hashes(1.0, 2.0)
    assert hashes(0.0, 1.0) == hashes(-0.0, 1.0)


def test_stored_zeros_of_a_sparse_matrix_change_nothing():
    dense = RNG.integers(0, 3, size=(50, 20)).astype(float)
    rows = sparse.csr_array(dense)
    encoder = TableEncoder().fit(rows)
    labels = LABELS[:50]
    sketch = sketch_rows(encoder, rows, labels)
    stored = sparse.csr_array(
        (dense.ravel(), np.tile(np.arange(20), 50), np.arange(0, 1001, 20)),
        shape=(50, 20),
    )
    assert share_of_known_rows(sketch, encoder, stored[::-1], labels[::-1]) == 1.0
    changed = dense.copy()
    changed[:, 0] += 1.0
    others = sparse.csr_array(changed)
    assert share_of_known_rows(sketch, encoder, others, labels) == 0.0


def test_nothing_is_known_of_too_few_rows():
    big = sketch_rows(ENCODER, TABLE, LABELS)
    alone = [known(TABLE[k : k + 1], LABELS[k : k + 1], sketch=big) for k in range(40)]
    assert {value for value in alone if value == value} == {1.0}
    assert any(value != value for value in alone)
