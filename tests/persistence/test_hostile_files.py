"""Files that are wrong on purpose are rejected by one exception, before harm."""

import struct
import tracemalloc
import zipfile
import zlib

import pytest

import aucmax
from aucmax.exceptions import ModelFileError
from aucmax.persistence import load
from aucmax.persistence.model_file import _pack, _unpack
from persistence.forgery import (
    compact,
    forge,
    forge_state,
    manifest_of,
    npy,
    seal,
    toy_state,
    zip_up,
)
from persistence.toy_models import Toy

STATE = compact(toy_state())


def reject(content, match):
    with pytest.raises(ModelFileError, match=match):
        _unpack(content)


def test_a_forged_but_honest_file_loads():
    # otherwise every rejection below might have another cause than the one it names
    assert _unpack(forge({"state.json": STATE})).size == 1.0
    assert _unpack(
        forge_state(toy_state(state={"a_": {"array": "data/0.npy"}}), _0__npy=npy())
    ).a_.tolist() == [0.0]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "not an aucmax model file"),
        (b"PK", "not an aucmax model file"),
        (b"\x80\x04\x95pickle", "looks like a pickle"),
        (b"tree\nversion=v4\n", "not an aucmax model file"),
        (zip_up([("manifest.json", b"{}")]), "cut short, or a zip archive"),
        (seal(zip_up([("manifest.json", b"{}")])), "not that of an aucmax"),
        (seal(zip_up([("other.json", b"{}")])), "first member is not manifest.json"),
        (b"PK\x03\x04" + seal(zip_up([])), "match the checksum"),
        (seal(b"PK\x03\x04" + zip_up([])), "zip structure|first member"),
        (seal(b"PK\x03\x04" + bytes(40) + b"PK\x05\x06" + bytes(18)), "first member"),
        (seal(b"PK\x03\x04" + b"PK\x05\x06" + b"\xff" * 18), "zip structure"),
    ],
)
def test_other_files_are_recognised(content, match):
    reject(content, match)


def test_the_error_names_the_file_and_says_what_to_do(tmp_path):
    (tmp_path / "m.aucmax").write_bytes(_pack(Toy(), "Toy")[:-10])
    with pytest.raises(ModelFileError, match=r"m\.aucmax'.*cut short.*fresh copy"):
        load(tmp_path / "m.aucmax")


def test_a_newer_format_is_called_newer():
    members = {"state.json": STATE, "data/0.npy": npy()}
    reject(forge(members, format_version=3), "made by a newer aucmax.*Upgrade aucmax")
    # even when it breaks the rules of this one
    odd = forge([("future.cbor", b"?"), ("data/x/", b"?")], format_version=7, new=1)
    reject(odd, "made by a newer aucmax")


def test_an_older_format_is_called_older():
    members = {"state.json": STATE, "data/0.npy": npy()}
    reject(forge(members, format_version=1), "made by an older aucmax.*Fit the model")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"format": "other"}, "not that of"),
        ({"format_version": 0}, "does not exist"),
        ({"format_version": True}, "does not exist"),
        ({"format_version": "1"}, "does not exist"),
        ({"format_version": 1.5}, "does not exist"),
        ({"class": None}, "does not name a class"),
        ({"class": "LogisticRegression"}, "names another class"),
        ({"made_with": []}, "the versions"),
        ({"made_with": {"aucmax": 1}}, "the versions"),
    ],
)
def test_a_wrong_manifest_is_rejected(changes, match):
    reject(forge({"state.json": STATE}, **changes), match)


@pytest.mark.parametrize("manifest", [b"[]", b"null", b"{", b"\xff", b'{"format":NaN}'])
def test_a_manifest_that_is_no_object_is_rejected(manifest):
    reject(seal(zip_up([("manifest.json", manifest), ("state.json", STATE)])), "manif")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.npy",
        "/etc/passwd",
        "data/../../evil.npy",
        "data/0.pkl",
        "data/00.npy",
        "data/0.npy/",
        "data\\0.npy",
        "C:\\evil.npy",
        "data/123456.npy",
        "DATA/0.npy",
        "data/0.npy\n",
        "data/é.npy",
        "",
    ],
)
def test_member_names_that_are_not_ours_are_rejected(name):
    reject(forge([("state.json", STATE), (name, b"x")]), "unknown member")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_repeated_members_are_rejected():
    reject(forge([("state.json", STATE), ("state.json", STATE)]), "same name")
    twice = [("manifest.json", manifest_of()), ("manifest.json", b"{}")]
    reject(seal(zip_up(twice)), "same name")


