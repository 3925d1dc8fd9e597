import io
import random
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from aucmax.datasets import load_svmlight, svmlight
from aucmax.exceptions import DataFileError
from torture.amount import times


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.svm"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def assert_same_bits(ours, theirs):
    np.testing.assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


def assert_same_matrix(ours, theirs):
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    assert_same_bits(ours.data, theirs.data)


SAMPLE = """\
# a comment, then a blank line

1 qid:10 1:0.1 3:-2.5e-3 46:17 # docid = GX001
0\tqid:10\t2:1\r
-1 qid:-11
+2.5 qid:+7 1:+0 2:-0 3:.5 4:5. # 5:nan
3 qid:7 9:0.30000000000000004 10:123456789012345678901234567890 11:5e-324
"""


def test_svmlight_equals_scikit_learn(write):
    X, y, qid = load_svmlight(write(SAMPLE))
    their_X, their_y, their_qid = load_svmlight_file(
        io.BytesIO(SAMPLE.encode()), query_id=True
    )
    assert_same_matrix(X, their_X)
    assert_same_bits(y, their_y)
    np.testing.assert_array_equal(qid, their_qid)
    assert X.data.dtype == y.dtype == np.float64
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert qid.dtype == np.int64
    assert X.has_canonical_format


def test_without_queries_qid_is_none(write):
    assert load_svmlight(write("1 1:2\n")).qid is None


@pytest.mark.parametrize("size", [1, 17, 64])
def test_the_size_of_the_blocks_makes_no_difference(write, size):
    path = write(SAMPLE)
    whole = load_svmlight(path)
    with patch.object(svmlight, "_BLOCK_BYTES", size):
        parts = load_svmlight(path)
    assert_same_matrix(parts.X, whole.X)
    assert_same_bits(parts.y, whole.y)
    np.testing.assert_array_equal(parts.qid, whole.qid)


def test_an_index_zero_that_comes_late_moves_the_columns(write):
    path = write(
        "# rows without features first\n1 qid:1\n1 qid:1 1:5 3:7\n0 qid:1 0:9\n"
    )
    for size in (1, 1 << 20):
        with patch.object(svmlight, "_BLOCK_BYTES", size):
            dense = load_svmlight(path).X.toarray()
        assert dense.tolist() == [[0, 0, 0, 0], [0, 5, 0, 7], [9, 0, 0, 0]]


# ------------------------------------------------------------------ fuzz

NUMBERS = ["0", "1", "-1", "0.5", "1e-3", "-2.5E+7", "3.", ".25", "1e22", "1e23", "007"]
BROKEN = ["", "x", "1:2:3", "2", "2:", ":3", "-3:1", "2:1e", "2:--1", "1,2", "qid:x"]


def random_number(rng):
    style = rng.randrange(4)
    if style == 0:
        return rng.choice(NUMBERS)
    if style == 1:
        return repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-30, 30))
    if style == 2:
        return f"{rng.getrandbits(rng.randint(1, 80))}e{rng.randint(-40, 40)}"
    return f"{rng.gauss(0, 1):.{rng.randint(1, 20)}g}"


def random_line(rng, has_queries, break_it):
    if rng.random() < 0.1:
        return rng.choice(["", "  ", "# note 1:2", "\t# 7:7"])
    tokens = [random_number(rng)]
    if has_queries:
        tokens.append(f"qid:{rng.randint(-5, 10**12)}")
    indices = sorted(rng.sample(range(60), rng.randrange(8)))
    tokens += [f"{rng.choice(['', '', '+', '0'])}{i}" for i in indices]
    for place in range(1 + has_queries, len(tokens)):
        tokens[place] += f":{random_number(rng)}"
    if break_it:
        place = rng.randrange(len(tokens))
        if rng.random() < 0.5:
            # but not a row without its query: scikit-learn lets that pass
            tokens[place] = rng.choice(BROKEN[has_queries and place == 1 :])
        else:
            tokens.insert(place, rng.choice(tokens))
    line = rng.choice([" ", "  ", "\t", " \x0b"]).join(tokens)
    return line + rng.choice(["", " ", "\r", " # docid=3", "#x"])


def outcome(call):
    try:
        return call()
    except ValueError as error:
        return error


