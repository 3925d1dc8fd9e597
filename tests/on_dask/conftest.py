import pytest


@pytest.fixture
def in_this_thread():
    """Compute in this thread, without a cluster."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield
