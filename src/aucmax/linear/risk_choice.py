"""Which risk the parameters of a linear model and its queries ask for."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aucmax._validation import BoolArray, FloatArray, Queries, check_qid
from aucmax.exceptions import NotEnoughClassesError, OneClassQueryWarning
from aucmax.risks import BoxHinge, PairHinge, PartialHinge, PerQuery, Risk

__all__ = ["Part"]

_MOST_SHOWN = 3


@dataclass(frozen=True)
class Part:
    """The part of the ROC curve that counts.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float
        Lower and upper end.
    bound : {"tight", "loose"}
        Which bound of 1 - partial AUC is minimised.
    """

    fpr_range: Sequence[float]
    tpr_range: Sequence[float]
    bound: str

    def check(self, refine: bool) -> None:
        """Complain about a parameter, before any data are read."""
        box = PartialHinge(
            self.fpr_range, tpr_range=self.tpr_range, bound=self.bound
        ).rank_box()
        if refine and box.skip == 0.0:
            raise ValueError(
                f"refine=True needs fpr_range to start above 0 or tpr_range to end "
                f"below 1, got {self.fpr_range!r} and {self.tpr_range!r}: elsewhere "
                "the convex risk is the mean hinge of the pairs itself, and nothing "
                "is left to refine. Set refine=False."
            )

    def risk(
        self,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        qid: ArrayLike | None = None,
    ) -> Risk:
        """Return the convex risk of these rows, or complain that it has no pairs."""
        partial = PartialHinge(
            self.fpr_range, tpr_range=self.tpr_range, bound=self.bound
        )
        if qid is not None:
            queries = _check_queries(qid, labels, sample_weight)
            return PerQuery(partial, queries.codes)
        if tuple(map(float, (*self.fpr_range, *self.tpr_range))) == (0, 1, 0, 1):
            return PairHinge()  # the same risk without the choice of rows
        partial.check_sizes(labels, sample_weight)
        return partial

    def box(self) -> BoxHinge:
        """Return the risk of the part itself, which is not convex."""
        return BoxHinge(self.fpr_range, tpr_range=self.tpr_range)


def _check_queries(
    qid: ArrayLike, labels: BoolArray, sample_weight: FloatArray | None
) -> Queries:
    """Count the queries without pairs; complain if there are no others."""
    queries = check_qid(qid, labels.size)
    weights = np.ones(labels.size) if sample_weight is None else sample_weight
    counted = weights > 0.0
    sizes = np.bincount(
        (2 * queries.codes + labels)[counted], minlength=2 * queries.n_queries
    )
    skipped = np.flatnonzero(~sizes.reshape(-1, 2).all(axis=1))
    if skipped.size == queries.n_queries:
        raise NotEnoughClassesError(
            f"None of the {queries.n_queries} queries has rows of both classes, so "
            "there is nothing to rank. Check that qid numbers queries, not rows."
        )
    if skipped.size:
        shown = ", ".join(str(queries.ids[k]) for k in skipped[:_MOST_SHOWN])
        more = ", ..." if skipped.size > _MOST_SHOWN else ""
        warnings.warn(
            f"{skipped.size} of the {queries.n_queries} queries have rows of one class "
            f"only (qid {shown}{more}); they contribute nothing.",
            OneClassQueryWarning,
            stacklevel=4,
        )
    return queries
