"""From the scores of the test samples to the tables and pictures of the study."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from aucmax.metrics import auc_at_k_score, binned_auc_score, roc_auc_score
from benchmarks.papers import pictures
from benchmarks.papers.choices import Results
from benchmarks.papers.differences import Difference, mean_difference
from benchmarks.papers.markdown import ABSENT, Table
from benchmarks.papers.rosenfeld2014 import data as sets
from benchmarks.papers.rosenfeld2014 import methods
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS, DOCUMENTS, LETTERS
from benchmarks.papers.rosenfeld2014.letters import PIXELS
from benchmarks.papers.rosenfeld2014.methods import FACTORED, PAIRWISE, Method, Result
from benchmarks.papers.rosenfeld2014.samples import Sample

AUC, AT_K = "AUC", "AUC@k"
#: within a bin a pair counts half, or is taken for correct as in the paper
HALF, CORRECT = "binned AUC", "binned AUC, bins forgiven"


def measure_of(data: str, name: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """Return a measure, with the bins or the k of these data."""
    application = APPLICATIONS[data]
    return {
        AUC: roc_auc_score,
        HALF: partial(binned_auc_score, bins=application.bins, within="half"),
        CORRECT: partial(binned_auc_score, bins=application.bins, within="correct"),
        AT_K: partial(auc_at_k_score, k=application.k),
    }[name]


@lru_cache(maxsize=32)
def test_samples(data: str, fold: int) -> Sequence[Sample]:
    """Return the test samples of a fold."""
    return APPLICATIONS[data].split(fold).test


@cache
def values_of(
    study: "StudyResults", data: str, method: Method, measure: str
) -> np.ndarray:
    """Return a value for each test sample of all folds, computed once."""
    judge = measure_of(data, measure)
    return np.array(
        [
            judge(sample.y, np.array(scores))
            for result in study.by_choice(data, method)
            for sample, scores in zip(
                test_samples(data, result.fold), result.scores, strict=True
            )
        ]
    )


class StudyResults(Results[Result]):
    """All results, judged when asked for."""

    def values(self, data: str, method: Method, measure: str = AUC) -> np.ndarray:
        """Return a value for each test sample of all folds."""
        return values_of(self, data, method, measure)

    def complete(self, data: str) -> list[Method]:
        """Return the methods that were run on all folds of these data."""
        n_folds = APPLICATIONS[data].n_folds
        items = self._by_variant.items()
        return [m for (name, m), r in items if name == data and len(r) == n_folds]

    def designs(self, data: str, kind: str) -> list[Method]:
        """Return the methods of one kind, one for each kind of edges."""
        return [one for one in self.complete(data) if one.kind == kind]

    def by_choice(self, data: str, method: Method) -> list[Result]:
        """Return the results by fold; without a design, those of the design chosen.

        A design is chosen in each fold by validation, as everything else.
        """
        variants = [method]
        if not self.folds(data, method):
            variants = self.designs(data, method.kind)
        by_fold = zip(*(self.folds(data, one) for one in variants), strict=True)
        return [max(some, key=lambda one: max(one.valid)) for some in by_fold]

    def by_fold(self, data: str, method: Method) -> list[float]:
        """Return the mean AUC of each fold."""
        folds = range(APPLICATIONS[data].n_folds)
        sizes = [len(test_samples(data, fold)) for fold in folds]
        parts = np.split(self.values(data, method), np.cumsum(sizes)[:-1])
        return [float(part.mean()) for part in parts]

    def difference(
        self, data: str, ours: Method, other: Method, measure: str = AUC
    ) -> Difference:
        """Return the mean paired difference over samples.

        An author in several years is one group of samples.
        """
        apart = self.values(data, ours, measure) - self.values(data, other, measure)
        folds = range(APPLICATIONS[data].n_folds)
        groups = [one.group for fold in folds for one in test_samples(data, fold)]
        return mean_difference(apart, np.array(groups))


#: figure 2 and table 1 of the paper, in points
PRINTED_LETTERS = {FACTORED: "88.7", PAIRWISE: "97.5"}
PRINTED_LINKS = {
    "Adamic-Adar": "58.4",
    "Katz": "55.2",
    "Jaccard": "54.5",
    "common neighbours": "54.5",
    methods.LOGISTIC: "58.7",
    FACTORED: "59.0",
    PAIRWISE: "62.1",
}
PRINTED_FOLDS = {
    FACTORED: ("63.1", "64.9", "65.1", "60.9", "61.6", "63.1"),
    PAIRWISE: ("65.2", "67.5", "68.3", "61.0", "62.0", "64.8"),
}


def all_tables(study: StudyResults) -> dict[str, Table]:
    """Return the tables of the data that are there."""
    tables = {"pairwise less": pairwise_rows(study)}
    if LETTERS in study.data:
        tables["letters"] = letter_rows(study)
    if sets.PERIODS in study.data:
        tables["links"] = link_rows(study)
    if DOCUMENTS in study.data:
        tables["documents"] = document_rows(study)
    return tables


def letter_rows(study: StudyResults) -> Table:
    """Show AUC and binned AUC of each model, and the differences to factored."""
    base = Method(FACTORED)
    rows: list[list[str]] = []
    for chosen in _chosen_methods(study, LETTERS):
        designs = study.designs(LETTERS, chosen.kind)
        for method in dict.fromkeys((chosen, *designs)):  # factored has but itself
            is_choice = method not in designs
            cells = [f"{method}, as validation chose" if is_choice else str(method)]
            for measure in (AUC, HALF, CORRECT):
                cells.append(_points(study.values(LETTERS, method, measure)))
                if method != base:
                    less = study.difference(LETTERS, method, base, measure)
                    cells[-1] += f" ({less.in_points(1)})"
            rows.append([*cells, PRINTED_LETTERS.get(str(method), ABSENT)])
    return Table(["model", AUC, HALF, CORRECT, f"paper: {CORRECT}"], rows)


def link_rows(study: StudyResults) -> Table:
    """Show every method on the link data; edges chosen by validation."""
    data = [name for name in sets.LINK_DATA if name in study.data]
    rows = [
        [
            str(method),
            *(_against_factored(study, name, method) for name in data),
            PRINTED_LINKS.get(method.kind, ABSENT),
        ]
        for method in _chosen_methods(study, data[0])
    ]
    return Table(["method", *data, "paper"], rows)


def document_rows(study: StudyResults) -> Table:
    """Show every method on the folds of OHSUMED; edges chosen by validation."""
    rows = []
    for method in _chosen_methods(study, DOCUMENTS):
        folds = [f"{100.0 * one:.1f}" for one in study.by_fold(DOCUMENTS, method)]
        rows.append([str(method), *folds, _against_factored(study, DOCUMENTS, method)])
    for kind, figures in PRINTED_FOLDS.items():
        rows.append([f"paper: {kind}", *figures])
    folds = [f"fold {k + 1}" for k in range(APPLICATIONS[DOCUMENTS].n_folds)]
    return Table(["method", *folds, "all queries (less factored)"], rows)


def _chosen_methods(study: StudyResults, data: str) -> list[Method]:
    """Return one method of each kind: edges are left to validation."""
    return list(dict.fromkeys(Method(one.kind) for one in study.complete(data)))


def _against_factored(study: StudyResults, data: str, method: Method) -> str:
    if not study.designs(data, method.kind):
        return ABSENT
    base = Method(methods.TREES if method.kind == methods.TREE_SUMS else FACTORED)
    text = _points(study.values(data, method))
    if method == base or method.kind not in methods.WITH_EDGES:
        return text
    return f"{text} ({study.difference(data, method, base).in_points(1)})"


def _points(values: np.ndarray) -> str:
    return f"{100.0 * values.mean():.1f}"


def pairwise_rows(study: StudyResults) -> Table:
    """Show the pairwise model less each linear one."""
    others = (FACTORED, methods.SUMS, methods.NEIGHBOURS)
    rows = []
    for data in study.data:
        less = [
            study.difference(data, Method(PAIRWISE), Method(kind)).in_points(1)
            if study.designs(data, kind)
            else ABSENT
            for kind in others
        ]
        rows.append([data, *less])
    return Table(["pairwise less", *others], rows)


def measure_rows(study: StudyResults, data: str) -> Table:
    """Show models by the measure that they are trained with, and judged by."""
    trained = study.complete(data)
    base = trained[methods.TRAINED_WITH.index(methods.BY_AUC)]
    rows = []
    for method in trained:
        cells = []
        for measure in (AUC, HALF, AT_K):
            cells.append(f"{100.0 * study.values(data, method, measure).mean():.2f}")
            if method != base:
                less = study.difference(data, method, base, measure)
                cells[-1] += f" ({less.in_points(2)})"
        rows.append([method.kind, *cells])
    return Table(["trained with", AUC, HALF, AT_K], rows)


HEIGHT = 20
COLORS = {
    methods.SUMS: pictures.GREY,
    PAIRWISE: pictures.BLUE,
    methods.TABLE: pictures.GREEN,
    methods.BINNED: pictures.ORANGE,
    methods.ANY_SIGN: pictures.PINK,
}


def draw_letters(study: StudyResults) -> Any:
    """Draw one test picture: ink, noise, and its pixels as two models rank them."""
    sample = test_samples(LETTERS, 0)[0]
    shown = {"original": 1.0 * sample.y, "noisy": sample.tables[PIXELS].ravel()}
    for kind in (FACTORED, PAIRWISE):
        scores = np.array(study.by_choice(LETTERS, Method(kind))[0].scores[0])
        reached = 100.0 * measure_of(LETTERS, CORRECT)(sample.y, scores)
        shown[f"{kind}: binned AUC {reached:.1f}"] = rankdata(scores)
    figure, axes = pictures.panels(2, 2, 8.0, 4.2)
    for ax, (title, values) in zip(axes.flat, shown.items(), strict=True):
        ax.imshow(values.reshape(HEIGHT, -1), cmap="Greys", interpolation="nearest")
        ax.set_title(title, fontsize="medium")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    return figure


def draw_differences(study: StudyResults) -> Any:
    """Draw what edges add to the factored model, for each kind of edges."""
    data = [name for name in study.data if name != LETTERS]
    figure, axes = pictures.panels(len(data), 1, 8.0, 2.7 * len(data))
    for ax, name in zip(axes.flat, data, strict=True):
        shown = [one for kind in COLORS for one in study.designs(name, kind)]
        places = np.arange(len(shown))[::-1]
        ax.axvline(0.0, color="black", linewidth=1)
        for place, method in zip(places, shown, strict=True):
            difference = study.difference(name, method, Method(FACTORED))
            pictures.draw_difference(
                ax, difference, place, **pictures.line(COLORS[method.kind], "o")
            )
        ax.set_yticks(places, [str(one) for one in shown], fontsize="small")
        ax.set_title(f"{name}, {difference.n:,} lists", fontsize="medium")
    axes[-1, 0].set_xlabel("AUC less that of the factored model, points")
    return figure
