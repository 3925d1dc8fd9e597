"""Models come back bit for bit; values that cannot be saved are rejected by name."""

import math
import struct
from collections import OrderedDict

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.linear_model import LogisticRegression

import aucmax
from aucmax.exceptions import ModelFileError
from aucmax.persistence import describe, load, save
from aucmax.persistence.container import FORMAT_VERSION
from aucmax.persistence.encode import MAX_NESTING
from aucmax.persistence.model_file import _pack, _unpack
from persistence.equality import same, through_file
from persistence.toy_models import Checked, Stranger, Toy, with_state

VALUES = [
    None,
    0,
    -(2**53),
    2**53 + 1,
    -(10**400),
    0.1,
    -0.0,
    math.inf,
    math.nan,
    struct.unpack("d", struct.pack("Q", 0xFFF8000000000123))[0],
    "naïve ✓ \x00 \ud800 \U0001f600",
    "é" * 4097,
    "\ud800" * 5000,
    [1, [2.0, None]],
    (1, ("a", (2,))),
    range(1, 10),
    range(9, -(2**60), -(2**59)),
    {"a": 1, "dict": {"b": (1,)}, "": None},
    {0: 1.0, 1: 2.5, None: 0, 2.5: "x"},
    {"array": "data/0.npy"},
    np.float64(0.1),
    np.float32("nan"),
    np.int64(-(2**63)),
    np.bool_(True),
    np.str_("ü"),
    np.array(3.5),
    np.zeros((0, 3)),
    np.arange(6, dtype="i2").reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(10.0)[::-2],
    np.array([1.0, np.nan, -np.inf, -0.0], dtype=">f8"),
    np.array([True, False]),
    np.array(["a", "", "é✓\U0001f600"]),
    np.zeros(100_000),
    np.array(["x 1", "é", ""], dtype=object),
    np.array([["a", None], [1, 2.5]], dtype=object),
    sp.csr_matrix([[0, 1.5], [2, 0]]),
    sp.csr_array(([1.0], np.array([1], "i8"), np.array([0, 1, 1], "i8")), (2, 3)),
    sp.csr_matrix((0, 4)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_a_value_comes_back_bit_for_bit_as_parameter_and_as_state(value, tmp_path):
    toy = with_state(
        Toy(size=value, inner=[value]), fitted_=value, _hidden={"k": value}
    )
    again = through_file(toy, tmp_path)
    assert type(again) is Toy
    assert same(vars(again), vars(toy))
    assert list(again.get_params()) == list(toy.get_params())


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
PLAIN_ARRAYS = st.sampled_from(["b1", "i4", ">i8", "u1", "f4", "f8", "U3"]).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, min_side=0, max_side=4))
)
TREES = st.recursive(
    PLAIN | PLAIN_ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        | inner.map(lambda value: with_state(Toy(inner=value), fitted_=value))
    ),
    max_leaves=12,
)


@settings(suppress_health_check=list(HealthCheck))
@given(TREES)
def test_any_tree_of_values_comes_back_bit_for_bit(tree):
    toy = with_state(Toy(inner=tree), fitted_=tree)
    assert same(vars(_unpack(_pack(toy, "Toy"))), vars(toy))


def test_nested_estimators_come_back(tmp_path):
    logistic = LogisticRegression(C=0.5).fit([[0.0], [1.0], [3.0]], ["n", "p", "p"])
    toy = with_state(
        Toy(inner=Toy(size=2, inner=(Toy(), [Checked()]))),
        models_={"linear": logistic, "steps": [("a", Toy(size=3)), ("b", None)]},
    )
    again = through_file(toy, tmp_path)
    assert same(vars(again), vars(toy))
    assert again.models_["linear"].predict([[2.0]]) == ["p"]


def test_logistic_regression_scores_alike(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] > 0, "yes", "no").astype(object)
    model = LogisticRegression(class_weight={"yes": 1.0, "no": 2.0}).fit(X, y)
    again = through_file(model, tmp_path)
    assert same(vars(again), vars(model))
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert again.classes_.dtype == object


def test_an_estimator_that_was_not_fitted_can_be_saved(tmp_path):
    again = through_file(Toy(size=(1, 2)), tmp_path)
    assert again.get_params() == {"size": (1, 2), "inner": None, "callback": None}


def test_unsaved_parameters_and_attributes_are_left_out(tmp_path):
    toy = with_state(Toy(callback=print), cache_=object(), kept_=1)
    again = through_file(toy, tmp_path)
    assert again.callback is None
    assert vars(again).keys() == {"size", "inner", "callback", "kept_"}
    assert toy.callback is print


def test_a_memory_map_is_saved_as_an_array(tmp_path):
    mapped = np.memmap(tmp_path / "raw", dtype="f8", mode="w+", shape=(3,))
    mapped[:] = [1.0, 2.0, 3.0]
    again = through_file(with_state(Toy(), weights_=mapped), tmp_path)
    assert type(again.weights_) is np.ndarray
    assert again.weights_.tolist() == [1.0, 2.0, 3.0]


