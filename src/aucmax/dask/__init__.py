"""Data past one machine: the same numbers from Dask's collections.

Needs the extra ``aucmax[dask]``. Metrics and estimators enter this room by themselves
when they are handed an array, a series or a frame of Dask; nothing else loads it.
"""

try:
    import dask as _dask  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "collections of Dask need the extra: pip install 'aucmax[dask]'."
    ) from error
