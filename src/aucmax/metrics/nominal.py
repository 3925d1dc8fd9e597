"""AUC of classes without an order, with one score per class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_choice
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_levels,
    check_sample_weight,
    check_score_matrix,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics._influence import influences
from aucmax.metrics._samples import (
    Measured,
    Rows,
    check_groups,
    class_effects,
    effective_rows,
    shrunk,
)
from aucmax.metrics._steps import RankingTask
from aucmax.metrics.results import MetricInterval, check_confidence
from aucmax.metrics.uncertainty import area_interval


@documented
def nominal_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    multi_class: str = "ovr",
    average: str = "macro",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean AUC of classes that have no order, from one column of scores per class.

    With :math:`A(a, B)` the AUC of column a where the rows of class a are the positives
    and those of the classes B the negatives, and K classes,

    .. math::
        \text{ovr} = \frac{1}{K} \sum_a A(a, \text{all but } a), \qquad
        \text{ovo} = \frac{1}{K (K - 1)} \sum_a \sum_{b \ne a} A(a, \{b\})

    The first compares each class with the rest; the second, due to Hand and Till,
    compares pairs of classes and does not depend on their frequencies.
    ``average="weighted"`` weighs :math:`A(a, B)` by the share of rows in class a, or,
    for pairs, in the classes a and b. All equal scikit-learn's ``roc_auc_score`` with
    these options, but the scores of a row need not add up to 1, and pairs allow
    weights. Tied pairs count one half. Costs O(K m log m).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of at least two classes: booleans, numbers or strings.
    y_score : array-like of shape (n_rows, n_classes)
        Finite scores, one column per class, higher for rows more likely to be of that
        class. Scores are compared within a column only.
    multi_class : {"ovr", "ovo"}
        Whether to compare each class with the rest, or with each other class.
    average : {"macro", "weighted"}
        Whether classes, or pairs of classes, count equally or by their share of rows.
    labels : array-like of shape (n_classes,), optional
        The class of each column; by default, the distinct labels in sorted order.

    Returns
    -------
    float
        Between 0 and 1; 0.5 for scores that carry no information.

    See Also
    --------
    multiclass_auc_score : For levels of relevance, with a single score per row.
    ordinal_auc_score : The same, counting pairs of levels.
    nominal_auc_interval : The same area with a confidence interval.

    References
    ----------
    .. [1] D. J. Hand, R. J. Till. A simple generalisation of the area under the ROC
       curve for multiple class classification problems. Machine Learning 45, 2001.
    .. [2] F. Provost, P. Domingos. Well-trained PETs: improving probability estimation
       trees. CeDER working paper 00-04, Stern School of Business, 2000.

    Examples
    --------
    >>> from aucmax.metrics import nominal_auc_score
    >>> y = ["cat", "cat", "dog", "fox"]
    >>> scores = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.3, 0.6, 0.1], [0.1, 0.4, 0.5]]
    >>> nominal_auc_score(y, scores)
    0.9166666666666666
    """
    rows = _check_rows(y_true, sample_weight, multi_class, average, labels)
    scores = rows.check(y_score)
    tasks = (rows.task(contest, scores) for contest in rows.contests)
    return rows.mean(np.array([task.mean_area() for task in tasks]))


