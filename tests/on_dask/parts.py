"""Arrays in parts, and clusters on this machine."""

import dask.array as da
from distributed import LocalCluster


def cut(values, chunks=350):
    """Return an array in parts of whole rows."""
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


def local_cluster(n_workers=2, *, threads_per_worker=1, **options):
    """Start workers that listen on this machine only, without a dashboard."""
    loopback = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    return LocalCluster(
        n_workers,
        threads_per_worker=threads_per_worker,
        scheduler_kwargs=loopback,
        **options,
    )
