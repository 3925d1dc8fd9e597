"""The container of a model file: named byte strings in a sealed zip archive.

The comment of the archive is ``sha256:`` and 64 hexadecimal digits, the hash of every
byte before those digits. So every byte of the file is covered, and a change is detected
before any parser reads it. Hashes detect damage, not malice: the limits here, and the
checks of the other modules, also hold for hostile files with correct hashes.
"""

import hashlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

from aucmax.exceptions import ModelFileError
from aucmax.persistence.strict_json import dump_json, parse_json

FORMAT_NAME = "aucmax model"
FORMAT_VERSION = 2

#: limits that hold before anything is unpacked
MAX_FILE_BYTES = 2**31 - 1
MAX_UNPACKED_BYTES = 2**31 - 1
MAX_MEMBERS = 10_000
MAX_RATIO = 100  # of the bytes of all members, unpacked, and of the file

_MANIFEST = "manifest.json"
_NAME = re.compile(r"manifest\.json|state\.json|data/(0|[1-9][0-9]{0,4})\.(npy|txt)")
_SEAL = b"sha256:"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


def seal_container(
    members: Mapping[str, bytes], class_name: str, made_with: Mapping[str, str]
) -> bytes:
    """Pack members into the bytes of a file; equal arguments give equal bytes."""
    manifest = {
        "format": FORMAT_NAME,
        "format_version": FORMAT_VERSION,
        "class": class_name,
        "made_with": dict(made_with),
    }
    members = {_MANIFEST: dump_json(manifest), **members}
    content = _zip_and_seal(members, zipfile.ZIP_DEFLATED)
    if sum(map(len, members.values())) > MAX_RATIO * len(content):
        return _zip_and_seal(members, zipfile.ZIP_STORED)
    return content


def _zip_and_seal(members: Mapping[str, bytes], compression: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # the same bytes on every system
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content, compression)
        archive.comment = _SEAL + b"0" * 64
    body = buffer.getvalue()[:-64]
    return body + _hash(body).encode()


def open_container(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the other members of a file; raise ModelFileError."""
    _check_seal(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_unpacked_size(entries, len(content))
            # first the version: a newer format may break any rule of this one
            manifest = _read_manifest(archive, entries)
            _check_entries(entries)
            members = {entry.filename: archive.read(entry) for entry in entries[1:]}
    except ModelFileError:
        raise
    except _ZIP_ERRORS as error:
        raise ModelFileError(f"its zip structure is broken ({error})") from error
    return manifest, members


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _check_seal(content: bytes) -> None:
    if content[:4] != b"PK\x03\x04":
        start = content[:8]
        hint = " (it looks like a pickle, which is never loaded)"
        raise ModelFileError(
            f"it is not an aucmax model file: it starts with {start!r}"
            f"{hint if start[:1] == bytes([0x80]) else ''}"
        )
    body, digest = content[:-64], content[-64:]
    if not body.endswith(_SEAL):
        raise ModelFileError(
            "it is cut short, or a zip archive that aucmax did not write: the closing "
            "seal is missing"
        )
    if _hash(body).encode() != digest:
        raise ModelFileError(
            "it is damaged or was altered: its bytes do not match the checksum"
        )


def _check_unpacked_size(entries: list[zipfile.ZipInfo], file_bytes: int) -> None:
    limit = min(MAX_RATIO * file_bytes, MAX_UNPACKED_BYTES)
    total = sum(entry.file_size for entry in entries)
    if total > limit:
        raise ModelFileError(
            f"it would unpack to {total} bytes, more than the {limit} allowed for a "
            f"file of {file_bytes} bytes: a zip bomb"
        )


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    """Raise for members that must not be unpacked, by the directory alone."""
    if not 2 <= len(entries) <= MAX_MEMBERS:
        raise ModelFileError(
            f"it has {len(entries)} members; 2 to {MAX_MEMBERS} are allowed"
        )
    names = [entry.filename for entry in entries]
    for entry in entries:
        if not _NAME.fullmatch(entry.filename):
            raise ModelFileError(f"it has an unknown member {entry.filename[:80]!r}")
        _check_compression(entry)
    if len(set(names)) != len(names):
        raise ModelFileError("two of its members have the same name")


def _check_compression(entry: zipfile.ZipInfo) -> None:
    # zipfile does not limit what others unpack at once
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ModelFileError(f"{entry.filename[:80]!r} uses an unknown compression")


def _read_manifest(
    archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]
) -> dict[str, Any]:
    if not entries or entries[0].filename != _MANIFEST:
        raise ModelFileError(f"its first member is not {_MANIFEST}")
    _check_compression(entries[0])
    manifest = parse_json(archive.read(entries[0]), _MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT_NAME:
        raise ModelFileError("its manifest is not that of an aucmax model")
    version, made_with = manifest.get("format_version"), manifest.get("made_with")
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFileError(
            f"it was made by a newer aucmax (file format {version}; this version reads "
            f"format {FORMAT_VERSION})",
            "Upgrade aucmax to load it.",
        )
    if type(version) is not int or version < 1:
        raise ModelFileError(f"its format_version {version!r} does not exist")
    if version < FORMAT_VERSION:
        raise ModelFileError(
            f"it was made by an older aucmax (file format {version}; this version "
            f"reads format {FORMAT_VERSION})",
            "Fit the model again with this version and save it.",
        )
    if not isinstance(manifest.get("class"), str):
        raise ModelFileError("its manifest does not name a class")
    if not isinstance(made_with, dict) or not all(
        isinstance(text, str) for text in made_with.values()
    ):
        raise ModelFileError("its manifest does not state the versions that made it")
    return manifest
