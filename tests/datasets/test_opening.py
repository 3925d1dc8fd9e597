import bz2
import gzip
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard

from aucmax.datasets import COMPRESSIONS, FORMATS, file_format, load_svmlight, opening
from aucmax.datasets.opening import read_chunks
from aucmax.exceptions import DataFileError

COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
# hardly compressible, so that a cut anywhere loses something
CONTENT = np.random.default_rng(0).bytes(100_000)


def content_of(path, **options):
    return b"".join(read_chunks(path, **options))


def test_every_compression_is_tried_here():
    assert COMPRESS.keys() == COMPRESSIONS.keys()


@pytest.mark.parametrize("ending", COMPRESS)
def test_content_comes_back_in_bounded_pieces(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(opening, "CHUNK", 10_000)
    path = tmp_path / f"data{ending}"
    path.write_bytes(COMPRESS[ending](CONTENT))
    chunks = list(read_chunks(path))
    assert b"".join(chunks) == CONTENT
    assert len(chunks) >= 2
    renamed = path.rename(tmp_path / "data")
    assert content_of(renamed, compression=COMPRESSIONS[ending]) == CONTENT
    assert content_of(renamed) == COMPRESS[ending](CONTENT)


@pytest.mark.parametrize("ending", COMPRESS)
def test_parts_one_after_the_other_are_all_read(tmp_path, ending):
    path = tmp_path / f"data{ending.upper()}"
    path.write_bytes(COMPRESS[ending](CONTENT) + COMPRESS[ending](b"more"))
    assert content_of(path) == CONTENT + b"more"


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_cut_file_is_an_error(tmp_path, ending, share):
    path = tmp_path / f"data{ending}"
    packed = COMPRESS[ending](CONTENT)
    path.write_bytes(packed[: int(len(packed) * share)])
    with pytest.raises(DataFileError, match=f"data{ending}: .* end too early"):
        content_of(path)


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_file_that_is_not_compressed_is_an_error(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    path.write_bytes(b"a,b\n1,2\n" * 10)
    with pytest.raises(DataFileError, match=f"not valid {COMPRESSIONS[ending]} data"):
        content_of(path)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_damaged_file_is_an_error(tmp_path, ending):
    packed = bytearray(COMPRESS[ending](CONTENT))
    packed[len(packed) // 2] ^= 255
    path = tmp_path / f"data{ending}"
    path.write_bytes(packed)
    with pytest.raises(DataFileError, match="damaged"):
        content_of(path)


def test_zstd_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "data.zst"
    path.write_bytes(COMPRESS[".zst"](CONTENT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(DataFileError, match=r"pip install 'aucmax\[zstd\]'"):
        content_of(path)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (gzip.compress(b"x", mtime=0), "looks like gzip data"),
        (bz2.compress(b"x"), "looks like bzip2 data"),
        (lzma.compress(b"x"), "looks like xz data"),
        (COMPRESS[".zst"](b"x"), "looks like zstd data"),
        (b"PAR1....", "looks like a Parquet file"),
        (b"PK\x03\x04", "a zip archive or spreadsheet"),
        ("1 1:2".encode("utf-16"), "save it as UTF-8"),
    ],
)
def test_other_kinds_of_file_are_recognised(tmp_path, start, message):
    path = tmp_path / "data.svm"
    path.write_bytes(start)
    with pytest.raises(DataFileError, match=message):
        load_svmlight(path)


def test_a_missing_file_is_named_with_near_names(tmp_path):
    (tmp_path / "patients.csv").touch()
    with pytest.raises(DataFileError, match=r"no such file\. Did you mean 'patients.c"):
        content_of(tmp_path / "patient.csv")
    with pytest.raises(DataFileError, match=r"x.csv: no such file\.$"):
        content_of(tmp_path / "nowhere" / "x.csv")


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(DataFileError, match="a folder; name one file in it"):
        content_of(tmp_path)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "no"), "permission to read it is denied"),
        (OSError(24, "too many open files"), "cannot be opened: .*too many"),
    ],
)
def test_a_file_that_cannot_be_opened_is_explained(monkeypatch, error, message):
    def refuse(*_):
        raise error

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataFileError, match=message):
        content_of("x.csv")


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("packed", ["", *COMPRESSIONS])
def test_the_name_tells_the_format(ending, packed):
    assert file_format(f"my.data{ending.upper()}{packed}") == FORMATS[ending]


@pytest.mark.parametrize("name", ["data", "data.txt", "data.gz", "csv", "a.csv.zip"])
def test_names_that_tell_nothing_are_refused(name):
    with pytest.raises(DataFileError, match=r"rename the file to end in one of \.csv"):
        file_format(name)
