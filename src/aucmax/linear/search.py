"""What folds tell about the candidates of a linear model, and which one to take."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import FloatArray, IntArray
from aucmax.linear.candidates import Candidate, Rows, fit_candidates
from aucmax.metrics import partial_auc_score

__all__ = ["Fold", "Search", "choose", "measure_fold"]

# Another loss must be better than logistic regression by so many standard errors.
_STANDARD_ERRORS = 0.5


class Fold(NamedTuple):
    """The metric, the seconds and the passes of each candidate on one fold."""

    scores: FloatArray
    seconds: FloatArray
    n_passes: FloatArray
    share: float  # of test rows to training rows


class Search:
    """What the folds have measured so far."""

    def __init__(self) -> None:
        self._folds: list[Fold] = []

    def __len__(self) -> int:
        return len(self._folds)

    def add(self, fold: Fold) -> None:
        """Take in one fold."""
        self._folds.append(fold)

    @property
    def scores(self) -> FloatArray:
        """The metric of each candidate, of shape (n_folds, n_candidates)."""
        return np.array([fold.scores for fold in self._folds])

    @property
    def share(self) -> float:
        """Test rows per training row, on average."""
        return float(np.mean([fold.share for fold in self._folds]))

    def results(self, candidates: Sequence[Candidate]) -> dict[str, Any]:
        """Return the table that scikit-learn's searches have."""
        scores = self.scores
        mean = scores.mean(axis=0)
        return {
            "params": [candidate.params for candidate in candidates],
            **{f"split{k}_test_score": row for k, row in enumerate(scores)},
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": (mean[:, None] < mean[None, :]).sum(axis=1) + 1,
            "mean_fit_time": np.mean([fold.seconds for fold in self._folds], axis=0),
            "mean_n_passes": np.mean([fold.n_passes for fold in self._folds], axis=0),
        }


def measure_fold(
    rows: Rows,
    candidates: Sequence[Candidate],
    part: dict[str, Any],
    train: IntArray,
    test: IntArray,
) -> Fold:
    """Fit all candidates to the training rows of a fold; measure them on the others."""
    fitted = fit_candidates(rows.take(train), candidates)
    held = rows.take(test)
    weights = np.array([one.weights for one in fitted])
    scores = np.ascontiguousarray(as_row_matrix(held.X).matvec(weights.T).T)
    values = [
        partial_auc_score(
            held.labels, s, sample_weight=held.sample_weight, qid=held.queries, **part
        )
        for s in scores
    ]
    return Fold(
        np.array(values),
        np.array([one.seconds for one in fitted]),
        np.array([one.n_passes for one in fitted]),
        test.size / train.size,
    )


def choose(scores: FloatArray, candidates: Sequence[Candidate], share: float) -> int:
    """Return the best candidate, unless logistic regression is about as good."""
    mean = scores.mean(axis=0)
    best = int(mean.argmax())
    simple = [k for k, c in enumerate(candidates) if c.loss == "logistic regression"]
    if not simple or best in simple:
        return best
    simplest = simple[int(mean[simple].argmax())]
    gain = scores[:, best] - scores[:, simplest]
    n_folds = gain.size
    if n_folds < 2:
        return simplest
    error = float(np.sqrt(gain.var(ddof=1) * (1.0 / n_folds + share)))
    return best if gain.mean() > _STANDARD_ERRORS * error else simplest
