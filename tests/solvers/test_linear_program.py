"""HiGHS never gets the last word: bad numbers, odd endings and Ctrl-C."""

import os
import signal
import time
from threading import Timer

import numpy as np
import pytest

from aucmax.datasets import make_r_of_k
from aucmax.solvers import linear_program
from aucmax.solvers.linear_program import LinearModel, solve_program
from margin_programs import solve_pairs

METHODS = pytest.mark.parametrize("method", sorted(linear_program.METHODS))


def corner(costs=(-1.0, -2.0), entries=((1.0, 1.0), (1.0, -1.0)), high=4.0):
    """Two variables in [0, 3] with a sum of at most `high`, a difference from -1."""
    model = LinearModel()
    first = model.variables(1, high=3.0, reach=3.0, cost=costs[0])
    second = model.variables(1, high=3.0, reach=3.0, cost=costs[1])
    for row, (low, top) in zip(entries, ((-np.inf, high), (-1.0, np.inf)), strict=True):
        model.constrain([(first, [[row[0]]]), (second, [[row[1]]])], low, top)
    return model.program()


@METHODS
def test_a_small_program_is_solved_with_a_closed_gap(method):
    solution = solve_program(corner(), method=method)
    np.testing.assert_allclose(solution.x, [1.5, 2.5])
    assert solution.value == pytest.approx(-6.5)
    assert abs(solution.gap) < 1e-12
    np.testing.assert_allclose(solution.multipliers, [-1.5, 0.5])


def test_any_multipliers_prove_a_lower_bound():
    program = corner()
    generator = np.random.default_rng(0)
    bounds = [program.lower_bound(generator.normal(size=2)) for _ in range(200)]
    assert max(bounds) <= -6.5 + 1e-12
    assert program.lower_bound(np.array([-1.5, 0.5])) == pytest.approx(-6.5)
    assert np.isfinite(bounds).all()


def test_the_residual_is_the_worst_broken_bound():
    assert corner().residual(np.array([1.5, 2.5])) == 0.0
    assert corner().residual(np.array([3.0, 2.0])) == pytest.approx(1.0)
    assert corner().residual(np.array([-0.5, 0.0])) == pytest.approx(0.5)


@METHODS
def test_an_impossible_program_is_an_error_with_its_status(method):
    with pytest.raises(RuntimeError, match=r"found no optimum: .*[Ii]nfeasible"):
        solve_program(corner(high=-1.0), method=method)


@METHODS
def test_an_unbounded_program_is_an_error(method):
    model = LinearModel()
    free = model.variables(2, low=-np.inf, reach=1.0, cost=1.0)
    model.constrain([(free, [[1.0, -1.0]])], high=1.0)
    with pytest.raises(RuntimeError, match="HiGHS found no optimum"):
        solve_program(model.program(), method=method)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_never_reachlinear_program(bad, monkeypatch):
    monkeypatch.setattr(linear_program, "linprog", None)
    with pytest.raises(ValueError, match="cost of a linear program must be finite"):
        solve_program(corner(costs=(bad, 1.0)))
    with pytest.raises(ValueError, match="matrix of a linear program must be finite"):
        solve_program(corner(entries=((1.0, bad), (1.0, -1.0))))
    with pytest.raises(ValueError, match="row_high of a linear program holds NaN"):
        solve_program(corner(high=np.nan))


def test_entries_that_highs_would_refuse_are_refused_with_the_value():
    with pytest.raises(ValueError, match=r"1e\+200"):
        solve_program(corner(entries=((1.0, 1e200), (1.0, -1.0))))


def test_tiny_entries_are_left_out_and_the_gap_knows():
    solution = solve_program(corner(entries=((1.0, 1.0), (1e-12, -1.0))))
    assert 0.0 < abs(solution.gap) < 1e-11


def test_a_wrong_answer_called_optimal_is_found_out(monkeypatch):
    solve, marginals = linear_program.linprog, np.array([-1.5, -0.5])

    def lie(**arguments):
        found = solve(**arguments)
        found.x, found.ineqlin.marginals = np.array([1.0, 1.0]), marginals
        return found

    monkeypatch.setattr(linear_program, "linprog", lie)
    with pytest.raises(RuntimeError, match=r"whose gap is 3\.5 at a value of -3"):
        solve_program(corner())
    marginals[0] = np.nan
    with pytest.raises(RuntimeError, match="not finite"):
        solve_program(corner())


def test_time_limits_and_methods_are_checked_and_kept():
    with pytest.raises(ValueError, match="time_limit must be positive or None, got 0"):
        solve_program(corner(), time_limit=0.0)
    with pytest.raises(ValueError, match="'interior-point' or 'simplex', got 'newton'"):
        solve_program(corner(), method="newton")
    H, y = make_r_of_k(240, 60, r=3, k=10, label_noise=0.05, random_state=0)
    options = {"method": "simplex", "time_limit": 0.1}
    with pytest.raises(TimeoutError, match=r"time_limit=0\.1 seconds"):
        solve_pairs(H, y == 1, 3000.0, weights_set="l1", **options)


def test_an_error_of_scipy_reaches_the_caller(monkeypatch):
    def fail(**arguments):
        raise MemoryError("no memory left")

    monkeypatch.setattr(linear_program, "linprog", fail)
    with pytest.raises(MemoryError, match="no memory left"):
        solve_program(corner())


def test_the_keyboard_stops_it():
    # the solve would take many seconds; the limit ends the thread soon after
    X, y = make_r_of_k(240, 60, r=3, k=10, label_noise=0.05, random_state=0)
    timer = Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    options = {"method": "simplex", "time_limit": 3.0}
    with pytest.raises(KeyboardInterrupt):
        solve_pairs(X, y == 1, 3000.0, weights_set="l1", **options)
    assert time.monotonic() - start < 2.0
