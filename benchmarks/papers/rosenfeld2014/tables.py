"""The tables of the study."""

import numpy as np

from benchmarks.papers.markdown import ABSENT, Table
from benchmarks.papers.rosenfeld2014 import data as sets
from benchmarks.papers.rosenfeld2014 import methods
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS, DOCUMENTS, LETTERS
from benchmarks.papers.rosenfeld2014.methods import FACTORED, PAIRWISE, Method
from benchmarks.papers.rosenfeld2014.results import (
    AT_K,
    AUC,
    CORRECT,
    HALF,
    StudyResults,
)

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
