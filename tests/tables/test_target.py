import json

import numpy as np
import polars as pl
import pytest

from aucmax.tables import encode_target


@pytest.mark.parametrize(
    "qid",
    [
        [7, 7, 3, 3, 9, 9, 3],
        ["b", "b", "a", "a", "c ", "c", "a"],
        [2.0, 2.0, 0, 0, 3, 3, 0],
    ],
    ids=str,
)
def test_queries_of_any_kind_are_numbered_and_counted(qid):
    target = encode_target([0, 1, 1, 0, 1, 1, 0], qid=pl.Series(qid))
    assert target.queries.tolist() == [1, 1, 0, 0, 2, 2, 0]
    assert (target.n_queries, target.n_usable_queries) == (3, 2)
    assert [rows.tolist() for rows in target.blocks] == [[2, 3, 6], [0, 1]]
    part = target.take(np.array([0, 1, 4]))
    assert (part.n_queries, part.n_usable_queries) == (2, 1)
    assert part.labels.tolist() == [0, 1, 1]


def test_without_queries_all_rows_are_one_block():
    target = encode_target([0, 1, 1])
    assert (target.n_queries, target.n_usable_queries) == (None, None)
    assert [rows.tolist() for rows in target.blocks] == [[0, 1, 2]]


def test_positions_are_taken_within_queries():
    target = encode_target([0, 1, 0, 1, 0, 0, 0, 1], qid=[1, 1, 1, 2, 2, 2, 2, 3])
    scores = np.array([1, 2, 2, 8, 9, 7, 6, 5.0])
    places = target.positions(scores)
    assert places.tolist() == [0.25, 0.75, 0.75, 2 / 3, 5 / 6, 0.5, 1 / 6, 0.5]


def test_the_record_is_made_of_simple_values():
    record = encode_target(["no", "yes", "no"], qid=[1, 1, 2]).to_dict()
    assert json.loads(json.dumps(record)) == {
        "rows": 3,
        "positive_rows": 1,
        "queries": 2,
        "usable_queries": 1,
        "positive": "yes",
        "negative": "no",
    }
    assert encode_target([1, 2, 3], 3).to_dict()["negative"] == [1, 2]
    levels = encode_target([0, 1, 1, 2], allow_levels=True).to_dict()
    assert levels["levels"] == {0: 1, 1: 2, 2: 1}