def test_saving_twice_gives_the_same_bytes(tmp_path):
    toy = with_state(Toy(), weights_=np.arange(5.0), text_="t" * 5000)
    for name in "ab":
        save(toy, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = load(tmp_path / "a")
    save(again, tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def test_an_array_of_zeros_is_not_taken_for_a_bomb(tmp_path):
    toy = with_state(Toy(), weights_=np.zeros(1_000_000))
    assert through_file(toy, tmp_path).weights_.shape == (1_000_000,)


def test_long_texts_are_members_of_their_own(tmp_path):
    path = tmp_path / "m"
    save(with_state(Toy(), model_="a" * 4097, short_="b" * 4096), path)
    strings = {k: v for k, v in describe(path).members.items() if k.endswith(".txt")}
    assert strings == {"data/0.txt": 4097}


UNSAVEABLE = [
    (print, "a function or callable"),
    (object(), "builtins.object"),
    (Stranger(), "Stranger"),
    ({1, 2}, "builtins.set"),
    (b"bytes", "builtins.bytes"),
    (OrderedDict(a=1), "OrderedDict"),
    (np.random.RandomState(0), "RandomState"),
    (np.array([1j]), "complex128"),
    (np.array(["2020"], "M8[D]"), "datetime64"),
    (np.zeros(2, "f8,i4"), "array of type"),
    (np.array([object()]), "builtins.object"),
    (np.array([np.float64(1.0)], dtype=object), "numpy.float64"),
    (np.ma.masked_array([1.0], [True]), "MaskedArray"),
    (np.longdouble(1), "numpy.longdouble"),
    (sp.csc_matrix([[1.0]]), "tocsr"),
    ({(1, 2): 3}, "Keys must be text or numbers"),
]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(("value", "hint"), UNSAVEABLE, ids=lambda v: type(v).__name__)
def test_what_cannot_be_saved_is_named_and_nothing_is_written(value, hint, tmp_path):
    toy = Toy(inner=[Toy(), {"k": value}])
    with pytest.raises(TypeError, match=r"Toy\.inner\[1\]\['k'\]") as caught:
        save(toy, tmp_path / "m")
    assert hint in str(caught.value)
    assert "nothing was written" in str(caught.value).lower()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stranger", [Stranger(), 3, None, Toy, "text"])
def test_an_unknown_class_is_rejected(stranger, tmp_path):
    with pytest.raises(
        TypeError, match=r"cannot save .*LogisticRegression.*one by one"
    ):
        save(stranger, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_subclass_is_rejected(tmp_path):
    class LogisticRegression2(LogisticRegression):
        pass

    LogisticRegression2.__name__ = "LogisticRegression"
    with pytest.raises(TypeError, match="not a subclass"):
        save(LogisticRegression2(), tmp_path / "m")


def test_a_range_keeps_its_ends_and_must_not_be_endless(tmp_path):
    ranker = through_file(aucmax.GraphRanker(bins=range(1, 10)), tmp_path)
    assert ranker.bins == range(1, 10)
    with pytest.raises(ValueError, match="a range of more than 1000000 numbers"):
        save(Toy(size=range(10**9)), tmp_path / "m")


def test_a_value_that_contains_itself_is_rejected(tmp_path):
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="or in themselves"):
        save(Toy(inner=loop), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: (v,), lambda v: {"k": v}])
def test_the_deepest_nesting_that_saves_also_loads(wrap, tmp_path):
    value = 1.0
    for _ in range(MAX_NESTING - 2):  # the estimator and the number are nested, too
        value = wrap(value)
    assert same(through_file(Toy(inner=value), tmp_path).inner, value)
    with pytest.raises(TypeError, match="nested more than"):
        save(Toy(inner=wrap(value)), tmp_path / "deeper")


@pytest.mark.parametrize("name", ["area", "predict", "get_params", "__class__x", "a b"])
def test_state_may_not_hide_methods_or_have_odd_names(name, tmp_path):
    toy = Toy()
    vars(toy)[name] = 1
    with pytest.raises(TypeError, match="may not hide"):
        save(toy, tmp_path / "m")


def test_an_inconsistent_state_is_rejected_when_saving(tmp_path):
    with pytest.raises(ValueError, match="differ in length"):
        save(with_state(Checked(["a"]), weights_=[1, 2]), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    assert through_file(
        with_state(Checked(["a"]), weights_=[1]), tmp_path
    ).weights_ == [1]


def test_a_rejected_estimator_leaves_the_old_file(tmp_path):
    save(Toy(size=1), tmp_path / "m")
    with pytest.raises(TypeError):
        save(Toy(size=print), tmp_path / "m", overwrite=True)
    assert load(tmp_path / "m").size == 1


def test_describe_tells_without_building(tmp_path):
    save(with_state(Toy(), weights_=np.ones(3)), tmp_path / "m")
    info = describe(tmp_path / "m")
    assert info.class_name == "Toy"
    assert info.format_version == FORMAT_VERSION
    assert info.made_with["aucmax"] == aucmax.__version__
    assert info.file_bytes == (tmp_path / "m").stat().st_size
    assert info.members["data/0.npy"] == 128 + 24


def test_a_missing_path_and_a_folder_are_told_apart(tmp_path):
    for read in (load, describe):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none")
        with pytest.raises(ModelFileError, match="it is a folder"):
            read(tmp_path)


def test_a_pipe_does_not_hang(tmp_path):
    import os

    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe")
