"""The guarantees of a fitted margin, and the curve of margins over nu+."""

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np

from aucmax._core import saved_state as saved
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks._pairs.margin_rows import Lowest
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin, pairs_with_margin

#: relative: weights of rows or pairs that differ by less are equal but for rounding
ROUNDING_OF_SUMS = 1e-9


class ClassSizes(NamedTuple):
    """Total weights of both classes: numbers of rows if they have no weights."""

    positive: float
    negative: float
    lightest_pair: float  # the smallest weight of a pair: 1 without weights

    @classmethod
    def from_labels(cls, labels: BoolArray, sample_weight: FloatArray | None) -> Self:
        """Weigh the classes; all weights are above 0."""
        if sample_weight is None:
            n_positive = int(np.count_nonzero(labels))
            return cls(float(n_positive), float(labels.size - n_positive), 1.0)
        positive, negative = sample_weight[labels], sample_weight[~labels]
        lightest = float(positive.min()) * float(negative.min())
        return cls(float(positive.sum()), float(negative.sum()), lightest)

    @property
    def n_pairs(self) -> float:
        """The weight of all pairs."""
        return self.positive * self.negative

    def check_epsilon(self, epsilon: float) -> None:
        """Raise an error if a share of the pairs is less than one pair."""
        nu = epsilon * self.n_pairs
        if nu < self.lightest_pair * (1.0 - ROUNDING_OF_SUMS):
            least = _rounded_up(self.lightest_pair / self.n_pairs)
            raise ValueError(
                f"epsilon={epsilon:g} is less than one of the {self.n_pairs:g} pairs "
                f"({nu:g} of a pair). The smallest epsilon that works is {least:g}; "
                "formulation='hard' gives the margin of that one pair."
            )

    def nu_pos_range(self, nu: float) -> tuple[float, float]:
        """Return the nu_pos for which neither class has to give more than it has."""
        most = self.positive
        return min(nu / self.negative, most), most


def _rounded_up(share: float) -> float:
    """Round a share up to six digits, as a message shows it."""
    digits = 5 - math.floor(math.log10(share))
    return math.ceil(share * 10.0**digits * (1.0 - ROUNDING_OF_SUMS)) / 10.0**digits


class _Record:
    """Base of dataclasses that a model file can hold."""

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """Return the fields by name; `deep` is scikit-learn's, and has no effect."""
        record: Any = self
        return {field.name: getattr(self, field.name) for field in fields(record)}


@dataclass(frozen=True)
class Certificate(_Record):
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
        The margin that the pairs counted below have, up to 1e-12 by rounding of scores.
    nu_pos, nu_neg : float or None
        How many positives and negatives, by weight, may miss it.
    pairs_guaranteed : int or float
        The least weight of pairs that must have margin `rho_hat`, by Theorem 3, or for
        pairs by the definition of the soft margin: for the hard margin all pairs.
    pairs_achieved : int or float
        The weight of pairs that have it.
    n_pairs : int or float
        The weight of all pairs.
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
            ("gamma_star", "gamma_hat", "nu_pos", "nu_neg"), saved.or_none(saved.number)
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
        for name in ("guaranteed", "achieved"):
            count = getattr(self, f"pairs_{name}")
            total = f"{_count(self.n_pairs)} pairs ({count / self.n_pairs:.2%})"
            lines.append(f"  {name:<10} {_count(count)} of {total}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class MarginCurve(_Record):
    r"""The curve :math:`\hat\gamma(\nu^+)`, where it was solved and bounded.

    Attributes
    ----------
    nu_pos : ndarray of shape (n_points,)
        Where the reduction was solved, ascending.
    gamma_hat : ndarray of shape (n_points,)
        Its margin there.
    lower_nu_pos : ndarray of shape (n_grid,)
        A finer grid.
    lower_bound : ndarray of shape (n_grid,)
        The curve is nowhere below this.
    best : int
        Index of the lowest point.
    nu : float
        The product of nu+ and nu-.
    """

    nu_pos: FloatArray
    gamma_hat: FloatArray
    lower_nu_pos: FloatArray
    lower_bound: FloatArray
    best: int
    nu: float

    _saved_state = saved.fields(
        nu_pos=saved.array("f", None),
        gamma_hat=saved.array("f", "nu_pos"),
        lower_nu_pos=saved.array("f", None),
        lower_bound=saved.array("f", "lower_nu_pos"),
        best=saved.count,
        nu=saved.between(0, math.inf),
    )

    def _check_state(self) -> None:
        """Reject a loaded curve whose lowest point is not among its points."""
        if self.best >= self.nu_pos.size:
            raise ValueError("best is not among the points of the curve")


def certify(
    risk: PairMargin | InstanceMargin,
    scores: FloatArray,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    gap: float,
) -> Certificate:
    """Count the pairs that the margin of these scores guarantees, and those reached."""
    # Over pairs, those below the threshold of the soft margin weigh less than nu; over
    # instances, positives below theirs less than nu_pos and negatives above theirs less
    # than nu_neg, whatever the scores: both hold before the optimum is reached.
    sizes = ClassSizes.from_labels(labels, sample_weight)
    gamma_star = gamma_hat = nu_pos = nu_neg = None
    if isinstance(risk, PairMargin):
        bound = risk.bind(labels, sample_weight)
        gamma_star = -bound.value(scores)
        rho = bound.threshold(scores)
        guaranteed = sizes.n_pairs - risk.nu
    else:
        nu_pos, nu_neg = risk.nu_pos, risk.nu_neg
        # the scores of the negatives are negated
        positive, negative = Lowest.from_scores(scores, labels, sample_weight)
        gamma_hat = float(positive.mean(nu_pos) + negative.mean(nu_neg)) / 2.0
        rho = float(positive.threshold(nu_pos) + negative.threshold(nu_neg)) / 2.0
        guaranteed = (sizes.positive - nu_pos) * (sizes.negative - nu_neg)
    n_pairs = round(sizes.n_pairs) if sample_weight is None else sizes.n_pairs
    achieved = pairs_with_margin(scores, labels, rho, sample_weight)
    if sample_weight is not None and achieved >= n_pairs * (1.0 - ROUNDING_OF_SUMS):
        achieved = n_pairs  # weights were added up in another order
    # less than the lightest pair is none: the hard margin is that of all pairs
    is_hard = isinstance(risk, PairMargin) and risk.nu <= sizes.lightest_pair
    return Certificate(
        gamma_star=gamma_star,
        gamma_hat=gamma_hat,
        rho_hat=rho,
        nu_pos=nu_pos,
        nu_neg=nu_neg,
        pairs_guaranteed=n_pairs if is_hard else _at_least(guaranteed, sample_weight),
        pairs_achieved=achieved,
        n_pairs=n_pairs,
        gap=gap,
    )


def _at_least(weight: float, sample_weight: FloatArray | None) -> float:
    """Round a number of pairs up: without weights it is whole."""
    if sample_weight is not None:
        return max(weight * (1.0 - ROUNDING_OF_SUMS), 0.0)
    return max(math.ceil(weight * (1.0 - ROUNDING_OF_SUMS) - ROUNDING_OF_SUMS), 0)


def _count(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.6g}"
