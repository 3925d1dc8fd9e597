"""One thread for products while anyone needs it, and as many as before after that."""

import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  brings a BLAS of its own
from threadpoolctl import threadpool_info, threadpool_limits

from aucmax import MarginRanker
from aucmax._blas import one_blas_thread


def blas_threads():
    libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return {one["num_threads"] for one in libraries}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, "blas"):
        if blas_threads() != {2}:
            pytest.skip("the BLAS of this machine has no threads to limit")
        yield


def test_products_use_one_thread_inside_and_as_many_as_before_after_that():
    def fail():
        with one_blas_thread():
            seen.append(blas_threads())
            raise KeyError

    seen = []
    with pytest.raises(KeyError):
        fail()
    assert seen == [{1}]
    assert blas_threads() == {2}


def test_the_last_of_several_users_lifts_the_limit():
    second_is_in, first_is_out = threading.Event(), threading.Event()
    seen = []

    def second():
        with one_blas_thread():
            second_is_in.set()
            first_is_out.wait(10.0)
            seen.append(blas_threads())

    thread = threading.Thread(target=second)
    with one_blas_thread():
        thread.start()
        assert second_is_in.wait(10.0)
    first_is_out.set()
    thread.join()
    assert seen == [{1}]
    with one_blas_thread():  # OpenBLAS listens to the main thread alone
        pass
    assert blas_threads() == {2}


@pytest.mark.parametrize("n_columns", [5, 500])
def test_small_systems_are_solved_by_one_thread(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, n_columns))
    y = X[:, 0] + rng.normal(size=80) > 0.0
    seen = []
    model = MarginRanker(
        "instances",
        epsilon=0.1,
        hypotheses="stumps" if n_columns == 5 else "signed",
        callback=lambda _: seen.append(blas_threads()),
    )
    model.fit(X, y)
    assert {1} in seen
    assert blas_threads() == {2}