def test_missing_unused_and_reused_members_are_rejected():
    reject(forge({"data/0.npy": npy()}), "no member state.json")
    reject(forge({"state.json": STATE, "data/0.npy": npy()}), "nothing refers to")
    link = {"array": "data/0.npy"}
    reject(forge_state(toy_state(state={"a_": link})), "missing or was used")
    both = toy_state(state={"a_": link, "b_": link})
    reject(forge_state(both, _0__npy=npy()), "missing or was used")


def patch_directory(content, offset, new):
    """Change the first directory entry of a sealed file and seal it again."""
    archive = bytearray(content[:-71])
    archive[-2:] = b"\0\0"
    start = struct.unpack("<I", archive[-6:-2])[0]
    archive[start + offset : start + offset + len(new)] = new
    return seal(bytes(archive))


@pytest.mark.parametrize(
    ("offset", "new", "match"),
    [
        (8, b"\x01\x00", "zip structure"),  # encrypted
        (10, b"\x0c\x00", "unknown compression"),  # bzip2
        (10, b"\x63\x00", "unknown compression"),
        (16, b"abcd", "zip structure"),  # checksum
        (24, b"\xff\xff\xff\x7f", "zip bomb"),  # size of the member
        (24, b"\x01\x00\x00\x00", "zip structure"),
        (42, b"\xff\xff\xff\x7f", "zip structure"),  # place
        (42, b"\x10\x00\x00\x00", "zip structure"),
    ],
)
def test_a_directory_that_lies_is_rejected(offset, new, match):
    reject(patch_directory(_pack(Toy(), "Toy"), offset, new), match)


