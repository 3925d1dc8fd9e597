"""Rows written as ``label qid:id index:value ... # comment``.

The format of SVM-light, of LIBSVM and of the LETOR ranking collections. A compiled loop
reads about a mebibyte of whole lines at a time, each number rounded correctly.
"""

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax.datasets.opening import PathLike

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class SvmlightData(NamedTuple):
    """The rows of an svmlight file.

    Attributes
    ----------
    X : csr_matrix of shape (n_samples, n_features)
        The values, float64; indices int32 wherever they fit.
    y : ndarray of shape (n_samples,)
        The labels, float64.
    qid : ndarray of shape (n_samples,), or None
        The query of each row, int64; None if the file names no queries.
    """

    X: "csr_matrix[np.float64]"
    y: Floats
    qid: Integers | None


class LetorData(NamedTuple):
    """The rows of a LETOR file.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The values, float64; a feature that a line does not name is 0.
    y : ndarray of shape (n_samples,)
        The relevance labels, float64.
    qid : ndarray of shape (n_samples,)
        The query of each row, int64.
    """

    X: Floats
    y: Floats
    qid: Integers


def load_svmlight(
    path: PathLike,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    compression: str = "auto",
) -> SvmlightData:
    r"""Read an svmlight (LIBSVM) file into a sparse matrix.

    Each line is ``label [qid:query] [index:value ...] [# comment]``; blank lines and
    lines with only a comment are skipped. Values are the float64 nearest to the decimal
    written, so they equal those of scikit-learn's reader bit for bit. The file is read
    about a mebibyte at a time; beyond the result, less than 100 MiB is held.

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
        If the file cannot be read. The message names file, line and column (the
        character within the line).

    Notes
    -----
    Stricter than `sklearn.datasets.load_svmlight_file`, where its leniency loses data:
    ``nan``, ``inf`` and numbers that overflow are errors; so are files in which only
    some rows have a ``qid:`` or one is not an integer, files without any row, and
    digits grouped with an underscore. More lenient: an index may exceed 32 bits, and a
    byte order mark is skipped.

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
    from aucmax.datasets._svmlight_parser import Growing, SparseRows, SvmlightParser

    parser = SvmlightParser(path, n_features, zero_based)
    rows, y, qid = SparseRows(), Growing(np.float64), Growing(np.int64)
    for block in parser.read(compression):
        rows.append(block)
        y.extend(block.labels)
        qid.extend(block.queries)
    X = rows.finish(parser.n_columns(), parser.offset)
    return SvmlightData(X, y.finish(), qid.finish() if parser.has_queries else None)


def load_letor(
    path: PathLike,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    compression: str = "auto",
) -> LetorData:
    """Read a LETOR ranking file into a dense array.

    Each line is ``label qid:query index:value ... [# comment]``; the query is required.
    Otherwise as `load_svmlight`, whose notes apply.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed (.gz, .bz2, .xz; .zst with ``aucmax[zstd]``).
    n_features, zero_based, compression : optional
        As in `load_svmlight`.

    Returns
    -------
    LetorData
        A named tuple ``X, y, qid``.

    Raises
    ------
    DataFileError
        If the file cannot be read, a row has no query, or the rows are so sparse that
        a dense array would be mostly zeros above 1 GiB.
    """
    from aucmax.datasets._svmlight_parser import DenseRows, Growing, SvmlightParser

    parser = SvmlightParser(path, n_features, zero_based, needs_queries=True)
    rows, y, qid = DenseRows(path), Growing(np.float64), Growing(np.int64)
    for block in parser.read(compression):
        rows.append(block, parser.n_columns(), parser.offset)
        y.extend(block.labels)
        qid.extend(block.queries)
    return LetorData(rows.finish(), y.finish(), qid.finish())
