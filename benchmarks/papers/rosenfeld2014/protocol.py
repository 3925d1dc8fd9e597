"""One method on one fold: fit its candidates, choose by validation, keep the scores.

Nothing is measured on the test samples here: what is chosen cannot depend on them.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.papers.choices import Choice
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS
from benchmarks.papers.rosenfeld2014.methods import (
    Method,
    Scorer,
    candidates,
    sample_aucs,
)


@dataclass
class Result(Choice):
    """Outcome of one method on one fold, judged by the mean AUC of samples.

    Seconds are processor time of all fits of a candidate and of judging them.

    Attributes
    ----------
    design : str
        The edges in use, if any.
    scores : list of list of float
        Of the nodes of each test sample, by the candidate chosen.
    """

    design: str = ""
    scores: list[list[float]] = field(default_factory=list)

    @property
    def variant(self) -> Method:
        """The method with its edges."""
        return Method(self.method, self.design)


def run_method(data: str, fold: int, method: Method) -> Result:
    """Fit all candidates, choose one, and score the test samples."""
    split = APPLICATIONS[data].split(fold)
    result = Result(data, method.kind, fold, design=method.design)
    settings = list(candidates(data, method))
    scorers: list[Scorer] = []
    for candidate in settings:
        start = time.process_time()
        aucs = []
        for train, valid in split.rounds:
            score = candidate.fit(train)
            aucs.append(sample_aucs(valid, score(valid)))
        result.seconds.append(time.process_time() - start)
        result.candidates.append(candidate.name)
        result.valid.append(float(np.concatenate(aucs).mean()))
        scorers.append(score)
    best = scorers[result.chosen]
    if len(split.rounds) > 1:  # it has not seen all that is to be learned from
        best = settings[result.chosen].fit(split.train)
    result.scores = [values.tolist() for values in best(split.test)]
    return result