@pytest.mark.slow
def test_a_zip_bomb_is_rejected_before_it_unpacks():
    huge = 2**27
    packer = zlib.compressobj(9)
    chunk = bytes(2**20)
    packed = b"".join(packer.compress(chunk) for _ in range(huge // len(chunk)))
    assert huge > 500 * len(packed + packer.flush())
    members = [("manifest.json", manifest_of()), ("data/0.npy", bytes(huge))]
    bomb = seal(zip_up(members, zipfile.ZIP_DEFLATED))
    del members
    tracemalloc.start()
    reject(bomb, "zip bomb")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21


def test_a_file_over_the_limit_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "big"
    with open(path, "wb") as file:
        file.truncate(2**33)  # takes no room on the disk
    with pytest.raises(ModelFileError, match="more than the"):
        load(path)
    monkeypatch.setattr("aucmax.persistence.model_file.MAX_FILE_BYTES", 100)
    with pytest.raises(ValueError, match="100 are allowed"):
        aucmax.save(Toy(), tmp_path / "small")
    assert not (tmp_path / "small").exists()


def test_deep_json_is_rejected_in_a_file():
    reject(forge_state(b"[" * 100_000 + b"]" * 100_000), "not valid JSON|too deep")
    deep = b'{"tuple":[' * 300 + b"]}" * 300
    reject(forge_state(deep), "not valid JSON|too deep|does not hold an estimator")


def test_brackets_in_texts_are_not_depth():
    tree = toy_state(params={"size": '[{"' * 500})
    assert _unpack(forge_state(tree)).size == '[{"' * 500


@pytest.mark.parametrize(
    "state",
    [
        STATE + b" ",
        b"\xef\xbb\xbf" + STATE,
        STATE.replace(b"{}", b'{"size":1,"size":2}', 1),
        STATE.replace(b"{}", b'{"size":NaN}', 1),
        STATE.replace(b"{}", b'{"size":Infinity}', 1),
        STATE.replace(b"{}", b'{"size":1e999}', 1),
        STATE.replace(b"{}", b'{"size":1.0e0}', 1),
        STATE.replace(b"{}", b'{"size":-0}', 1),
        STATE.replace(b"{}", b'{"size":' + b"9" * 5000 + b"}", 1),
        STATE.replace(b"{}", '{"size":"é"}'.encode(), 1),
        STATE[:-1],
        b"",
        b"\xff",
    ],
)
def test_json_that_we_would_write_otherwise_is_rejected(state):
    reject(forge_state(state), "state.json is not")


BAD_VALUES = [
    {},
    {"tuple": [], "list": []},
    {"pickle": "gASV"},
    {"tuple": 1},
    {"range": [1, 2, 0]},
    {"range": [1, 2.0, 1]},
    {"range": [0, 2**40, 1]},
    {"range": [0, {"int": "-0x7" + 40 * "0"}, -1]},
    {"dict": [["a", 1, 2]]},
    {"dict": [["a", 1], ["a", 2]]},
    {"dict": [[1, 1], [True, 2]]},
    {"dict": [[{"dict": []}, 1]]},
    {"int": 5},
    {"int": " 0x1"},
    {"float": "nan"},
    {"text": "data/0.npy"},
    {"text": 0},
    {"array": "../0.npy"},
    {"numpy_str": 1},
    {"numpy": {"dtype": "O", "bytes": "00"}},
    {"numpy": {"dtype": "<f3", "bytes": "000000"}},
    {"numpy": {"dtype": "<f8", "bytes": "00"}},
    {"numpy": {"dtype": "<f8", "bytes": "zz" * 8}},
    {"numpy": {"dtype": "<U1", "bytes": "00000000"}},
    {"numpy": {"dtype": "<M8[D]", "bytes": "00" * 8}},
    {"object_array": {"shape": [2], "items": ["a"]}},
    {"object_array": {"shape": [-1], "items": ["a"]}},
    {"object_array": {"shape": [10**18, 10**18], "items": []}},
    {"object_array": {"shape": [1], "items": [[1]]}},
    {"object_array": {"shape": [1], "items": [toy_state()]}},
    {"csr_matrix": {"shape": [1, 1], "data": 1, "indices": 2, "indptr": 3}},
    {"csc_matrix": {}},
    {"estimator": {"class": "Toy"}},
    {"estimator": {"class": "Toy", "params": [], "state": {}}},
    toy_state(name=None),
    toy_state(name="os.system"),
    toy_state(params={"unknown": 1}),
    toy_state(state={"size": 1}),
    toy_state(state={"callback": 1}),
    toy_state(state={"cache_": 1}),
    toy_state(state={"_metadata_request": 1}),
    toy_state(state={"predict": 1}),
    toy_state(state={"get_params": 1}),
    toy_state(state={"_unsaved_params": []}),
    toy_state(state={"__class__": "x"}),
    toy_state(state={"__private": 1}),
    toy_state(state={"a b": 1}),
    toy_state({"names": ["a"]}, {"weights_": [1, 2]}, "Checked"),
    toy_state({"names": 1}, {"weights_": 2}, "Checked"),
]


@pytest.mark.parametrize("value", BAD_VALUES, ids=lambda value: compact(value)[:60])
@pytest.mark.parametrize("place", ["param", "state", "deep"])
def test_a_tree_that_we_would_not_write_is_rejected(value, place):
    tree = {
        "param": toy_state(params={"inner": value}),
        "state": toy_state(state={"fitted_": value}),
        "deep": toy_state(params={"inner": [{"dict": [["k", {"tuple": [value]}]]}]}),
    }[place]
    reject(forge_state(tree), ".")


def test_an_unknown_parameter_hints_at_the_versions():
    reject(
        forge_state(toy_state(params={"gamma": 1})),
        r"Toy has no parameter 'gamma'. The file was made by aucmax 0\.1\.0, this is",
    )


def test_a_missing_parameter_takes_its_default():
    # a parameter that a later version added does not make old files unreadable
    assert _unpack(forge_state(toy_state(params={"inner": 3}))).size == 1.0


def test_a_class_whose_package_is_missing_says_so(monkeypatch):
    from aucmax.persistence.registry import REGISTRY

    monkeypatch.setitem(REGISTRY, "Far", "aucmax_no_such_module")
    reject(forge_state(toy_state(name="Far")), "not installed.*Install it")
    monkeypatch.setitem(REGISTRY, "Gone", "persistence.toy_models")
    reject(forge_state(toy_state(name="Gone")), "no class 'Gone'")
