"""One method on one fold: fit its candidates, choose by validation, keep the scores.

Nothing is measured on the test samples here: what is chosen cannot depend on them.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.papers.choices import Choice
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS
from benchmarks.papers.rosenfeld2014.methods import (
    Fitted,
    Method,
    candidates,
    sample_aucs,
)


@dataclass
class Result(Choice):
    """What one method did on one fold, judged by the mean AUC of samples.

    Seconds are processor time of all fits of a candidate and of judging them.

    Attributes
    ----------
    design : str
        The edges in use, if any.
    ends : list of str
        How each fit ended, that of the chosen candidate on all training samples too.
    gaps : list of float
        Certified relative gaps of those fits that have one.
    weights : list of float
        Of the chosen candidate: of nodes, then of edges.
    scores : list of list of float
        Of the nodes of each test sample, by the candidate chosen.
    """

    design: str = ""
    ends: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)

    @property
    def variant(self) -> Method:
        """The method with its edges."""
        return Method(self.method, self.design)

    def note(self, fitted: Fitted) -> None:
        """Keep how a fit ended."""
        self.ends.append(fitted.end)
        if fitted.gap is not None:
            self.gaps.append(fitted.gap)


def run_method(data: str, fold: int, method: Method) -> Result:
    """Fit all candidates, choose one, and score the test samples."""
    split = APPLICATIONS[data].split(fold)
    result = Result(data, method.kind, fold, design=method.design)
    settings = list(candidates(data, method))
    last: list[Fitted] = []
    for candidate in settings:
        start = time.process_time()
        aucs = []
        for train, valid in split.rounds:
            fitted = candidate.fit(train)
            result.note(fitted)
            aucs.append(sample_aucs(valid, fitted.score(valid)))
        result.seconds.append(time.process_time() - start)
        result.candidates.append(candidate.name)
        result.valid.append(float(np.concatenate(aucs).mean()))
        last.append(fitted)
    best = last[result.chosen]
    if len(split.rounds) > 1:  # it has not seen all that is to be learned from
        best = settings[result.chosen].fit(split.train)
        result.note(best)
    result.weights = best.weights
    result.scores = [values.tolist() for values in best.score(split.test)]
    return result
