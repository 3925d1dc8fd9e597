"""The best ranking of a table in one line, with an honest number."""

from aucmax.auto.auto_ranker import AutoRanker
from aucmax.auto.candidates import CANDIDATES
from aucmax.auto.search import AutoProgress

__all__ = ["CANDIDATES", "AutoProgress", "AutoRanker"]
