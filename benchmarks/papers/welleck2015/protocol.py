"""One method on one fold: fit its candidates, choose by validation, keep the scores.

Nothing is measured on the test rows here: what is chosen cannot depend on them.
"""

import time
from dataclasses import dataclass, field

from benchmarks.papers.choices import Choice
from benchmarks.papers.welleck2015.data import fold_of
from benchmarks.papers.welleck2015.methods import candidates, mauc


@dataclass
class Result(Choice):
    """Outcome of one method on one fold, judged by the MAUC of the validation queries.

    Seconds are processor time of training, measuring on the validation queries
    included. The other kind would count what else the machine does.

    Attributes
    ----------
    kept, run : list of int
        Rounds kept and rounds run; 0 for a linear model.
    scores : list of float
        Of the test rows, by the candidate chosen.
    """

    kept: list[int] = field(default_factory=list)
    run: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


def run_method(data: str, fold: int, method: str) -> Result:
    """Fit all candidates, choose one, and keep its scores of the test rows."""
    rows, result = fold_of(data, fold), Result(data, method, fold)
    for candidate in candidates(method):
        start = time.process_time()
        fitted = candidate.fit(rows)
        result.seconds.append(time.process_time() - start)
        result.candidates.append(candidate.name)
        result.valid.append(mauc(rows.valid, fitted.valid))
        result.kept.append(fitted.kept)
        result.run.append(fitted.run)
        if result.chosen == len(result.valid) - 1:
            result.scores = fitted.test.tolist()
    return result
