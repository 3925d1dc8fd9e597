"""Solvers: an objective and a regularizer in, a certified solution out."""

from aucmax.solvers.solver import Progress

__all__ = ["Progress"]
