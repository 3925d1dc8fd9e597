"""The methods of the study: kinds of models, each with the edges that it may use.

Every kind has candidates that validation chooses from. Linear models with and without
edges have the same node features and the same strengths to choose from. Nothing is
measured on the test samples, so that what is chosen cannot depend on them.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC, GraphRanker, LambdaMART
from aucmax.metrics import roc_auc_score
from benchmarks.papers.choices import Candidate, Choice
from benchmarks.papers.rosenfeld2014 import data as sets
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS
from benchmarks.papers.rosenfeld2014.letters import FOUR
from benchmarks.papers.rosenfeld2014.links import BY_AGE, MEASURES, RAW
from benchmarks.papers.rosenfeld2014.samples import Sample, labels, query_ids

STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # C
LEAVES, ROUNDS, RATE = (4, 16), (25, 100), 0.1
SECONDS = 300.0  # for one fit

LOGISTIC, FACTORED, TREES = "logistic regression", "factored", "LambdaMART"
SUMS, TREE_SUMS = "factored + sums", "LambdaMART + sums"
NEIGHBOURS = "factored + neighbours"
PAIRWISE, TABLE, BINNED = "pairwise", "pairwise + sums", "pairwise, binned"
ANY_SIGN = "pairwise, binned, any sign"  # of edge weights: by linear programs, slow
JOINT = (PAIRWISE, TABLE, BINNED, ANY_SIGN)
WITH_EDGES = (SUMS, *JOINT, TREE_SUMS, NEIGHBOURS)
#: of the comparison of measures: pairwise models, trained with each of them
BY_AUC, BY_BINS, BY_TOP = "AUC", "binned AUC", "AUC@k"
BY_SETS, BY_RAMP = "unnested AUC", "AUC, ramp loss"
TRAINED_WITH = (BY_AUC, BY_BINS, BY_TOP, BY_SETS, BY_RAMP)
#: where they are compared, and the edges that they have there
COMPARED = {
    sets.MORE_LETTERS: FOUR,
    sets.PERIODS: BY_AGE,
    sets.YEARS: BY_AGE,
    sets.LATER: BY_AGE,
}

Samples = Sequence[Sample]
Scores = list[np.ndarray]
Scorer = Callable[[Samples], Scores]


@dataclass(frozen=True)
class Method:
    """A kind of model, and the edges that it uses, if any."""

    kind: str
    design: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.design}" if self.design else self.kind


def methods(data: str) -> list[Method]:
    """Return the methods of the main study that are run on these data."""
    designs = sets.APPLICATIONS[data].designs
    if data == sets.MORE_LETTERS:
        return []
    if data == sets.LETTERS:  # one feature of two values: other models rank alike
        kinds: tuple[str, ...] = (NEIGHBOURS, PAIRWISE, BINNED)
        return [Method(FACTORED), *(Method(*one) for one in product(kinds, designs))]
    chosen = [Method(name) for name in MEASURES] if data in sets.LINK_DATA else []
    chosen += [Method(kind) for kind in (LOGISTIC, FACTORED, TREES)]
    kinds = (SUMS, TREE_SUMS, PAIRWISE, TABLE)
    chosen += [Method(*one) for one in product(kinds, designs)]
    kinds = (BINNED, ANY_SIGN) if data in (sets.PERIODS, sets.DOCUMENTS) else (BINNED,)
    return [*chosen, *(Method(kind, designs[0]) for kind in kinds)]


def candidates(data: str, method: Method) -> Iterator[Candidate]:
    """Return the settings that validation chooses from."""
    application = sets.APPLICATIONS[data]
    if method.kind in MEASURES:
        column = MEASURES.index(method.kind)
        yield Candidate("as it is", lambda _: partial(_measure, column))
        return
    for table in application.tables:
        view = View(table, method.design, method.kind == NEIGHBOURS)
        if method.kind in (TREES, TREE_SUMS):
            for leaves, rounds in product(LEAVES, ROUNDS):
                name = f"{table}, leaves={leaves}, rounds={rounds}"
                yield Candidate(name, partial(_fit_trees, view, leaves, rounds))
            continue
        fit: Callable[[View, float, Samples], Scorer] = partial(
            _fit_graphs,
            with_sums=method.kind == TABLE,
            options=_ranker_options(method.kind, application),
        )
        if method.kind == LOGISTIC:
            fit = _fit_logistic
        elif method.kind in (FACTORED, SUMS, NEIGHBOURS):
            fit = _fit_svm
        for C in STRENGTHS:
            yield Candidate(f"{table}, C={C:g}", partial(fit, view, C))


def sample_aucs(samples: Samples, scores: Scores) -> np.ndarray:
    """Return the AUC of each sample."""
    pairs = zip(samples, scores, strict=True)
    return np.array([roc_auc_score(one.y, values) for one, values in pairs])


@dataclass(frozen=True)
class View:
    """The part of a sample that a model uses: a table, perhaps edges or sums of them.

    The sums are those of the neighbours' features, if wanted so, not of the edges'.
    """

    table: str
    design: str
    sums_of_neighbours: bool = False

    def rows(self, sample: Sample, with_sums: bool) -> np.ndarray:
        """Return the node features."""
        features = sample.tables[self.table]
        if not with_sums:
            return features
        if self.sums_of_neighbours:
            return np.hstack([features, sample.neighbour_sums(self.table, self.design)])
        return np.hstack([features, sample.edge_sums(self.design)])

    def scaler(self, samples: Samples, with_sums: bool) -> StandardScaler:
        """Learn mean and spread of the node features."""
        rows = [self.rows(one, with_sums) for one in samples]
        return StandardScaler().fit(np.concatenate(rows))

    def edge_scale(self, samples: Samples) -> np.ndarray:
        """Return the means of the edge features, by which they are divided."""
        features = [one.edges[self.design].features for one in samples]
        means = np.concatenate(features).mean(axis=0)
        return np.asarray(np.where(means > 0.0, means, 1.0))


def _measure(column: int, samples: Samples) -> Scores:
    return [one.tables[RAW][:, column] for one in samples]


def _fit_linear(
    view: View, samples: Samples, fit: Callable[[np.ndarray], Any]
) -> Scorer:
    with_sums = bool(view.design)
    scaler = view.scaler(samples, with_sums)

    def prepared(one: Sample) -> np.ndarray:
        return np.asarray(scaler.transform(view.rows(one, with_sums)))

    X = np.concatenate([prepared(one) for one in samples])
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = fit(X)

    def score(others: Samples) -> Scores:
        return [model.decision_function(prepared(one)) for one in others]

    return score


def _fit_svm(view: View, C: float, samples: Samples) -> Scorer:
    model, qid = AUCSVC(C=C, max_time=SECONDS), query_ids(samples)
    return _fit_linear(view, samples, lambda X: model.fit(X, labels(samples), qid=qid))


def _fit_logistic(view: View, C: float, samples: Samples) -> Scorer:
    model = LogisticRegression(C=C, max_iter=1000)
    return _fit_linear(view, samples, lambda X: model.fit(X, labels(samples)))


def _fit_trees(view: View, leaves: int, rounds: int, samples: Samples) -> Scorer:
    model = LambdaMART(
        "auc",
        n_estimators=rounds,
        num_leaves=leaves,
        learning_rate=RATE,
        min_child_samples=20,
        colsample_bytree=1.0,
        reg_lambda=0.0,
    )
    qid = query_ids(samples)
    return _fit_linear(view, samples, lambda X: model.fit(X, labels(samples), qid=qid))


def _ranker_options(kind: str, application: sets.Application) -> dict[str, Any]:
    """Return what a kind of pairwise model changes in `GraphRanker`."""
    binned = {"metric": "binned", "bins": application.bins}
    return {
        BINNED: binned,
        ANY_SIGN: {**binned, "pair_weights": "free"},
        BY_BINS: binned,
        BY_TOP: {"metric": "at_k", "k": application.k},
        BY_SETS: {"metric": "unnested"},
        BY_RAMP: {"loss": "ramp"},
    }.get(kind, {})


def _fit_graphs(
    view: View,
    C: float,
    samples: Samples,
    with_sums: bool,
    options: dict[str, Any],
) -> Scorer:
    scaler = view.scaler(samples, with_sums)
    scale = view.edge_scale(samples)

    def graphs(some: Samples) -> list[Any]:
        rows = [scaler.transform(view.rows(one, with_sums)) for one in some]
        return [
            one.graph(x, view.design, scale) for one, x in zip(some, rows, strict=True)
        ]

    model = GraphRanker(C, metric_tol=None, max_time=SECONDS, **options)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model.fit(graphs(samples), [one.y for one in samples])

    def score(others: Samples) -> Scores:
        return model.decision_function(graphs(others))

    return score


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
