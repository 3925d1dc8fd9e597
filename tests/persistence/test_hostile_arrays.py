"""Arrays, strings and sparse matrices that are wrong on purpose."""

import io

import numpy as np
import pytest

from aucmax.exceptions import ModelFileError
from aucmax.persistence.model_file import _unpack
from persistence.forgery import forge_state, npy, toy_state


def reject(content, match):
    with pytest.raises(ModelFileError, match=match):
        _unpack(content)


BAD_ARRAYS = [
    b"",
    npy()[:-1],
    npy() + b"\0",
    npy(magic=b"\x93NUMPY\x02\x00"),
    npy(descr="|O"),
    npy(descr="|V8"),
    npy(descr="<c16", data=bytes(16)),
    npy(descr="<M8[D]"),
    npy(descr="|S8"),
    npy(descr="<f3", data=bytes(3)),
    npy(descr="<U0", shape="(1000000000000,)", data=b""),
    npy(descr="<U0", shape="(1,)", data=b""),
    npy(descr="<U999999999", shape="(1,)"),
    npy(descr="<U1", data=b"\xff\xff\xff\xff"),
    npy(descr="<f8', 'a': 'b"),
    npy(shape="(1000000000000000000,)"),
    npy(shape="(1000000000000000000, 1000000000000000000)"),
    npy(shape="(2,)"),
    npy(shape="(-1,)"),
    npy(shape="(1, -1, -1)"),
    npy(shape="(True,)"),
    npy(shape="(" + "1, " * 64 + ")"),
    npy(shape="(" * 5000 + ")" * 5000),
    npy(shape="(__import__('os').system('true'),)"),
    npy(order="None"),
    npy(shape="(9" + "9" * 5000 + ",)"),
]


@pytest.mark.parametrize("content", BAD_ARRAYS, ids=lambda content: content[:90])
def test_an_array_that_we_would_not_write_is_rejected_unread(content, monkeypatch):
    monkeypatch.setattr(np, "load", None)
    tree = toy_state(state={"a_": {"array": "data/0.npy"}})
    reject(forge_state(tree, _0__npy=content), "data/0.npy")


def test_a_pickled_array_is_rejected():
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
    tree = toy_state(state={"a_": {"array": "data/0.npy"}})
    reject(forge_state(tree, _0__npy=buffer.getvalue()), "type or shape")


def test_a_text_that_is_not_utf8_is_rejected():
    tree = toy_state(state={"a_": {"text": "data/0.txt"}})
    reject(forge_state(tree, _0__txt=b"\xff"), "not UTF-8")


def as_npy(*numbers, dtype="<i4"):
    buffer = io.BytesIO()
    np.save(buffer, np.array(numbers, dtype=dtype))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("shape", "data", "indices", "indptr"),
    [
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(2), as_npy(0, 1)),
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(-1), as_npy(0, 1)),
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 2)),
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 1, 1)),
        ([3, 2], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 1, 0, 1)),
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(1, 1)),
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(0, dtype="f8"), as_npy(0, 1)),
        ([1, 2], as_npy("x", dtype="U1"), as_npy(0), as_npy(0, 1)),
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(0, dtype="i1"), as_npy(0, 1)),
        ([1, 2], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 1, dtype="i8")),
        ([1, 2], as_npy(1.0), as_npy(0, dtype=">i4"), as_npy(0, 1, dtype=">i4")),
        ([1], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 1)),
        ([1, 2, 3], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 1)),
        ([-1, 2], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 1)),
        ([10**15, 2], as_npy(1.0, dtype="f8"), as_npy(0), as_npy(0, 1)),
    ],
)
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array"])
def test_a_sparse_matrix_with_wrong_indices_is_rejected(
    kind, shape, data, indices, indptr
):
    parts = {
        "shape": shape,
        "data": {"array": "data/0.npy"},
        "indices": {"array": "data/1.npy"},
        "indptr": {"array": "data/2.npy"},
    }
    tree = toy_state(state={"a_": {kind: parts}})
    reject(forge_state(tree, _0__npy=data, _1__npy=indices, _2__npy=indptr), "Toy.a_")
