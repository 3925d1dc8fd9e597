"""The rounds of LambdaMART: one tree each, grown by LightGBM for the risk of pairs."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from aucmax._validation import FloatArray
from aucmax.risks import PreparedPairs
from aucmax.trees.booster import readable_by_lightgbm
from aucmax.trees.evaluation import Evaluation

__all__ = ["TreeProgress", "TreeRounds", "TreeRule", "new_booster"]

# beyond it a model has diverged; so far below infinity differences do not overflow
_LARGEST_SCORE = 1e300


class TreeProgress(NamedTuple):
    """Where the growth of trees stands; what a callback receives after each round.

    Attributes
    ----------
    n_iter : int
        Rounds so far.
    validation : float or None
        The metric on `eval_set`, if there is one.
    seconds : float
        Time since the start.
    """

    n_iter: int
    validation: float | None
    seconds: float

    def __str__(self) -> str:
        value = self.validation
        return f"round {self.n_iter}, {self.seconds:.2f} s" + (
            "" if value is None else f", validation {value:.5f}"
        )


@dataclass
class TreeRule:
    """When to stop, and whom to tell. The clock starts here.

    Parameters
    ----------
    max_rounds : int
        The most rounds.
    max_time : float or None
        The most seconds.
    patience : int or None
        The most rounds without a better metric on the validation rows.
    report : callable or None
        Called with a :class:`TreeProgress` after each round; a true answer stops.
    """

    max_rounds: int
    max_time: float | None = None
    patience: int | None = None
    report: Callable[[TreeProgress], object] | None = None
    start: float = field(default_factory=time.perf_counter, init=False)


def new_booster(
    parameters: Mapping[str, Any],
    X: Any,
    categorical: list[int],
    evaluation: Evaluation | None,
) -> Any:
    """Return a LightGBM booster without trees, over the rows in bins."""
    import lightgbm

    parameters = dict(parameters)
    with lightgbm_errors_explained():
        # labels are demanded, but known to the risk alone
        rows = lightgbm.Dataset(
            readable_by_lightgbm(X),
            np.zeros(X.shape[0], dtype=np.float32),
            categorical_feature=categorical,
            params=parameters,
            free_raw_data=True,
        )
        booster = lightgbm.Booster(params=parameters, train_set=rows)
        if evaluation is not None:
            more = rows.create_valid(
                readable_by_lightgbm(evaluation.X),
                np.zeros(evaluation.X.shape[0], dtype=np.float32),
                params=parameters,
            )
            booster.add_valid(more, "validation")
    return booster


@contextmanager
def lightgbm_errors_explained() -> Iterator[None]:
    """Turn LightGBM's own errors, which parameters cause, into a ValueError."""
    from lightgbm.basic import LightGBMError

    try:
        yield
    except LightGBMError as error:
        raise ValueError(f"LightGBM refuses these parameters: {error}") from error


class TreeRounds:
    """Boosting at work.

    Attributes
    ----------
    n_iter : int
        Rounds so far, each of which has added a tree and left scores in bounds.
    n_kept : int
        Rounds up to the first one of the best metric on the validation rows, or all.
    kept_scores : ndarray of shape (n_rows,)
        The training rows' scores after these.
    history : list of float
        The metric on the validation rows after each round, if there are any.
    reason : str
        Why it stopped.
    """

    def __init__(
        self,
        rule: TreeRule,
        booster: Any,
        pairs: PreparedPairs,
        evaluation: Evaluation | None = None,
    ) -> None:
        self.rule = rule
        self.booster = booster
        self.pairs = pairs
        self.evaluation = evaluation
        self.kept_scores = np.zeros(pairs.n_rows)
        self.history: list[float] = []
        self.n_iter = 0
        self.n_kept = 0
        self.reason = ""

    def run(self) -> None:
        """Add trees until there is a reason to stop."""
        if not _has_columns(self.booster):
            self.reason = "no split"
        with lightgbm_errors_explained():
            while not self.reason:
                self.reason = self._round()

    def model_text(self) -> str:
        """Return the rounds that are kept, as text."""
        # LightGBM takes 0 for all; what it has then is at most a tree without a split
        text: str = self.booster.model_to_string(num_iteration=self.n_kept or None)
        return text

    def gains(self) -> FloatArray:
        """Return the gain of all splits of each column, in the rounds that are kept."""
        gains = self.booster.feature_importance("gain", iteration=self.n_kept or None)
        return np.asarray(gains, dtype=np.float64)

    def _round(self) -> str:
        """Add a tree; return a reason to stop, if there is one."""
        found_no_split = self.booster.update(fobj=self._derivatives)
        if found_no_split:
            return "no split"
        scores = _scores(self.booster.eval_train)
        if not np.abs(scores).max() <= _LARGEST_SCORE:  # also if it is NaN
            self.booster.rollback_one_iter()
            return "diverged"
        self.n_iter += 1
        if self.evaluation is None:
            is_best = True
        else:
            value = self.evaluation.measure(_scores(self.booster.eval_valid))
            is_best = not self.history or value > self.history[self.n_kept - 1]
            self.history.append(value)
        if is_best:
            self.n_kept = self.n_iter
            np.copyto(self.kept_scores, scores)
        return self._reason()

    def _derivatives(self, scores: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
        return self.pairs.gradient_hessian(scores, scaled=True)

    def _reason(self) -> str:
        rule = self.rule
        seconds = time.perf_counter() - rule.start
        value = self.history[-1] if self.history else None
        asked = rule.report is not None and rule.report(
            TreeProgress(self.n_iter, value, seconds)
        )
        if asked:
            return "callback"
        if rule.patience is not None and self.n_iter - self.n_kept >= rule.patience:
            return "no change"
        if rule.max_time is not None and seconds >= rule.max_time:
            return "max time"
        return "max rounds" if self.n_iter >= rule.max_rounds else ""


def _scores(evaluate: Callable[[Any], Any]) -> FloatArray:
    """Return the scores that LightGBM keeps for its rows; they change in place."""
    seen: list[FloatArray] = []

    def look(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
        seen.append(scores)
        return "", 0.0, True

    evaluate(look)
    return seen[0]


def _has_columns(booster: Any) -> bool:
    """Tell whether LightGBM has found any column that could be split.

    It fails on its first round if there is none.
    """
    text: str = booster.model_to_string()
    start = text.index("feature_infos=") + len("feature_infos=")
    return set(text[start : text.index("\n", start)].split(" ")) != {"none"}
