"""Files that an attacker could make: wrong inside, every hash right."""

import hashlib
import io
import json
import struct
import zipfile

from aucmax.persistence.container import FORMAT_VERSION
from aucmax.persistence.model_file import _pack, _unpack

EPOCH = (1980, 1, 1, 0, 0, 0)


def take_apart(content):
    """Return the members of a model file, the manifest among them, in order."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def file_of(model):
    """Return the members of a model's file but the manifest, and its class name."""
    class_name = type(model).__name__
    members = take_apart(_pack(model, class_name))
    del members["manifest.json"]
    return members, class_name


def unpack_with(members, class_name, state):
    """Load a file of these members with another state: bytes, or a tree."""
    state = state if isinstance(state, bytes) else compact(state)
    return _unpack(forge({**members, "state.json": state}, **{"class": class_name}))


def seal(archive_bytes):
    """Give any zip archive without a comment the seal of a model file."""
    assert archive_bytes[-22:-18] == b"PK\x05\x06"
    body = archive_bytes[:-2] + struct.pack("<H", 71) + b"sha256:"
    return body + hashlib.sha256(body).hexdigest().encode()


def zip_up(members, compression=zipfile.ZIP_STORED):
    """Make a zip archive of (name, bytes) pairs; names may repeat."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = 3
            entry.compress_type = compression
            archive.writestr(entry, content)
    return buffer.getvalue()


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


def manifest_of(**changes):
    """Return a right manifest, but for the changes asked for."""
    manifest = {
        "format": "aucmax model",
        "format_version": FORMAT_VERSION,
        "class": "Toy",
        "made_with": {"aucmax": "0.1.0"},
    }
    return compact({**manifest, **changes})


def forge(members, /, **changes):
    """Make a file with a right manifest, right hashes and a right seal."""
    pairs = list(members.items()) if isinstance(members, dict) else list(members)
    return seal(zip_up([("manifest.json", manifest_of(**changes)), *pairs]))


def forge_state(tree, **data):
    """Make a file with this state.json, and members data/<key> (dots as __)."""
    members = {"state.json": tree if isinstance(tree, bytes) else compact(tree)}
    for name, content in data.items():
        members["data/" + name.strip("_").replace("__", ".")] = content
    return forge(members)


def toy_state(params=None, state=None, name="Toy"):
    """Return the tree of an estimator."""
    return {"estimator": {"class": name, "params": params or {}, "state": state or {}}}


def npy(
    descr="<f8", order="False", shape="(1,)", data=bytes(8), magic=b"\x93NUMPY\x01\x00"
):
    """Make an array file by hand."""
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"
    return magic + struct.pack("<H", len(header)) + header.encode() + data


#: values that a file may hold where something else belongs
ODD = [None, True, 0, -1, 3, 10**9, 1e300, "", "x", [], [[]], [1], {"tuple": []}]
ODD += [{"dict": []}, {"float": "7ff8000000000000"}, {"int": hex(2**70)}]
ODD += [{"numpy_str": "a"}, {"numpy": {"dtype": "<f8", "bytes": "00000000000000f0"}}]


def places(tree):
    """Yield each (container, key) of a JSON tree."""
    keys = tree if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from places(tree[key])
