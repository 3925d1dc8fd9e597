"""The container of a model file: named byte strings in a sealed zip archive.

The archive is plain: members lie end to end from the first byte, stored or
deflated, then the directory, then the end record, whose comment is ``sha256:`` and
64 hexadecimal digits, the hash of every byte before those digits. So every byte of
the file is covered, and a change is detected before any parser reads it. Hashes
detect damage, not malice: the limits here, and the checks of the other modules, also
hold for hostile files with correct hashes.
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
MAX_RATIO = 100

_MANIFEST = "manifest.json"
_NAME = re.compile(r"manifest\.json|state\.json|data/(0|[1-9][0-9]{0,4})\.(npy|txt)")
_SEAL = b"sha256:"
_LOCAL_HEADER, _DIRECTORY_ENTRY, _END_RECORD = 30, 46, 22
_MANIFEST_KEYS = ["format", "format_version", "class", "made_with", "members"]
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
        "members": _sizes_and_hashes(members),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in {_MANIFEST: dump_json(manifest), **members}.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # the same bytes on every system
            entry.external_attr = 0o100644 << 16
            entry.compress_type = _compression(content)
            archive.writestr(entry, content)
        archive.comment = _SEAL + b"0" * 64
    body = buffer.getvalue()[:-64]
    return body + _hash(body).encode()


def open_container(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the other members of a file; raise ModelFileError."""
    _check_seal(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            # first the version: a newer format may break any rule of this one
            manifest = _read_manifest(archive, entries)
            _check_entries(entries)
            _check_layout(entries, archive.start_dir, len(content))
            members = {entry.filename: archive.read(entry) for entry in entries[1:]}
    except ModelFileError:
        raise
    except _ZIP_ERRORS as error:
        raise ModelFileError(f"its zip structure is broken ({error})") from error
    if manifest["members"] != _sizes_and_hashes(members):
        raise ModelFileError(
            "its members do not match the sizes and hashes in its manifest"
        )
    return manifest, members


def _sizes_and_hashes(members: Mapping[str, bytes]) -> dict[str, Any]:
    return {
        name: {"bytes": len(content), "sha256": _hash(content)}
        for name, content in members.items()
    }


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _compression(content: bytes) -> int:
    """Deflate if it saves space, unless the ratio would look like a zip bomb."""
    packed = len(zlib.compress(content))
    if packed < 0.9 * len(content) and len(content) < 0.9 * MAX_RATIO * packed:
        return zipfile.ZIP_DEFLATED
    return zipfile.ZIP_STORED


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
        _check_entry(entry)
    if len(set(names)) != len(names):
        raise ModelFileError("two of its members have the same name")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_UNPACKED_BYTES:
        raise ModelFileError(
            f"it would unpack to {total} bytes, more than the {MAX_UNPACKED_BYTES} "
            "allowed"
        )


def _check_entry(entry: zipfile.ZipInfo) -> None:
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ModelFileError(f"{entry.filename} uses an unknown compression")
    if entry.flag_bits or entry.extra or entry.comment:
        raise ModelFileError(f"{entry.filename} has zip features that are not used")
    if entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
        raise ModelFileError(
            f"{entry.filename} would grow from {entry.compress_size} to "
            f"{entry.file_size} bytes, more than {MAX_RATIO} times: a zip bomb"
        )


def _check_layout(
    entries: list[zipfile.ZipInfo], directory: int, file_bytes: int
) -> None:
    """Check that members, directory and end record fill the file without a gap."""
    position = 0
    for entry in entries:
        if entry.header_offset != position:
            raise ModelFileError(f"{entry.filename} is not at its place in the file")
        position += _LOCAL_HEADER + len(entry.filename) + entry.compress_size
    names = sum(len(entry.filename) for entry in entries)
    end = position + _DIRECTORY_ENTRY * len(entries) + names
    if directory != position or file_bytes != end + _END_RECORD + len(_SEAL) + 64:
        raise ModelFileError("it holds bytes that belong to no member")


def _read_manifest(
    archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]
) -> dict[str, Any]:
    if not entries or entries[0].filename != _MANIFEST:
        raise ModelFileError(f"its first member is not {_MANIFEST}")
    _check_entry(entries[0])
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
    if list(manifest) != _MANIFEST_KEYS:
        raise ModelFileError(
            f"its manifest has the keys {sorted(manifest)}, not {_MANIFEST_KEYS}"
        )
    if not isinstance(manifest["class"], str):
        raise ModelFileError("its manifest does not name a class")
    if not isinstance(made_with, dict) or not all(
        isinstance(text, str) for text in made_with.values()
    ):
        raise ModelFileError("its manifest does not state the versions that made it")
    return manifest
