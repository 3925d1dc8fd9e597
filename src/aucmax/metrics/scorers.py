"""The metrics as scikit-learn scorers, for GridSearchCV and similar classes.

scikit-learn hands queries to a scorer only through metadata routing, see the guide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn import __version__, config_context, metrics
from sklearn.base import is_classifier

from aucmax._core.censored_times import split_target
from aucmax._core.parameters import check_choice
from aucmax.exceptions import IncompatibleError
from aucmax.metrics.concordance import METHODS, concordance_index
from aucmax.metrics.metric_names import parse_metric

# stand-ins for scikit-learn before 1.9; remove them once 1.9 is the lowest version
_IS_OLD = tuple(map(int, __version__.split(".")[:2])) < (1, 9)
_SCORES = ("decision_function", "predict_proba")
_SCORES_OR_PREDICTIONS = (*_SCORES, "predict")


def _make_scorer(
    metric: Callable[..., float], *, response_method: object, **options: Any
) -> Any:
    """Make a scorer that takes ``decision_function`` of any model, as 1.9 does."""
    if _IS_OLD:
        return _RankingScorer(metric, 1, options, response_method)
    return metrics.make_scorer(metric, response_method=response_method, **options)


class _RankingScorer(type(metrics.make_scorer(max))):  # type: ignore[misc]
    """A scorer that does not require a classifier."""

    def _score(self, method_caller: Any, estimator: Any, *args: Any, **kw: Any) -> Any:
        if not is_classifier(estimator):
            method_caller = _call_method
        return super()._score(method_caller, estimator, *args, **kw)


def _call_method(estimator: object, name: str, X: object, **_: Any) -> Any:
    return getattr(estimator, name)(X)


def metric_scorer(
    metric: str, *, pos_label: object = None, per_query: bool = False, **options: Any
) -> Any:
    """Make a scorer of any metric by its name.

    Parameters
    ----------
    metric : str
        A name such as ``"auc"``, ``"partial_auc"``, ``"average_precision"``,
        ``"recall@fpr=0.01"``, ``"precision@100"`` or ``"ndcg@10"``, as in
        :func:`aucmax.inference.metric_interval`. The top k are those of each test fold.
        ``"concordance"`` is for models of censored times, whose `y` has the fields
        ``event`` and ``time`` (:func:`survival_target`).
    pos_label : label, default=None
        The positive class; by default, the second label in sorted order.
    per_query : bool
        Whether to average over queries; their ids must then be routed as ``qid``.
        Metrics of queries such as NDCG need no flag. The scorer already requests
        ``qid``; to have it request weights as well, call
        ``scorer.set_score_request(qid=True, sample_weight=True)``.
    **options
        Further options of the metric, such as ``fpr_range=(0, 0.1)``; of the
        concordance, ``method`` and ``horizon``.

    Returns
    -------
    scorer
        What :func:`sklearn.metrics.make_scorer` returns, a new one at each call. It
        uses ``decision_function``, or else ``predict_proba``; of queries and of
        censored times also ``predict``. Without ``qid``, one per query raises
        :class:`aucmax.exceptions.IncompatibleError`; scikit-learn's searches turn that
        into NaN and a warning, unless ``error_score="raise"``.

    See Also
    --------
    aucmax.inference.metric_interval : The same metrics with intervals.

    Examples
    --------
    >>> from aucmax.metrics import metric_scorer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 0, 1, 1, 1]
    >>> recall = metric_scorer("recall@fpr=0.01")
    >>> cross_val_score(LogisticRegression(), X, y, scoring=recall, cv=3)
    array([1., 1., 1.])
    >>> scorer = metric_scorer("partial_auc", fpr_range=(0, 0.1))
    """
    named = parse_metric(metric)
    function = named.kind.function
    options |= named.options
    if named.kind.uses_times:
        if pos_label is not None or per_query:
            raise IncompatibleError(
                f"metric={metric!r} compares times: it has neither a positive label "
                "nor queries. Leave out pos_label and per_query."
            )
        return _concordance_scorer(**options)
    if named.kind.needs_queries:
        return _query_scorer(function, _SCORES_OR_PREDICTIONS, **options)
    if not named.kind.uses_levels:
        options["pos_label"] = pos_label
    if per_query:
        return _query_scorer(function, _SCORES, **options)
    scorer = _make_scorer(function, response_method=_SCORES, **options)
    return _requesting(scorer, qid=False)


def _concordance_scorer(method: str = "harrell", horizon: float | None = None) -> Any:
    check_choice("method", method, tuple(METHODS))
    return _ConcordanceScorer(method, horizon)


@dataclass(frozen=True)
class _ConcordanceScorer:
    """A scorer, since those of scikit-learn call ``predict`` of any model of times."""

    method: str
    horizon: float | None

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> float:
        predict = getattr(estimator, "decision_function", None) or estimator.predict
        options: Any = {"method": self.method, "horizon": self.horizon}
        return concordance_index(
            *split_target(y), predict(X), sample_weight=sample_weight, **options
        )


def _query_scorer(
    metric: Callable[..., float], response_method: Sequence[str], **options: Any
) -> Any:
    """Make a scorer of a metric that takes ``qid``, and requests it."""
    scorer = _make_scorer(_PerQuery(metric), response_method=response_method, **options)
    return _requesting(scorer, True, "sample_weight" in signature(metric).parameters)


def _requesting(scorer: Any, qid: bool, takes_weights: bool = True) -> Any:
    """Set whether the scorer requests qid, so that both kinds work side by side."""
    # weights stay unset, as in scikit-learn: routing them needs a choice by the user
    requests = {"qid": qid, **({"sample_weight": None} if takes_weights else {})}
    with config_context(enable_metadata_routing=True):
        return scorer.set_score_request(**requests)


@dataclass(frozen=True)
class _PerQuery:
    """A metric that requires query ids."""

    metric: Callable[..., float]

    @property
    def __name__(self) -> str:
        name: str = self.metric.__name__
        return f"{name} per query"

    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        **options: Any,
    ) -> float:
        if qid is None:
            raise IncompatibleError(
                f"{self.__name__} got no query ids. Turn metadata routing on with "
                "sklearn.set_config(enable_metadata_routing=True) and pass one id per "
                "row: qid=... to fit of the search, or params={'qid': ...} to "
                "cross_validate. For one ranking of all rows, use a scorer without "
                "per_query."
            )
        return self.metric(y_true, y_score, qid=qid, **options)
