"""The minimum of a convex round, by one quadratic program for all graphs together."""

import cvxpy as cp
import numpy as np


def convex_minimum(items, C, linear, first_bounded):
    """Return the least penalty plus C times the mean risk less a linear part.

    A maximum over chains is a linear program, and by duality the least of another one
    whose constraints are linear in the weights. So all is one minimum.
    """
    n = linear.size
    w = cp.Variable(n)
    rules = [w[first_bounded:] >= 0.0] if first_bounded < n else []
    risk = -linear @ w
    for item in items:
        zero = item.polytope(np.zeros(n), "loss_augmented")
        # what each weight adds to the gains, which are linear in the weights
        gains = np.stack(
            [item.polytope(unit, "loss_augmented").gain for unit in np.eye(n)], axis=1
        )
        gains -= zero.gain[:, None]
        multipliers = cp.Variable(len(zero.equal))
        covered = np.array(zero.equal).T @ multipliers
        if zero.at_most:
            covered += np.array(zero.at_most).T @ cp.Variable(
                len(zero.at_most), nonneg=True
            )
        rules.append(covered >= zero.gain + gains @ w)
        highest = np.array(zero.equal_to) @ multipliers + item.best
        risk += highest / item.loss_range / len(items)
    total = cp.sum_squares(w) / 2 + C * risk
    problem = cp.Problem(cp.Minimize(total), rules)
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    return problem.solve(solver=cp.CLARABEL, **tight)
