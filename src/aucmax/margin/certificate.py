"""What a fitted margin is known to guarantee."""

import math
from dataclasses import dataclass

from aucmax._core import saved_state as saved
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.margin.record import Record
from aucmax.margin.sizes import ROUNDING_OF_SUMS, ClassSizes
from aucmax.risks import InstanceMargins, PairMargin, pairs_with_margin

__all__ = ["Certificate", "certify_instances", "certify_pairs"]


@dataclass(frozen=True)
class Certificate(Record):
    r"""What the margin of a fitted model guarantees on its training rows.

    Attributes
    ----------
    gamma_star : float or None
        The soft margin over pairs reached, within `gap` of the largest possible;
        None if the formulation does not optimise pairs.
    gamma_hat : float or None
        The margin of the reduction to instances reached, which is at least the largest
        possible `gamma_star` less the gap; None if the formulation is over pairs.
    rho_hat : float
        The margin that the pairs counted below have.
    nu_pos, nu_neg : float or None
        How many positives and negatives, by weight, may miss it.
    pairs_guaranteed : int or float
        At least so many pairs, by weight, must have margin `rho_hat` by Theorem 3, or
        for pairs by the definition of the soft margin.
    pairs_achieved : int or float
        So many have it.
    n_pairs : int or float
        All pairs.
    gap : float
        How much larger the optimum can be, relative to the margin reached.

    References
    ----------
    .. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC
       maximization to 1-norm soft margin optimization. ALT 2011, section 2.1,
       Theorem 3 and Corollary 4.
    """

    gamma_star: float | None
    gamma_hat: float | None
    rho_hat: float
    nu_pos: float | None
    nu_neg: float | None
    pairs_guaranteed: float
    pairs_achieved: float
    n_pairs: float
    gap: float

    _saved_state = saved.fields(
        **dict.fromkeys(
            ("gamma_star", "gamma_hat", "nu_pos", "nu_neg"),
            saved.or_none(saved.number),
        ),
        **dict.fromkeys(
            ("rho_hat", "pairs_guaranteed", "pairs_achieved", "n_pairs", "gap"),
            saved.number,
        ),
    )

    def __repr__(self) -> str:
        lines = ["Margin certificate"]
        if self.gamma_star is not None:
            lines.append(f"  gamma*     {self.gamma_star:.6g}  soft margin over pairs")
        if self.gamma_hat is not None:
            lines.append(
                f"  gamma_hat  {self.gamma_hat:.6g}  margin of the reduction, "
                "at least the soft margin over pairs"
            )
        lines.append(
            f"  gap        {self.gap:.2g}  relative: how much more is possible"
        )
        lines.append(f"  rho_hat    {self.rho_hat:.6g}  margin of the pairs below")
        if self.nu_pos is not None and self.nu_neg is not None:
            lines.append(
                f"  nu+, nu-   {self.nu_pos:.6g}, {self.nu_neg:.6g}  "
                "positives and negatives that may miss it"
            )
        for name, count in (
            ("guaranteed", self.pairs_guaranteed),
            ("achieved", self.pairs_achieved),
        ):
            share = count / self.n_pairs
            lines.append(
                f"  {name:<10} {_count(count)} of {_count(self.n_pairs)} pairs "
                f"({share:.2%})"
            )
        return "\n".join(lines)


def certify_pairs(
    risk: PairMargin,
    scores: FloatArray,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    gap: float,
) -> Certificate:
    """Count the pairs above the threshold of the soft margin over pairs.

    Those below it weigh less than nu, whatever the scores.
    """
    sizes = ClassSizes.of(labels, sample_weight)
    bound = risk.bind(labels, sample_weight)
    rho = bound.threshold(scores)
    return Certificate(
        gamma_star=-bound.value(scores),
        gamma_hat=None,
        rho_hat=rho,
        nu_pos=None,
        nu_neg=None,
        pairs_guaranteed=_at_least(sizes.n_pairs - risk.nu, sample_weight),
        pairs_achieved=pairs_with_margin(scores, labels, rho, sample_weight),
        n_pairs=_whole(sizes.n_pairs, sample_weight),
        gap=gap,
    )


def certify_instances(
    nu_pos: float,
    nu_neg: float,
    scores: FloatArray,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    gap: float,
) -> Certificate:
    """Count the pairs of rows that are both above their class's threshold.

    Positives below theirs weigh less than nu_pos, negatives above theirs less than
    nu_neg, whatever the scores; so the theorem holds before the optimum is reached.
    """
    sizes = ClassSizes.of(labels, sample_weight)
    margins = InstanceMargins(scores, labels, sample_weight)
    lowest = float(margins.smallest_positive_threshold(nu_pos))
    highest = float(margins.largest_negative_threshold(nu_neg))
    mean_lowest = float(margins.mean_smallest_positive(nu_pos))
    mean_highest = float(margins.mean_largest_negative(nu_neg))
    rho = (lowest - highest) / 2.0
    guaranteed = (sizes.positive - nu_pos) * (sizes.negative - nu_neg)
    return Certificate(
        gamma_star=None,
        gamma_hat=(mean_lowest - mean_highest) / 2.0,
        rho_hat=rho,
        nu_pos=nu_pos,
        nu_neg=nu_neg,
        pairs_guaranteed=_at_least(guaranteed, sample_weight),
        pairs_achieved=pairs_with_margin(scores, labels, rho, sample_weight),
        n_pairs=_whole(sizes.n_pairs, sample_weight),
        gap=gap,
    )


def _at_least(weight: float, sample_weight: FloatArray | None) -> float:
    """Round a number of pairs up: without weights it is whole."""
    if sample_weight is not None:
        return max(weight * (1.0 - ROUNDING_OF_SUMS), 0.0)
    return max(math.ceil(weight * (1.0 - ROUNDING_OF_SUMS) - ROUNDING_OF_SUMS), 0)


def _whole(weight: float, sample_weight: FloatArray | None) -> float:
    return weight if sample_weight is not None else round(weight)


def _count(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.6g}"
