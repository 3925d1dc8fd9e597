"""Files of past versions load, as long as their format is read.

Each file in ``golden/`` was written by ``save`` of the version in its name, from the
function of the same name below (see ``test_golden_models.py`` for the command).
"""

import hashlib
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression

from aucmax.exceptions import ModelFileError
from aucmax.persistence import describe, load, save
from aucmax.persistence.container import FORMAT_VERSION
from aucmax.persistence.model_file import _unpack
from aucmax.persistence.registry import REGISTRY
from persistence.equality import same
from persistence.forgery import compact, forge, take_apart, toy_state
from persistence.toy_models import Checked, Toy, with_state

GOLDEN = Path(__file__).parent / "golden"

X = np.array(
    [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [-2.0, 3.0, 0.125], [0.0, 0.0, 0.0]]
)


def logistic_regression():
    """Return a fitted model with made-up coefficients: nothing depends on a solver."""
    return with_state(
        LogisticRegression(C=0.5, class_weight={"no": 1, "yes": 2.5}, max_iter=250),
        n_features_in_=3,
        feature_names_in_=np.array(["age", "größe", "x 1"], dtype=object),
        classes_=np.array(["no", "yes"], dtype=object),
        coef_=np.array([[0.1, -1 / 3, 2e-5]]),
        intercept_=np.array([0.7]),
        n_iter_=np.array([12], dtype=np.int32),
    )


SCORES = [1.0833733333333333, 0.7666516666666667, -0.4999975, 0.7]


def every_tag():
    """Return a model that uses each part of the format."""
    checked = with_state(Checked(["a", "b"]), weights_=[0.5, 1])
    return with_state(
        Toy(size=-0.0, inner=(checked, {"k": [None, True], 3: ()})),
        integer_=2**70,
        small_=-5,
        infinite_=float("-inf"),
        nan_=float("nan"),
        text_="é✓ \x00",
        long_="0123456789é" * 500,
        doubles_=np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        big_endian_=np.array([1, -2], dtype=">i4"),
        flags_=np.array([[True], [False]]),
        words_=np.array(["a", "größe"]),
        empty_=np.zeros((0, 2), dtype=np.float32),
        zeros_=np.zeros(2000),
        objects_=np.array([["a", None], [1, 2.5]], dtype=object),
        scalar_=np.float32(0.1),
        name_=np.str_("ñ"),
        sparse_=sp.csr_matrix([[0, 1.5, 0], [2, 0, 0]]),
        sparse_array_=sp.csr_array([[0, 1], [0, 0]]),
    )


def write(version):
    """Save one file of each kind under the version's name."""
    REGISTRY.update(Toy="persistence.toy_models", Checked="persistence.toy_models")
    for name, make in MAKERS.items():
        save(make(), GOLDEN / f"{name}-{version}.aucmax", overwrite=True)


FILES = sorted(GOLDEN.glob("*.aucmax"))
LOGISTIC = sorted(GOLDEN.glob("logistic_regression-*"))
MAKERS = {"every_tag": every_tag, "logistic_regression": logistic_regression}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_golden_file_gives_what_was_saved(path):
    expected = MAKERS[path.name.partition("-")[0]]()
    model = load(path)
    assert type(model) is type(expected)
    assert model.get_params().keys() == expected.get_params().keys()
    for name, value in vars(expected).items():
        if name != "inner":
            assert same(getattr(model, name), value), name
    if isinstance(expected, Toy):
        assert same(model.inner, expected.inner)


@pytest.mark.parametrize("path", LOGISTIC, ids=lambda path: path.name)
def test_a_golden_model_gives_the_scores_of_its_day(path):
    model = load(path)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=model.feature_names_in_)
    np.testing.assert_allclose(model.decision_function(frame), SCORES, rtol=1e-14)
    assert model.predict(frame).tolist() == ["yes", "yes", "no", "yes"]


@pytest.mark.parametrize("path", LOGISTIC, ids=lambda path: path.name)
def test_the_documented_format_is_enough_to_score(path):
    """Read a file as another language would: by the user guide, without aucmax."""
    content = path.read_bytes()
    assert content[-71:-64] == b"sha256:"
    assert content[-64:].decode() == hashlib.sha256(content[:-64]).hexdigest()
    with zipfile.ZipFile(path) as archive:
        state = json.loads(archive.read("state.json"))["estimator"]["state"]
        coef, intercept = (
            archive.read(state[name]["array"])[-8 * length :]
            for name, length in (("coef_", 3), ("intercept_", 1))
        )
    weights, (bias,) = struct.unpack("<3d", coef), struct.unpack("<d", intercept)
    scores = [sum(map(float.__mul__, weights, row)) + bias for row in X.tolist()]
    np.testing.assert_allclose(scores, SCORES, rtol=1e-14)
    assert state["classes_"]["object_array"]["items"] == ["no", "yes"]


def test_there_is_a_golden_file_of_each_kind_for_each_format():
    versions = {describe(path).format_version for path in FILES}
    assert versions == {FORMAT_VERSION}
    assert {path.name.partition("-")[0] for path in FILES} == MAKERS.keys()


def test_the_tree_is_written_as_it_was(tmp_path):
    save(every_tag(), tmp_path / "today")
    today = take_apart((tmp_path / "today").read_bytes())
    golden = take_apart((GOLDEN / "every_tag-0.1.0.aucmax").read_bytes())
    assert today["state.json"] == golden["state.json"]
    assert list(today) == list(golden)


def test_a_file_leaves_the_defaults_to_the_scikit_learn_that_loads_it(tmp_path):
    save(logistic_regression(), tmp_path / "today")
    today = take_apart((tmp_path / "today").read_bytes())
    params = json.loads(today["state.json"])["estimator"]["params"]
    assert params.keys() == {"C", "class_weight", "max_iter"}
    loaded = load(tmp_path / "today")
    assert loaded.get_params() == logistic_regression().get_params()


def test_another_scikit_learn_is_named_where_its_class_does_not_fit():
    tree = toy_state({"of_old": 1}, name="LogisticRegression")
    content = forge(
        {"state.json": compact(tree)},
        **{"class": "LogisticRegression"},
        made_with={"aucmax": "0.1.0", "scikit-learn": "1.2.3"},
    )
    with pytest.raises(ModelFileError) as caught:
        _unpack(content)
    message = f"made by scikit-learn 1.2.3, this is {sklearn.__version__}"
    assert message in str(caught.value)
