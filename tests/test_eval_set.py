import numpy as np
import pytest

from aucmax._eval_set import unpack_eval_set

X, Y = np.eye(2), [0, 1]


@pytest.mark.parametrize("written", [(X, Y), [(X, Y)], [X, Y], {"X": X, "y": Y}])
def test_a_pair_may_be_written_in_any_usual_way(written):
    read = unpack_eval_set(written)
    assert read.X is X
    assert read.y is Y
    assert read.sample_weight is None
    assert read.qid is None


def test_a_dict_names_weights_and_queries():
    read = unpack_eval_set({"X": X, "y": Y, "sample_weight": [1, 2], "qid": [3, 3]})
    assert read.sample_weight == [1, 2]
    assert read.qid == [3, 3]


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ((X, Y, Y), "got a tuple of 3"),
        (7, "got a int"),
        ({"X": X}, "has no y"),
        ({"X": X, "y": Y, "weight": Y}, "an unknown key 'weight'"),
    ],
)
def test_anything_else_is_refused_with_the_ways_there_are(written, fault):
    with pytest.raises(ValueError, match=r"eval_set.*'sample_weight' and 'qid'") as why:
        unpack_eval_set(written)
    assert fault in str(why.value)
