"""The heuristic for nu+: problems (9) and (7) in turn, down to a local minimum."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aucmax.margin.problem import MarginProblem, MarginResult
from aucmax.margin.pruning import pruned
from aucmax.margin.request import Request
from aucmax.margin.sizes import ClassSizes
from aucmax.risks import InstanceMargin, TangentMargin

__all__ = ["CLOSER", "CurvePoint", "descend", "solve_closely"]

CLOSER = 0.25  # of the tolerance, to which a point of the curve is solved
_LOOSENESS = (10.0, 1.0)  # of problem (9), which at first only has to show the way
_NEIGHBOURS = (1.0 / 1.05, 1.05)  # times nu+: where else a lower margin is looked for
_MOST_ROUNDS = 1000  # each lowers the margin by at least the tolerance; few are needed


class CurvePoint(NamedTuple):
    """The reduction's solution for one nu+."""

    nu_pos: float
    result: MarginResult


def solve_closely(
    problem: MarginProblem,
    nu: float,
    nu_pos: float,
    start: MarginResult,
    *,
    reuse_cuts: bool = False,
    enough: float = np.inf,
) -> CurvePoint:
    """Solve the reduction at one nu+ well within the tolerance.

    The gap left is at most half the tolerance, so that two such points compare.
    """
    risk = InstanceMargin(nu_pos, nu / nu_pos)
    result = problem.solve(
        risk, start, reuse_cuts=reuse_cuts, looseness=CLOSER, enough=enough
    )
    if result.margin < enough:
        result = pruned(problem, risk, result, 2.0 * CLOSER)
    return CurvePoint(nu_pos, replace(result, cuts=None))


def descend(
    problem: MarginProblem, request: Request, start: MarginResult | None
) -> list[CurvePoint]:
    """Walk down the curve gamma_hat(nu+); return the points on the way.

    A step is taken where the margin there, gap included, is below the margin here by
    the tolerance at least: so margins fall.
    """
    nu = request.product
    nu_pos, nu_neg = request.nus()
    here = CurvePoint(nu_pos, problem.solve(InstanceMargin(nu_pos, nu_neg), start))
    path: list[CurvePoint] = []
    for _ in range(_MOST_ROUNDS):
        lower = _lower_neighbour(problem, request.sizes, nu, here)
        if lower is None:
            break
        path.append(CurvePoint(here.nu_pos, replace(here.result, cuts=None)))
        here = lower
    if problem.limits.is_over:
        return [*path, here._replace(result=replace(here.result, converged=False))]
    last = solve_closely(problem, nu, here.nu_pos, here.result, reuse_cuts=True)
    return [*path, last]


def _lower_neighbour(
    problem: MarginProblem, sizes: ClassSizes, nu: float, here: CurvePoint
) -> CurvePoint | None:
    """Find a point of the curve that is lower by the tolerance, if one is near."""
    margin = here.result.margin
    aim = margin - problem.tolerance(margin)
    for there, start in _candidates(problem, sizes, nu, here, aim):
        if problem.limits.is_over:
            break
        risk = InstanceMargin(there, nu / there)
        result = problem.solve(risk, start, enough=aim)
        if result.margin < aim and result.margin + result.gap < margin:
            return CurvePoint(there, result)
    return None


def _candidates(
    problem: MarginProblem,
    sizes: ClassSizes,
    nu: float,
    here: CurvePoint,
    aim: float,
) -> Iterator[tuple[float, MarginResult]]:
    """Yield nu+ that may have a margin below the aim, and where to start from.

    First that of problem (9), loosely and if need be closely solved. If (9) is nowhere
    below a margin reached, it finds no fall; but that can be said of a maximum of the
    curve as well, so both sides are looked at.
    """
    tangent: MarginResult | None = None
    for looseness in _LOOSENESS:
        if problem.limits.is_over:
            return
        tangent = problem.solve(
            TangentMargin(nu, here.nu_pos),
            tangent or here.result,
            keep_row_weights=True,
            reuse_cuts=tangent is not None,  # those of the same problem
            looseness=looseness,
            enough=aim,
        )
        if tangent.margin >= aim:
            break
        yield _nu_pos_allowed(problem, sizes, tangent, nu, here.nu_pos), tangent
    for factor in _NEIGHBOURS:
        there = float(np.clip(factor * here.nu_pos, *sizes.nu_pos_range(nu)))
        if there != here.nu_pos:
            yield there, here.result


def _nu_pos_allowed(
    problem: MarginProblem,
    sizes: ClassSizes,
    tangent: MarginResult,
    nu: float,
    center: float,
) -> float:
    """Read off problem (9)'s nu+ from its dual solution.

    The row weights d allow every nu+ from ``nu max(d- / w)`` to the one where the
    tangent falls to ``max(d+ / w)``; all of them are optimal. The middle is taken.
    """
    if tangent.row_weights is None:
        raise AssertionError("problem (9) is solved with its row weights")
    shares = np.abs(2.0 * tangent.row_weights)
    if problem.sample_weight is not None:
        shares /= problem.sample_weight
    least = nu * float(shares[~problem.labels].max())
    most = center * (2.0 - center * float(shares[problem.labels].max()))
    return float(np.clip((least + most) / 2.0, *sizes.nu_pos_range(nu)))
