"""What a report says, in plain values: no model, no drawing, no markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.inspection import Importances

__all__ = ["Contents", "Importance", "ModelRow", "Probabilities", "Ranking", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """The test of a model against a baseline.

    Attributes
    ----------
    word : str
        "beats", "loses" or "even".
    p_value, difference, low, high : float
        Of the test, and the difference with its interval.
    """

    word: str
    p_value: float
    difference: float
    low: float
    high: float

    @property
    def chance(self) -> str:
        """The p-value in a few characters."""
        return "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"


@dataclass(frozen=True)
class ModelRow:
    """One model in the table.

    Attributes
    ----------
    name : str
        What the model is called.
    is_baseline : bool
        Whether others are tested against it.
    measures : sequence of float
        The main measure first; NaN where `problem` says why.
    low, high : float
        Interval of the main measure; NaN if there is none.
    seconds : float or None
        Of a fit.
    folds : sequence of float
        The main measure on each fold; empty without folds.
    tests : mapping from str to Verdict
        By the name of the baseline.
    problem : str or None
        Why it has no measures.
    """

    name: str
    is_baseline: bool
    measures: Sequence[float]
    low: float
    high: float
    seconds: float | None = None
    folds: Sequence[float] = ()
    tests: Mapping[str, Verdict] = field(default_factory=dict)
    problem: str | None = None

    @property
    def main(self) -> float:
        """The main measure."""
        return self.measures[0]


@dataclass(frozen=True)
class Ranking:
    """Rows in the order of a model: scores with which all rows can be compared.

    Attributes
    ----------
    name : str
        Of the model.
    scores : ndarray of shape (n_rows,)
        Higher scores rank higher.
    """

    name: str
    scores: FloatArray


@dataclass(frozen=True)
class Probabilities:
    """Probabilities of a model for rows that it was not fitted to.

    Attributes
    ----------
    name : str
        Of the model.
    labels : ndarray of bool of shape (n_rows,)
        Which of these rows are positive.
    values : ndarray of shape (n_rows,)
        Probability that a row is positive.
    """

    name: str
    labels: BoolArray
    values: FloatArray


@dataclass(frozen=True)
class Importance:
    """What a model looks at.

    Attributes
    ----------
    model : str
        Its name.
    found : aucmax.inspection.Importances
        How much worse it ranks without each column, the most important first.
    n_columns : int
        Of the table: more than were tried, perhaps.
    note : str
        On which rows it was measured.
    """

    model: str
    found: Importances
    n_columns: int
    note: str = ""


@dataclass(frozen=True)
class Contents:
    """Everything that a report says.

    Attributes
    ----------
    title, verdict : str
        The heading, and the sentence below it.
    facts : sequence of str
        What was ranked, and how it was tested.
    measures : sequence of str
        Titles of the measures, the main one first.
    baselines : sequence of str
        Names of the models that others are tested against.
    models : sequence of ModelRow
        The table, the best first.
    explanation : sequence of str
        What the numbers of the table are.
    labels : ndarray of bool of shape (n_rows,)
        Which rows are positive.
    rankings : sequence of Ranking
        The best model first, those without a problem alone; empty where rows of
        different queries cannot be compared, which `no_rankings` then says.
    scale : str
        What the scores of `rankings` are.
    fpr_range : pair of float or None
        The part of the ROC curve that counts.
    probabilities : sequence of Probabilities
        Of models that give some.
    origin_of_probabilities : str
        Where they come from, if not from the model itself.
    importance : Importance or None
        What the best model looks at.
    notices : sequence of str
        What to look at before the numbers are believed.
    certificates : sequence of (str, str)
        Models, and how close to their optimum they are.
    reproduction : mapping from str to str
        Command, versions, fingerprint of the data, seed.
    no_rankings : str
        Why there are no curves.
    """

    title: str
    verdict: str
    facts: Sequence[str]
    measures: Sequence[str]
    baselines: Sequence[str]
    models: Sequence[ModelRow]
    explanation: Sequence[str]
    labels: BoolArray
    rankings: Sequence[Ranking]
    scale: str = "score"
    fpr_range: Sequence[float] | None = None
    probabilities: Sequence[Probabilities] = ()
    origin_of_probabilities: str = ""
    importance: Importance | None = None
    notices: Sequence[str] = ()
    certificates: Sequence[tuple[str, str]] = ()
    reproduction: Mapping[str, Any] = field(default_factory=dict)
    no_rankings: str = ""