@documented
def nominal_auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    multi_class: str = "ovr",
    average: str = "macro",
    confidence: float = 0.95,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> MetricInterval:
    r"""Mean AUC of classes that have no order, with an interval on the logit scale.

    The same rows take part in many of the areas that :func:`nominal_auc_score`
    averages, so their errors are not independent. The standard error therefore uses the
    influence :math:`\psi_i` of each row on the mean, its derivative by the share of
    weight of the row. As in :func:`auc_interval`, in each area that is the share of the
    other side that the row is ordered correctly with, less the area; with
    ``average="weighted"`` a row also changes the weights. With :math:`m_c` of the m
    rows in class c, and :math:`\bar\psi_c` the mean over a class,

    .. math:: \sigma^2 = \frac{1}{m^2} \sum_c \Big( \frac{m_c}{m_c - 1}
        \sum_{i \in c} (\psi_i - \bar\psi_c)^2 + m_c \bar\psi_c^2 \Big)

    which for two classes with opposite scores is DeLong's variance. The rows are a
    sample of all classes, whose shares vary as well. The interval is that of
    :func:`auc_interval`, with K - 1 times the smallest class and all other rows for p
    and n. Costs O(K m log m).

    Parameters
    ----------
    y_true, y_score, multi_class, average, labels
        As in :func:`nominal_auc_score`. At least two rows of each class.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows (not how often a row was seen).
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row; rows of one group may depend on each other.

    Returns
    -------
    MetricInterval
        ``auc`` with its interval; ``rows`` are K - 1 times the smallest class (at most
        half), and all other rows.

    Examples
    --------
    >>> from aucmax.metrics import nominal_auc_interval
    >>> y = ["cat", "cat", "cat", "dog", "dog", "dog"]
    >>> scores = [[1, -1], [2, -2], [4, -4], [3, -3], [0, 0], [-1, 1]]
    >>> print(nominal_auc_interval(y, scores))
    nominal AUC 0.7778 (95% interval 0.0072 to 0.9994)
    """
    check_confidence(confidence)
    kind = {"multi_class": multi_class, "average": average, "labels": labels}
    sample = NominalSample.of(y_true, sample_weight, groups, **kind)
    found = sample.measure(sample.check(y_score))
    rows, degrees = sample.sizes(found.design_effect)
    ends = area_interval(found.value, found.error, confidence, rows, degrees)
    return MetricInterval(
        found.value, *ends, found.error, confidence, rows, "nominal_auc"
    )


# One class against all others, or against the second, by the scores of its column. The
# share of rows of these classes weighs the contest.
_Contest = list[int]


@dataclass(frozen=True)
class _NominalRows:
    """Checked rows, and the contests that are averaged over them."""

    codes: IntArray  # the column of each row's class
    of_class: list[IntArray]  # the rows of each class
    sample_weight: FloatArray | None
    weights: FloatArray  # the same, or equal ones, adding up to 1
    prevalence: FloatArray  # share of each class
    contests: list[_Contest]
    factors: FloatArray  # how much each contest counts in the mean, adding up to 1
    average: str

    def members(self, contest: _Contest) -> IntArray:
        """Return the rows that take part."""
        if len(contest) == 1:
            return np.arange(self.codes.size)
        return np.concatenate([self.of_class[code] for code in contest])

    def check(self, y_score: ArrayLike) -> FloatArray:
        """Check scores of these rows."""
        scores = check_score_matrix(y_score, self.codes.size)
        n_classes = self.prevalence.size
        if scores.shape[1] != n_classes:
            raise ValueError(
                f"y_score has {scores.shape[1]} columns, but there are {n_classes} "
                "classes; it needs one column per class, in the order of labels."
            )
        return scores

    def task(self, contest: _Contest, scores: FloatArray) -> RankingTask:
        """Return the contest as a ranking of two classes."""
        rows = self.members(contest)
        return RankingTask(
            scores[rows, contest[0]],
            self.codes[rows] == contest[0],
            None if self.sample_weight is None else self.sample_weight[rows],
        )

    def mean(self, areas: FloatArray) -> float:
        """Average the areas of all contests; equal ones give exactly their value."""
        mean = areas[0] + self.factors @ (areas - areas[0])
        return float(min(max(mean, 0.0), 1.0))

    def pull_of_prevalence(self, areas: FloatArray) -> FloatArray:
        """Return the derivative of the mean by the prevalence of each class."""
        pulls = np.zeros_like(self.prevalence)
        for contest, area in zip(self.contests, areas, strict=True):
            pulls[contest] += area
        total: float = _prevalences(self.contests, self.prevalence).sum()
        return pulls / total


def _prevalences(contests: list[_Contest], prevalence: FloatArray) -> FloatArray:
    return np.array([prevalence[contest].sum() for contest in contests])


def _nominal_codes(
    labels: ArrayLike, classes: ArrayLike | None
) -> tuple[list[Any], IntArray]:
    """Return the classes, by default the distinct labels, and the place of each row."""
    levels, codes = check_levels(labels, kind="class")
    known = levels if classes is None else np.asarray(classes)
    places = {value: place for place, value in enumerate(known.tolist())}
    if len(places) < known.size:
        raise ValueError(f"labels must be distinct, got {known.tolist()!r}.")
    for value in levels.tolist():
        if value not in places:
            row = int(np.argmax(levels[codes] == value))
            raise ValueError(
                f"y_true is {value!r} in row {row}, which is not among labels, "
                f"{known.tolist()!r}."
            )
    return list(places), np.array([places[value] for value in levels.tolist()])[codes]


