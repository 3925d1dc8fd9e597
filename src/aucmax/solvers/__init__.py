"""Solvers: an objective and a regularizer in, a certified solution out.

Internal but for `Progress`, which callbacks get: the rest may change without notice.
"""

from aucmax.solvers.solver import Progress

__all__ = ["Progress"]
