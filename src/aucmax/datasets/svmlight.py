"""Rows of SVM-light, LIBSVM and LETOR: ``label qid:id index:value ... # comment``."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax._core.parameters import check_choice, check_integer
from aucmax._core.threads import require_polars_threads
from aucmax.datasets.opening import PathLike, find_source
from aucmax.datasets.text_tables import read_text
from aucmax.exceptions import DataFileError

_BLOCK_BYTES = 1 << 20  # of whole lines, which are parsed together
_MAX_INDEX = 10**15 - 1  # float64, as which indices are parsed, is exact up to 2**53
_MAX_INT32 = 2**31 - 1

_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_QUERY = r"qid:([+-]?[0-9]+)"
_FEATURE = rf"(\+?[0-9]{{1,15}}):{_NUMBER}"
_ROW = rf"^ *{_NUMBER}(?: +{_QUERY})?(?: +{_FEATURE})* *(?:#.*)?$"


class SvmlightData(NamedTuple):
    """The rows of an svmlight file.

    Attributes
    ----------
    X : csr_matrix of shape (n_samples, n_features)
        The values, float64; sparse indices are int32 if they fit.
    y : ndarray of shape (n_samples,)
        The labels, float64.
    qid : ndarray of shape (n_samples,), or None
        The query of each row, int64; None if the file has no queries.
    """

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None


def load_svmlight(
    path: PathLike,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    compression: str = "auto",
) -> SvmlightData:
    r"""Read an svmlight (LIBSVM) or LETOR file into a sparse matrix.

    Each line is ``label [qid:query] [index:value ...] [# comment]``; blank lines and
    lines with only a comment are skipped. Values are the float64 nearest to the decimal
    written, so they equal those of scikit-learn's reader bit for bit. The peak memory
    is about the size of the text and twice the result.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (.gz, .bz2, .xz; .zst with ``aucmax[zstd]``).
    n_features : int, optional
        The number of columns. Files do not write trailing zeros, so give it to make
        several files match. By default the largest index found decides.
    zero_based : bool or "auto"
        Whether the first column has index 0. "auto": it has if index 0 occurs.
    compression : {"auto", "none", "gzip", "bzip2", "xz", "zstd"}
        "auto" goes by the file name.

    Returns
    -------
    SvmlightData
        A named tuple ``X, y, qid``.

    Raises
    ------
    DataFileError
        If the file cannot be read. The message names file and line.

    Notes
    -----
    Stricter than `sklearn.datasets.load_svmlight_file`, where its leniency loses data:
    ``nan``, ``inf`` and numbers that overflow are errors; so are files in which only
    some rows have a ``qid:`` or one is not an integer, files without any row, and
    digits grouped with an underscore. More lenient: an index may exceed 32 bits (up to
    15 digits), and a byte order mark is skipped.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from aucmax.datasets import load_svmlight
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.svm"
    ...     _ = path.write_text("1 qid:7 1:0.5 3:2\n0 qid:7 2:1e-3 # second\n")
    ...     X, y, qid = load_svmlight(path)
    >>> X.toarray().tolist(), y.tolist(), qid.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 0.001, 0.0]], [1.0, 0.0], [7, 7])
    """
    from scipy.sparse import csr_matrix

    require_polars_threads()
    if n_features is not None:
        check_integer("n_features", n_features)
    check_choice("zero_based", zero_based, (True, False, "auto"))
    path = find_source(path)
    low = int(zero_based is False)
    high = _MAX_INDEX if n_features is None else n_features - (zero_based is True)
    blocks: list[Any] = []
    n_lines = 0
    for text in _whole_lines(read_text(path, compression)[0]):
        with_queries = blocks[0][-1] is not None if blocks else None
        block = _parse(path, text, n_lines, low, high, with_queries)
        n_lines += text.count(b"\n")
        if block[0].size:
            blocks.append(block)
    if not blocks:
        raise DataFileError(f"{path}: the file holds no rows.")
    labels, n_values, indices, values, queries = zip(*blocks, strict=True)
    places: Any = np.concatenate(indices)
    # a file without any index is taken to count from zero
    is_auto = zero_based == "auto"
    places -= int(places.size > 0 and places.min() > 0) if is_auto else low
    n_columns = max(int(places.max(initial=-1)) + 1, 1)  # one at least, as scikit-learn
    if n_features is not None and n_columns > n_features:
        raise DataFileError(
            f"{path}: n_features is {n_features}, but index {n_columns - 1} and index "
            "0 both occur, so indices count from zero; pass "
            f"n_features={n_columns} or more."
        )
    n_columns = n_features or n_columns
    dtype: Any = np.int32 if max(n_columns, places.size) <= _MAX_INT32 else np.int64
    indptr = np.append(0, np.cumsum(np.concatenate(n_values)))
    entries = np.concatenate(values), places.astype(dtype, copy=False)
    shape = indptr.size - 1, n_columns
    X = csr_matrix((*entries, indptr.astype(dtype)), shape=shape, copy=False)
    X.has_canonical_format = True
    qid = None if queries[0] is None else np.concatenate(queries)
    return SvmlightData(X, np.concatenate(labels), qid)


def _parse(
    path: PathLike,
    text: bytes,
    n_lines: int,
    low: int,
    high: int,
    with_queries: bool | None,
) -> tuple[Any, ...]:
    """Return labels, numbers of values, indices, values and queries of whole lines."""
    text = text.translate(_BLANKS)
    lines = pl.Series(text.decode(errors="replace").split("\n")[:-1], dtype=pl.String)
    is_row = lines.str.contains("^ *[^ #]")
    places, lines = np.flatnonzero(is_row), lines.filter(is_row)
    is_well_formed = lines.str.contains(_ROW).to_numpy()
    rows = lines.filter(is_well_formed).str.replace("#.*", "")
    digits = rows.str.extract(_QUERY)
    queries, has_query = digits.cast(pl.Int64, strict=False), digits.is_not_null()
    rows = rows.str.replace(_QUERY, "")
    n_values = rows.str.count_matches(":", literal=True).to_numpy().astype(np.int64)
    tokens = rows.str.replace_all(":", " ", literal=True).str.split(" ").explode()
    numbers = tokens.filter(tokens != "").cast(pl.Float64).to_numpy()
    first = np.append(0, np.cumsum(1 + 2 * n_values))[:-1]
    labels, pairs = numbers[first], np.delete(numbers, first)
    indices, values = pairs[::2].astype(np.int64), pairs[1::2]
    row = np.repeat(np.arange(labels.size), n_values)
    if with_queries is None:
        with_queries = bool(has_query[:1].all())
    is_bad = ~np.isfinite(labels) | (queries.is_not_null() != with_queries).to_numpy()
    is_bad |= (has_query != with_queries).to_numpy()
    is_bad[row[(indices < low) | (indices > high) | ~np.isfinite(values)]] = True
    is_bad[row[1:][(np.diff(indices) <= 0) & (np.diff(row) == 0)]] = True
    is_flawed = ~is_well_formed
    is_flawed[is_well_formed] = is_bad
    for k in np.flatnonzero(is_flawed)[:1].tolist():
        raise DataFileError(
            f"{path}: line {n_lines + places[k] + 1}: {lines[k][:60]!r} is not a row: "
            "'label index:value ...' with finite numbers and ascending indices from "
            f"{low} to {high}, and a query after the label, such as qid:7, in all rows "
            "or none."
        )
    if indices.max(initial=0) <= _MAX_INT32:
        indices = indices.astype(np.int32)
    query_ids = queries.to_numpy() if with_queries else None
    return labels, n_values, indices, values, query_ids


def _whole_lines(text: bytes) -> Iterator[bytes]:
    """Yield blocks of whole lines, each ending with a newline."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + _BLOCK_BYTES) + 1 or len(text)
        block = text[start:end]
        yield block if block.endswith(b"\n") else block + b"\n"
        start = end
