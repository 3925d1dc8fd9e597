"""A few characters by which one sees that two tables are the same."""

from typing import Any

from aucmax._core.digest import digest_rows
from aucmax.tables._frames import as_table
from aucmax.tables.target import Target

__all__ = ["digest_table"]


def digest_table(X: Any, target: Target) -> str:
    """Digest a table and its target: names, kinds and cells of all columns.

    Parameters
    ----------
    X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
        Raw rows, without the target.
    target : Target
        What is ranked; of its columns the levels, queries and weights count.

    Returns
    -------
    str
        The first 16 hexadecimal digits of a SHA-256. The same table read from another
        file, or by another version of polars, has the same.

    Examples
    --------
    >>> import polars as pl
    >>> from aucmax.tables import encode_target, digest_table
    >>> table = pl.DataFrame({"age": [31, 42, None], "kind": ["a", "b", "a"]})
    >>> digest_table(table, encode_target([0, 1, 1]))
    '218ea2770e45e843'
    """
    return digest_rows(as_table(X), [target.labels, target.queries, target.weights])
