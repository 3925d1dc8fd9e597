"""Random damage: a changed file never loads, and never raises anything else."""

import random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucmax.exceptions import ModelFileError
from aucmax.persistence.model_file import _pack, _unpack, load
from persistence.forgery import compact, forge, npy, take_apart
from persistence.toy_models import Toy, with_state


def make_file():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    logistic = LogisticRegression().fit(X, X[:, 0] > 0)
    toy = with_state(
        Toy(size=0.5, inner=[logistic, (1, {"k": None})]),
        names_=np.array(["a", "b"], dtype=object),
        count_=np.int64(7),
        text_="num_leaves=31\n" * 400,
    )
    return _pack(toy, "Toy")


def truncate(content, rng):
    return content[: rng.randrange(len(content))]


def flip(content, rng):
    changed = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(content, rng):
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.randint(1, 49) :]


def append(content, rng):
    return content + rng.randbytes(rng.randint(1, 100))


def exchange(content, rng):
    first, second = sorted(rng.sample(range(len(content)), 2))
    return content[first:second] + content[:first] + content[second:]


MUTATIONS = [truncate, flip, cut, append, exchange]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_a_damaged_file_never_loads(mutate, tmp_path):
    content, rng = make_file(), random.Random(mutate.__name__)
    path = tmp_path / "m"
    for _ in range(300):
        mutant = mutate(content, rng)
        path.write_bytes(mutant)
        if mutant == content:
            continue
        with pytest.raises(ModelFileError):
            load(path)


def test_every_single_byte_counts():
    content = bytearray(make_file())
    for place in range(len(content)):
        content[place] ^= 0x20
        with pytest.raises(ModelFileError):
            _unpack(bytes(content))
        content[place] ^= 0x20
    _unpack(bytes(content))


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_damage_under_right_hashes_raises_only_our_exception(mutate):
    """The attacker's fuzz: members are changed, every hash is made to fit."""
    members = take_apart(make_file())
    del members["manifest.json"]
    rng = random.Random(mutate.__name__ + "forged")
    rejected = 0
    for _ in range(200):
        name = rng.choice(list(members))
        changed = {**members, name: mutate(members[name], rng)}
        try:
            _unpack(forge(changed))
        except ModelFileError:
            rejected += 1
    # a changed number in an array or a letter in a string is still a valid model
    assert rejected >= 20


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_a_damaged_archive_under_a_right_seal_raises_only_our_exception(mutate):
    from persistence.forgery import seal

    content, rng = make_file(), random.Random(mutate.__name__ + "zip")
    archive = content[:-73] + b"\0\0"
    for _ in range(200):
        mutant = mutate(archive[:-22], rng) + archive[-22:]
        if mutant == archive:
            continue
        try:
            _unpack(seal(mutant))
        except ModelFileError:
            continue
        # times and attributes may differ; the members may not
        assert take_apart(mutant) == take_apart(archive)


def test_damaged_array_headers_raise_only_our_exception():
    array, rng = npy(shape="(2, 1)", data=bytes(16)), random.Random(5)
    tree = {"class": "Toy", "params": {}, "state": {"a_": {"array": "data/0.npy"}}}
    state = compact({"estimator": tree})
    for _ in range(1000):
        mutant = rng.choice(MUTATIONS)(array, rng)
        try:
            _unpack(forge({"state.json": state, "data/0.npy": mutant}))
        except ModelFileError:
            continue
        assert len(mutant) >= 16