@pytest.mark.parametrize("seed", range(times(300, 50_000)))
def test_fuzz_same_arrays_as_scikit_learn_or_both_refuse(write, seed):
    rng = random.Random(seed)
    has_queries = rng.random() < 0.5
    n_lines = rng.randint(1, 6)
    broken = rng.randrange(n_lines) if rng.random() < 0.5 else None
    lines = [random_line(rng, has_queries, i == broken) for i in range(n_lines)]
    text = "\n".join([*lines, f"1 {'qid:1 ' if has_queries else ''}3:4"])
    options = {
        "zero_based": rng.choice(["auto", "auto", True, False]),
        "n_features": rng.choice([None, None, 40, 60, 100]),
    }
    theirs = outcome(
        lambda: load_svmlight_file(io.BytesIO(text.encode()), query_id=True, **options)
    )
    path = write(text)
    with patch.object(svmlight, "_BLOCK_BYTES", rng.choice([20, 1 << 20])):
        ours = outcome(lambda: load_svmlight(path, **options))
    if isinstance(theirs, ValueError):
        assert isinstance(ours, DataFileError), (text, theirs)
        return
    assert not isinstance(ours, ValueError), (text, ours)
    assert_same_matrix(ours.X, theirs[0])
    assert_same_bits(ours.y, theirs[1])
    if has_queries:
        np.testing.assert_array_equal(ours.qid, theirs[2])


# ------------------------------------------------------------------ bad lines


@pytest.mark.parametrize(
    "line",
    [
        "1 1:2 2:nan",
        "1 1:2 2:-Infinity",
        "1 1:2 2:1e999",
        "nan 1:2",
        "yes 1:2",
        "1,2 1:2",
        "1:2 2:3",
        "1 1:2 x",
        "1 1:2 3:",
        "1 1:2 3:1_0",
        "1 1:2 3:1:4",
        "1 1:2 -3:4",
        "1 3:2 3:4",
        "1 3:2 2:4",
        "1 1:2 qid:3",
        "1 qid:3 1:2",
        "1 9999999999999999999:1",
        "1 1:2\x00",
    ],
)
def test_a_line_that_is_not_a_row_is_named(write, line):
    path = write(f"# first\n\n1 1:2\n{line}\n1 1:2\n")
    with pytest.raises(DataFileError) as info:
        load_svmlight(path)
    assert str(info.value).startswith(f"{path}: line 4: {line!r} is not a row")


@pytest.mark.parametrize("query", ["", "qid:x", "quid:4", "qid:99999999999999999999"])
def test_a_query_that_a_row_lacks_is_an_error(write, query):
    with pytest.raises(DataFileError, match=r"line 2: .* a query after the label"):
        load_svmlight(write(f"1 qid:1 1:2\n0 {query} 1:2\n"))


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_a_file_without_rows_is_an_error(write, text):
    with pytest.raises(DataFileError, match="holds no rows"):
        load_svmlight(write(text))


def test_index_zero_is_refused_where_indices_count_from_one(write):
    with pytest.raises(DataFileError, match=r"line 1: .* ascending indices from 1 to"):
        load_svmlight(write("1 0:2\n"), zero_based=False)


def test_too_many_features_are_refused(write):
    path = write("1 1:2\n1 5:2\n")
    with pytest.raises(DataFileError, match=r"line 2: .* from 0 to 4"):
        load_svmlight(path, n_features=4)
    assert load_svmlight(path, n_features=9).X.shape == (2, 9)
    with pytest.raises(DataFileError, match="pass n_features=6"):
        load_svmlight(write("1 0:2 5:1\n"), n_features=5)


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_huge_indices_get_64_bits(write, size):
    far = 2**31 + 5
    with patch.object(svmlight, "_BLOCK_BYTES", size):
        X, _, _ = load_svmlight(write(f"1 1:2\n1 {far}:3\n0 7:1\n"))
    assert X.shape == (3, far)
    assert X.indices.dtype == np.int64
    assert X.indices.tolist() == [0, far - 1, 6]
    farthest = 10**15 - 1
    assert load_svmlight(write(f"1 {farthest}:3\n")).X.shape == (1, farthest)
