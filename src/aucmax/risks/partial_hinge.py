"""The hinge over the pairs of a part of the ROC curve: the risk of SVMpAUC."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.parameters import check_range
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks.bound_hinge import BoundHinge, RankBox

_MAX_SHORTFALL = 1e-9  # of a row, by which a rounded range may miss it


@dataclass(eq=False, repr=False)
class PartialHinge(BaseEstimator):
    r"""Mean hinge over the pairs of a part of the ROC curve, above 1 - partial AUC.

    Negatives are ranked from the highest score down, positives from the lowest up. With
    ``fpr_range=(0, b)`` and ``tpr_range=(c, 1)`` the first :math:`b W_-` of the
    negatives and the first :math:`(1 - c) W_+` of the positives count, where
    :math:`W_\pm` are the weights of the classes (numbers of rows by default). A row at
    which a range ends counts in part, :math:`c_j \le w_j`, :math:`u_i \le w_i`:

    .. math:: R(s) = \frac{1}{b W_- \, (1 - c) W_+} \sum_{i \in P} \sum_{j \in N}
              u_i c_j \max(0, 1 - s_i + s_j)

    This is the largest such mean over all choices of rows, hence convex. It is
    :class:`PairHinge` where the ranges are whole. The other risks are structural:
    over all orders :math:`\pi` of the rows, with all sums over pairs and their parts,

    .. math:: R(s) = \frac{1}{(b - a) W_- \, (d - c) W_+} \max_\pi \Big\{
              \ell(\pi) + \sum_{j \prec_\pi i} u_i c_j (s_j - s_i) \Big\}

    where :math:`j \prec_\pi i` are the pairs that the order gets wrong, and
    :math:`\ell` is the weight of those with both ranks, in this order, inside of the
    ranges. ``bound="tight"`` also chooses, at their worst, the rows that take part: the
    first negatives up to :math:`b W_-`, the first positives up to :math:`(1-c) W_+`.
    ``bound="loose"`` orders all rows, which adds :math:`\max(0, s_j - s_i)` for each
    pair with a row outside. Thus 1 - partial AUC <= tight <= loose. All are convex,
    at least 0, and 1 for constant scores.

    With `fpr_range` starting at :math:`a > 0`, a positive either stays among the
    skipped negatives, where it costs :math:`\max(0, s_j - s_i)` per pair, or it passes
    all of them, for :math:`s_j - s_i` per pair, and pays the hinge in the range:
    whichever is more. With `tpr_range` ending below 1, the classes change roles.

    A row of weight 2 counts as two equal rows. Rows that tie at the end of a range
    share what is left of it, so the order of the rows does not matter. At a kink the
    inactive side is chosen, within rounding (1e-12 of the largest score that counts).

    Costs a selection, and a sort of the rows selected; ``bound="loose"`` a sort of all.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        Lower and upper end, ``0 <= low < high <= 1``. Either `fpr_range` starts at 0 or
        `tpr_range` ends at 1.
    bound : {"tight", "loose"}, default="tight"
        Which rows the adversary may order.

    See Also
    --------
    aucmax.metrics.partial_auc_score : The metric; this risk bounds 1 minus it.

    References
    ----------
    .. [1] H. Narasimhan, S. Agarwal. A structural SVM based approach for optimizing
       partial AUC. ICML 2013.
    .. [2] H. Narasimhan, S. Agarwal. SVMpAUC-tight: a new support vector method for
       optimizing partial AUC based on a tight convex upper bound. KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import PartialHinge
    >>> scores = np.array([1.5, 0.5, 0.0, -1.0, -2.0])
    >>> labels = np.array([True, False, False, False, False])
    >>> PartialHinge((0, 0.5)).bind(labels).value(scores)
    0.0
    >>> PartialHinge((0, 0.5)).bind(labels).value_and_gradient(-scores)
    (4.0, array([-1. ,  0. ,  0. ,  0.5,  0.5]))
    >>> PartialHinge((0.5, 1), bound="loose").bind(labels).value(-scores)
    5.25
    """

    fpr_range: Sequence[float] = (0.0, 1.0)
    _: KW_ONLY
    tpr_range: Sequence[float] = (0.0, 1.0)
    bound: str = "tight"

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> BoundHinge:
        """Return the risk of these rows: see :meth:`Risk.bind`.

        A range that covers less than one row of a query uses part of its first row.
        """
        return BoundHinge(self, self.rank_box(), labels, sample_weight, queries)

    def rank_box(self) -> RankBox:
        """Return the ranges as shares of ranks; raise if a parameter is invalid."""
        return RankBox.from_ranges(self.fpr_range, self.tpr_range, self.bound)

    def check_sizes(
        self, labels: BoolArray, sample_weight: FloatArray | None = None
    ) -> None:
        """Raise if a range covers less than one row of its class."""
        counted = np.ones_like(labels) if sample_weight is None else sample_weight > 0.0
        for name, rows, members in (
            ("fpr_range", "negatives", ~labels),
            ("tpr_range", "positives", labels),
        ):
            ends = getattr(self, name)
            low, high = check_range(name, ends)
            n_rows = int(np.count_nonzero(members & counted))
            if (high - low) * n_rows < 1.0 - _MAX_SHORTFALL:
                digits = 10.0 ** (2 - math.floor(math.log10(1.0 / n_rows)))
                needed = math.ceil(digits / n_rows) / digits
                raise ValueError(
                    f"{name}={ends!r} covers {(high - low) * n_rows:.3g} of the "
                    f"{n_rows} {rows}; it must cover at least one: widen it to a "
                    f"length of at least {needed:.6g}."
                )
