"""The risk that the parameters of a linear model and its queries define."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax import risks
from aucmax._core.parameters import check_choice, check_range
from aucmax._core.validation import BoolArray, FloatArray, IntArray, check_qid
from aucmax.exceptions import IncompatibleError, OneClassQueryWarning

_MAX_IDS_SHOWN = 3  # in a warning
_ACCURACY_OF_CERTIFICATES = 1e-10  # of the slopes that certificates are made of


def check_loss(loss: str, partial: risks.PartialHinge) -> None:
    """Reject a loss that is unknown, or that does not support the ranges."""
    check_choice("loss", loss, (*PAIR_RISKS, "cox"))
    if loss == "sigmoid":
        check_range("fpr_range", partial.fpr_range)
        check_range("tpr_range", partial.tpr_range)
    elif partial.rank_box().skip > 0.0 and loss == "logistic":
        raise ValueError(
            f"loss='logistic' needs an fpr_range from 0 and a tpr_range to 1, got "
            f"{partial.fpr_range!r} and {partial.tpr_range!r}. Use loss='sigmoid', "
            "which supports any range."
        )


def choose_risk(
    loss: str,
    partial: risks.PartialHinge,
    labels: NDArray[Any],
    sample_weight: FloatArray | None,
    qid: ArrayLike | None,
) -> risks.BoundRisk:
    """Return the risk of these rows; raise an error if it has no pairs."""
    if labels.dtype.names is not None:
        check_whole_range(partial)
        return survival_risk(loss).bind(labels, sample_weight, qid)
    if loss == "cox":
        raise IncompatibleError(
            "loss='cox' needs a y with events and times, but y has labels. "
            "aucmax.metrics.survival_target(event, time) makes such a y; for two "
            "classes use loss='logistic'."
        )
    queries = None
    if qid is None:
        partial.check_sizes(labels, sample_weight)
    else:
        queries = _check_queries(qid, labels, sample_weight)
    return PAIR_RISKS[loss](partial).bind(labels, sample_weight, queries)


def check_whole_range(partial: risks.PartialHinge) -> None:
    """Reject a part of the ROC curve, which censored times do not have."""
    if not _is_whole(partial):
        raise IncompatibleError(
            f"fpr_range={partial.fpr_range!r} and tpr_range={partial.tpr_range!r} "
            "choose a part of the ROC curve, which needs two classes, but y has events "
            "and times. Leave the ranges at (0, 1)."
        )


def survival_risk(loss: str, accuracy: float = _ACCURACY_OF_CERTIFICATES) -> risks.Risk:
    """Return the risk of censored times."""
    if loss == "cox":
        return risks.CoxLikelihood()
    return risks.Concordance(loss, accuracy=accuracy)


def convex_risks(partial: risks.PartialHinge, *rows: Any) -> dict[str, risks.BoundRisk]:
    """Return the risks of labels, weights, queries that bounded losses start from."""
    if rows[0].dtype.names is not None:
        return {loss: survival_risk(loss).bind(*rows) for loss in ("hinge", "cox")}
    whole = risks.PartialHinge()
    bound_risks = {
        loss: PAIR_RISKS[loss](whole).bind(*rows) for loss in ("hinge", "logistic")
    }
    starts_at_end = partial.fpr_range[0] == 0.0 or partial.tpr_range[1] == 1.0
    if starts_at_end and not _is_whole(partial):
        bound_risks["hinge of the range"] = partial.bind(*rows)
    return bound_risks


def _is_whole(partial: risks.PartialHinge) -> bool:
    return (*partial.fpr_range, *partial.tpr_range) == (0, 1, 0, 1)


#: from the name of a loss to what makes its risk of a range; "cox" has none
PAIR_RISKS: dict[str, Callable[[risks.PartialHinge], risks.Risk]] = {
    # the same risk without the choice of rows
    "hinge": lambda partial: risks.PairHinge() if _is_whole(partial) else partial,
    "logistic": lambda partial: risks.PairLogistic(
        fpr_range=partial.fpr_range,
        tpr_range=partial.tpr_range,
        accuracy=_ACCURACY_OF_CERTIFICATES,
    ),
    "sigmoid": lambda partial: risks.PairSigmoid(
        partial.fpr_range, tpr_range=partial.tpr_range
    ),
}


def _check_queries(
    qid: ArrayLike, labels: BoolArray, sample_weight: FloatArray | None
) -> IntArray:
    """Return query codes; warn of queries without pairs, if there are others."""
    queries = check_qid(qid, labels.size)
    groups = 2 * queries.codes + labels
    if sample_weight is not None:
        groups = groups[sample_weight > 0.0]
    sizes = np.bincount(groups, minlength=2 * queries.n_queries)
    skipped = np.flatnonzero(~sizes.reshape(-1, 2).all(axis=1))
    if 0 < skipped.size < queries.n_queries:
        shown = ", ".join(str(queries.ids[k]) for k in skipped[:_MAX_IDS_SHOWN])
        more = ", ..." if skipped.size > _MAX_IDS_SHOWN else ""
        warnings.warn(
            f"{skipped.size} of the {queries.n_queries} queries have rows of one class "
            f"only (qid {shown}{more}); they contribute nothing.",
            OneClassQueryWarning,
            stacklevel=5,
        )
    return queries.codes
