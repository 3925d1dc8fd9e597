"""Which risk the parameters of a linear model and its queries ask for."""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from aucmax._validation import BoolArray, FloatArray, Queries, check_qid
from aucmax.exceptions import NotEnoughClassesError, OneClassQueryWarning
from aucmax.risks import PairHinge, PartialHinge, PerQuery, Risk

__all__ = ["check_refinable", "choose_risk"]

_MOST_IDS_SHOWN = 3  # in a warning


def check_refinable(partial: PartialHinge, qid: ArrayLike | None) -> None:
    """Complain if the convex risk leaves nothing to refine, or if there are queries."""
    if partial.rank_box().skip == 0.0:
        raise ValueError(
            f"refine=True needs fpr_range to start above 0 or tpr_range to end below "
            f"1, got {partial.fpr_range!r} and {partial.tpr_range!r}: elsewhere the "
            "convex risk is the mean hinge of the pairs itself, and nothing is left "
            "to refine. Set refine=False."
        )
    if qid is not None:
        raise ValueError(
            "refine=True is for one ranking of all rows, not for queries. Set "
            "refine=False, or leave out qid."
        )


def choose_risk(
    partial: PartialHinge,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    qid: ArrayLike | None,
) -> Risk:
    """Return the convex risk of these rows, or complain that it has no pairs."""
    if qid is not None:
        queries = _check_queries(qid, labels, sample_weight)
        return PerQuery(partial, queries.codes)
    if tuple(map(float, (*partial.fpr_range, *partial.tpr_range))) == (0, 1, 0, 1):
        return PairHinge()  # the same risk without the choice of rows
    partial.check_sizes(labels, sample_weight)
    return partial


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
        shown = ", ".join(str(queries.ids[k]) for k in skipped[:_MOST_IDS_SHOWN])
        more = ", ..." if skipped.size > _MOST_IDS_SHOWN else ""
        warnings.warn(
            f"{skipped.size} of the {queries.n_queries} queries have rows of one class "
            f"only (qid {shown}{more}); they contribute nothing.",
            OneClassQueryWarning,
            stacklevel=4,
        )
    return queries
