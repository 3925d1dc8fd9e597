"""Fits on Dask collections, with the same results as in memory.

Needs the extra ``aucmax[dask]``. Checks of columns and estimators call the functions
below for a Dask array, series or frame; nothing else loads this package. Metrics gather
their columns (8 bytes per row) and are computed in this process.
"""

from typing import Any

try:
    import dask as _dask  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "Dask collections need the extra: pip install 'aucmax[dask]'."
    ) from error

from aucmax._core.dask_dispatch import IMPLEMENTATIONS
from aucmax.dask.parted_features import check_parted_features, map_rows
from aucmax.dask.partitions import collect


def _fit_trees(*args: Any) -> dict[str, Any]:
    from aucmax.dask.tree_training import fit_trees  # needs XGBoost

    return fit_trees(*args)


IMPLEMENTATIONS |= {
    "check_features": check_parted_features,
    "collect": collect,
    "map_rows": map_rows,
    "fit_trees": _fit_trees,
}
