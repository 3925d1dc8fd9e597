"""HiGHS never gets the last word: odd endings, wrong answers and Ctrl-C."""

import os
import signal
import time
from threading import Timer

import numpy as np
import pytest
from scipy import sparse

from aucmax.graphs import linear_program
from aucmax.graphs.linear_program import BoxProgram, solve_box_program


def corner(costs=(-1.0, -2.0), high=4.0):
    """Two variables in [0, 3] with a sum of at most `high`, a difference from -1.

    A third one, in [0, 1], must be 1.
    """
    return BoxProgram(
        np.array([*costs, 0.0]),
        sparse.csc_array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]),
        np.array([high, 1.0]),
        sparse.csc_array([[0.0, 0.0, 1.0]]),
        np.array([1.0]),
        np.zeros(3),
        np.array([3.0, 3.0, 1.0]),
    )


def solve(program, time_limit=None):
    return solve_box_program(program, time_limit)


def slow_program():
    """A dense random program that takes HiGHS many seconds."""
    generator = np.random.default_rng(0)
    m, n = 1500, 1500
    matrix = sparse.csc_array(generator.uniform(0.0, 1.0, (m, n)))
    return BoxProgram(
        -generator.uniform(0.5, 1.5, n),
        matrix,
        generator.uniform(0.2, 0.3, m) * n,
        sparse.csc_array(np.ones((1, n))),
        np.array([0.4 * n]),
        np.zeros(n),
        np.ones(n),
    )


def test_a_small_program_is_solved():
    np.testing.assert_allclose(solve(corner()), [1.5, 2.5, 1.0])


def test_any_multipliers_prove_a_lower_bound():
    program = corner()
    generator = np.random.default_rng(0)
    multipliers = generator.normal(size=(200, 3))
    bounds = [program.lower_bound(y[:2], y[2:]) for y in multipliers]
    assert max(bounds) <= -6.5 + 1e-12
    best = program.lower_bound(np.array([-1.5, -0.5]), np.zeros(1))
    assert best == pytest.approx(-6.5)
    assert np.isfinite(bounds).all()


def test_the_residual_is_the_worst_broken_bound():
    assert corner().residual(np.array([1.5, 2.5, 1.0])) == 0.0
    assert corner().residual(np.array([3.0, 2.0, 1.0])) == pytest.approx(1.0)
    assert corner().residual(np.array([-0.5, 0.0, 1.0])) == pytest.approx(0.5)
    assert corner().residual(np.array([1.0, 1.0, 0.25])) == pytest.approx(0.75)


def test_an_impossible_program_is_an_error_with_its_status():
    with pytest.raises(RuntimeError, match=r"found no optimum: .*[Ii]nfeasible"):
        solve(corner(high=-1.0))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_costs_that_are_not_finite_are_rejected(bad):
    with pytest.raises(ValueError, match="c must not contain values inf, nan"):
        solve(corner(costs=(bad, 1.0)))


def test_a_wrong_answer_called_optimal_is_found_out(monkeypatch):
    run, marginals = linear_program.linprog, np.array([-1.5, -0.5])

    def lie(**arguments):
        found = run(**arguments)
        found.x, found.ineqlin.marginals = np.array([1.0, 1.0, 1.0]), marginals
        return found

    monkeypatch.setattr(linear_program, "linprog", lie)
    with pytest.raises(RuntimeError, match=r"has a gap of 3\.5 at a value of -3"):
        solve(corner())
    marginals[0] = np.nan
    with pytest.raises(RuntimeError, match="not finite"):
        solve(corner())


@pytest.mark.slow
def test_time_limits_are_checked_and_kept():
    with pytest.raises(ValueError, match="time_limit must be positive or None, got 0"):
        solve(corner(), time_limit=0.0)
    with pytest.raises(TimeoutError, match=r"1,500 variables within time_limit=0\.1"):
        solve(slow_program(), time_limit=0.1)


def test_an_error_of_scipy_reaches_the_caller(monkeypatch):
    def fail(**arguments):
        raise MemoryError("no memory left")

    monkeypatch.setattr(linear_program, "linprog", fail)
    with pytest.raises(MemoryError, match="no memory left"):
        solve(corner())


def test_the_keyboard_stops_it():
    # the solve would take many seconds; the limit ends the thread soon after
    program = slow_program()
    timer = Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        solve(program, time_limit=3.0)
    assert time.monotonic() - start < 2.0
