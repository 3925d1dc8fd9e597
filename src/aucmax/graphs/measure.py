"""Which top sets of a ranking count, and how a ranking is judged."""

from dataclasses import dataclass

import numpy as np

from aucmax._core.parameters import check_choice
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.metrics import auc_at_k_score, binned_auc_score, roc_auc_score
from aucmax.metrics.top_sets import Bins, TopSets, check_bins, check_k

__all__ = ["METRICS", "Measure"]

METRICS = ("auc", "binned", "at_k", "unnested")


@dataclass(frozen=True, eq=False)
class Measure:
    """The AUC, or one of its generalisations."""

    metric: str  # one of `METRICS`
    bins: Bins  # for "binned": see `TopSets.binned`
    k: int  # for "at_k": how many of the first nodes count

    def check(self) -> None:
        """Complain about a parameter, before any data are read."""
        check_choice("metric", self.metric, METRICS)
        if self.metric == "binned":
            check_bins(self.bins)
        if self.metric == "at_k":
            check_k(self.k)

    @property
    def is_nested(self) -> bool:
        """Whether the sets of a ranking must hold each other."""
        return self.metric != "unnested"

    def top_sets(self, node_offsets: IntArray) -> list[TopSets]:
        """Return the top sets of each graph that count."""
        made: dict[int, TopSets] = {}
        for n in np.diff(node_offsets).tolist():
            if n not in made:
                made[n] = self._top_sets(n)
        return [made[n] for n in np.diff(node_offsets).tolist()]

    def mean_score(
        self, labels: BoolArray, scores: FloatArray, graph: IntArray
    ) -> float:
        """Return the mean over the graphs that have nodes of both classes.

        `graph` has the number of its graph for each node.
        """
        if self.metric == "binned":
            return binned_auc_score(labels, scores, bins=self.bins, qid=graph)
        if self.metric == "at_k":
            return auc_at_k_score(labels, scores, k=self.k, qid=graph)
        return roc_auc_score(labels, scores, qid=graph)

    def _top_sets(self, n: int) -> TopSets:
        if self.metric == "binned":
            return TopSets.binned(n, self.bins)
        if self.metric == "at_k":
            return TopSets.up_to(n, self.k)
        return TopSets.every(n)
