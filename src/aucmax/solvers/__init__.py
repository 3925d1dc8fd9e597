"""How do we get there? Objective and regularizer in; a certified solution out."""

from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.column_newton import ColumnNewtonSolver, suits_column_steps
from aucmax.solvers.descent import DescentSolver
from aucmax.solvers.level_bundle import LevelBundleSolver
from aucmax.solvers.smoothed_newton import SmoothedNewtonSolver
from aucmax.solvers.solver import (
    Objective,
    Point,
    Progress,
    Solution,
    Solver,
    Start,
    StoppingRule,
)
from aucmax.solvers.subgradient import SubgradientSolver

__all__ = [
    "BundleSolver",
    "ColumnNewtonSolver",
    "DescentSolver",
    "LevelBundleSolver",
    "Objective",
    "Point",
    "Progress",
    "SmoothedNewtonSolver",
    "Solution",
    "Solver",
    "Start",
    "StoppingRule",
    "SubgradientSolver",
    "suits_column_steps",
]