def _check_rows(
    y_true: ArrayLike,
    sample_weight: ArrayLike | None,
    multi_class: str = "ovr",
    average: str = "macro",
    labels: ArrayLike | None = None,
) -> _NominalRows:
    check_choice("multi_class", multi_class, ("ovr", "ovo"))
    check_choice("average", average, ("macro", "weighted"))
    classes, codes = _nominal_codes(y_true, labels)
    sample_weight = check_sample_weight(sample_weight, codes.size)
    weights = np.ones(codes.size) if sample_weight is None else sample_weight
    weights = weights / weights.sum()
    prevalence = np.bincount(codes, weights, len(classes)).astype(np.float64)
    if (prevalence == 0.0).any():
        missing = classes[int(np.argmin(prevalence))]
        raise NotEnoughClassesError(
            f"No row with a positive weight is of class {missing!r}, so its column "
            "cannot be measured. Leave out the class and its column."
        )
    columns = range(len(classes))
    contests = [[column] for column in columns]
    if multi_class == "ovo":
        contests = [[a, b] for a in columns for b in columns if a != b]
    factors = np.ones(len(contests))
    if average == "weighted":
        factors = _prevalences(contests, prevalence)
    factors = factors / factors.sum()
    by_class = np.argsort(codes, kind="stable")
    of_class = np.split(by_class, np.cumsum(np.bincount(codes))[:-1])
    shares = weights, prevalence, contests, factors, average
    return _NominalRows(codes, of_class, sample_weight, *shares)


@dataclass(frozen=True)
class NominalSample:
    """Rows of several classes, for the mean area of their columns of scores."""

    rows: _NominalRows
    groups: IntArray | None

    @classmethod
    def of(cls, y_true: Any, weights: Any, groups: Any, **options: Any) -> Self:
        """Check the rows; each class needs two rows, and two groups if any."""
        rows = _check_rows(y_true, weights, **options)
        found = cls(rows, check_groups(groups, rows.codes.size))
        for kind, sizes in (("rows", found._counts(None)), ("groups", found.n_units)):
            if sizes.min() <= 1.0 + 1e-12:
                raise ValueError(
                    f"The variance needs at least two {kind} of each class, but the "
                    f"class of column {int(sizes.argmin())} has one. Use more {kind}."
                )
        return found

    def check(self, y_score: ArrayLike) -> FloatArray:
        """Check scores of these rows."""
        return self.rows.check(y_score)

    @cached_property
    def n_units(self) -> FloatArray:
        """Rows or groups of each class, as equally large ones."""
        return self._counts(self.groups)

    def _counts(self, codes: IntArray | None) -> FloatArray:
        counts = []
        for own in self.rows.of_class:
            groups = None if codes is None else codes[own]
            counts.append(effective_rows(self.rows.weights[own], own.size, groups))
        return np.array(counts)

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """All rows or groups."""
        return [(slice(None), max(float(self.n_units.sum()) - self.n_units.size, 1.0))]

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return rows to stand for p and n: the smallest class is in K - 1 contests."""
        rows, units = _few_and_many(self._counts(None)), _few_and_many(self.n_units)
        return shrunk(rows, units, design_effect), max(units[0] - 1.0, 1.0)

    def measure(self, scores: FloatArray) -> Measured:
        """Return the mean area with its effects, class by class or by group."""
        rows = self.rows
        areas = np.empty(len(rows.contests))
        influence = np.zeros(rows.codes.size)
        for place, contest in enumerate(rows.contests):
            task = rows.task(contest, scores)
            areas[place] = task.mean_area()
            members = rows.members(contest)
            sides = members[task.is_positive], members[~task.is_positive]
            for side, shares in zip(sides, influences(task), strict=True):
                factor = rows.factors[place] / float(rows.weights[side].sum())
                influence[side] += factor * (shares - areas[place])
        auc = rows.mean(areas)
        if rows.average == "weighted":
            influence += rows.pull_of_prevalence(areas)[rows.codes] - auc
        effects = class_effects(influence, rows.weights, rows.of_class, self.groups)
        return Measured.of(auc, *effects)


def _few_and_many(sizes: FloatArray) -> Rows:
    few = min(float(sizes.min()) * (sizes.size - 1), float(sizes.sum()) / 2.0)
    return few, float(sizes.sum()) - few
