import bz2
import gzip
import io
import lzma
import os
import sys
import threading
import zipfile

import numpy as np
import pytest
import zstandard

import aucmax.datasets.memory
from aucmax.datasets import load_svmlight
from aucmax.datasets.opening import COMPRESSIONS, FORMATS, file_format, read_content
from aucmax.exceptions import DataFileError


def zipped(content, *names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ["data.csv"]:
            # a fixed date, so that equal content gives equal bytes
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    ".zip": zipped,
}
# hardly compressible, so that a cut anywhere loses something
CONTENT = np.random.default_rng(0).bytes(100_000)


def test_every_compression_is_tried_here():
    assert COMPRESS.keys() == COMPRESSIONS.keys()


@pytest.mark.parametrize("ending", COMPRESS)
def test_content_comes_back(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    compressed = COMPRESS[ending](CONTENT)  # once: gzip writes the time into it
    path.write_bytes(compressed)
    assert read_content(path) == CONTENT
    renamed = path.rename(tmp_path / "data")
    assert read_content(renamed, compression=COMPRESSIONS[ending]) == CONTENT
    assert read_content(renamed) == compressed


@pytest.mark.parametrize("ending", sorted(COMPRESS.keys() - {".zip"}))
def test_parts_one_after_the_other_are_all_read(tmp_path, ending):
    path = tmp_path / f"data{ending.upper()}"
    path.write_bytes(COMPRESS[ending](CONTENT) + COMPRESS[ending](b"more"))
    assert read_content(path) == CONTENT + b"more"


@pytest.mark.parametrize("ending", sorted(COMPRESS.keys() - {".zip"}))
@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_cut_file_is_an_error(tmp_path, ending, share):
    path = tmp_path / f"data{ending}"
    packed = COMPRESS[ending](CONTENT)
    path.write_bytes(packed[: int(len(packed) * share)])
    with pytest.raises(DataFileError, match=f"data{ending}: .* end too early"):
        read_content(path)


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_file_that_is_not_compressed_is_an_error(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    path.write_bytes(b"a,b\n1,2\n" * 10)
    with pytest.raises(DataFileError, match=f"not valid {COMPRESSIONS[ending]} data"):
        read_content(path)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zip"])
def test_a_damaged_file_is_an_error(tmp_path, ending):
    packed = bytearray(COMPRESS[ending](CONTENT))
    packed[len(packed) // 2] ^= 255
    path = tmp_path / f"data{ending}"
    path.write_bytes(packed)
    with pytest.raises(DataFileError, match="damaged"):
        read_content(path)


def test_zstd_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "data.zst"
    path.write_bytes(COMPRESS[".zst"](CONTENT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(DataFileError, match=r"pip install 'aucmax\[zstd\]'"):
        read_content(path)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (gzip.compress(b"x", mtime=0), "looks like gzip data"),
        (bz2.compress(b"x"), "looks like bzip2 data"),
        (lzma.compress(b"x"), "looks like xz data"),
        (COMPRESS[".zst"](b"x"), "looks like zstd data"),
        (b"PAR1....", "looks like a Parquet file"),
        (b"PK\x03\x04", "a zip archive, or a spreadsheet; .* .zip or .xlsx"),
        (b"\xd0\xcf\x11\xe0", "a spreadsheet; give it a name ending in .xls"),
        (b"ARROW1..", "a Feather file"),
    ],
)
def test_other_kinds_of_file_are_recognised(tmp_path, start, message):
    path = tmp_path / "data.svm"
    path.write_bytes(start)
    with pytest.raises(DataFileError, match=message):
        load_svmlight(path)


def test_a_missing_file_is_named_with_near_names(tmp_path):
    (tmp_path / "patients.csv").touch()
    with pytest.raises(
        DataFileError, match=r"no such file or folder\. Did you mean 'patients.c"
    ):
        read_content(tmp_path / "patient.csv")
    with pytest.raises(DataFileError, match=r"x.csv: no such file or folder\.$"):
        read_content(tmp_path / "nowhere" / "x.csv")


def test_a_folder_is_rejected(tmp_path):
    with pytest.raises(DataFileError, match="cannot be opened: Is a directory"):
        read_content(tmp_path)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("packed", ["", *COMPRESSIONS])
def test_the_name_tells_the_format(ending, packed):
    assert file_format(f"my.data{ending.upper()}{packed}") == FORMATS[ending]


@pytest.mark.parametrize("name", ["data", "data.gz", "data.txt", "data.sav"])
def test_names_without_a_format_are_rejected_with_advice(name, tmp_path):
    (tmp_path / name).touch()
    with pytest.raises(DataFileError, match=r"does not show the format.*format=.csv"):
        file_format(tmp_path / name)


def test_a_zip_archive_is_judged_by_the_file_in_it(tmp_path):
    path = tmp_path / "export.zip"
    path.write_bytes(zipped(b"", "__MACOSX/x", "folder/", "folder/.x", "folder/a.tsv"))
    assert file_format(path) == "tsv"
    path.write_bytes(zipped(b"", "a.csv", "b.csv"))
    with pytest.raises(
        DataFileError, match=r"2 files, 'a.csv', 'b.csv'; one is needed"
    ):
        read_content(path)
    path.write_bytes(zipped(b"", "folder/"))
    with pytest.raises(DataFileError, match="it holds no file"):
        read_content(path)
    path.write_bytes(b"PK")
    with pytest.raises(DataFileError, match="not valid zip data"):
        file_format(path)


@pytest.mark.slow
@pytest.mark.parametrize("ending", COMPRESS)
def test_a_small_file_does_not_unpack_to_gigabytes(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(aucmax.datasets.memory, "FREE_BYTES", 1 << 23)
    path = tmp_path / f"bomb{ending}"
    path.write_bytes(COMPRESS[ending](bytes(1 << 25)))
    with pytest.raises(DataFileError, match="max_memory"):
        read_content(path)


def test_a_pipe_is_read_once_and_kept(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"1 1:2\n0 1:3\n",))
    writer.start()
    X, y, _ = load_svmlight(path)
    writer.join()
    assert X.toarray().tolist() == [[2.0], [3.0]]
    assert y.tolist() == [1.0, 0.0]
