"""The tables of the study."""

import numpy as np

from benchmarks.papers.differences import average
from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.welleck2015.data import MQ2007, MQ2008
from benchmarks.papers.welleck2015.methods import (
    LAMBDARANK,
    MAUC,
    SVM,
    SVM_QUERIES,
    library,
)
from benchmarks.papers.welleck2015.results import (
    MAP,
    MEASURES,
    Figures,
    StudyResults,
)
from benchmarks.papers.welleck2015.results import MAUC as MAUC_MEASURE

#: tables 1 and 2 of the paper: LambdaMART-MAUC, SVM-perf
PRINTED = {
    MAUC_MEASURE: {MQ2007: ("0.662", "0.659"), MQ2008: ("0.734", "0.737")},
    MAP: {MQ2007: ("0.466", "0.450"), MQ2008: ("0.474", "0.458")},
}
RIVALS = (SVM, SVM_QUERIES, LAMBDARANK)


def all_tables(study: StudyResults) -> dict[str, Table]:
    """Return the tables by their names."""
    tables = {measure: measure_rows(study, measure) for measure in MEASURES}
    for measure in (MAUC_MEASURE, MAP):
        tables[f"{measure}, differences"] = difference_rows(study, measure)
    tables["the figures of the paper"] = printed_rows(study)
    tables["levels"] = class_rows(study)
    return tables


def measure_rows(study: StudyResults, measure: str) -> Table:
    """Show the mean of a measure over the test queries; bold: the largest."""
    columns = [
        largest_bold(
            [study.figures(data, method).mean(measure) for method in study.complete]
        )
        for data in study.data
    ]
    names = map(library, study.complete)
    return Table(["method", *study.data], list(zip(names, *columns, strict=True)))


def difference_rows(study: StudyResults, measure: str) -> Table:
    """Show LambdaMART-MAUC less each other method, in points."""
    rows = []
    for method in study.complete:
        if method != MAUC:
            differences = [
                study.difference(data, method, measure) for data in study.data
            ]
            cells = (one.in_points(2) for one in [*differences, average(differences)])
            rows.append([library(method), *cells])
    return Table([f"{MAUC} less", *study.data, "mean of the sets"], rows)


def printed_rows(study: StudyResults) -> Table:
    """Show the paper's figures beside ours, read in several ways."""
    sets = [data for data in (MQ2008, MQ2007) if data in study.data]
    readings = {
        "MAUC by query": lambda one: one.fold_mean(MAUC_MEASURE),
        "MAUC by query, levels averaged first": Figures.class_mean,
        "MAUC, all rows of a fold": lambda one: float(one.pooled.mean()),
        "MAP, queries with a relevant row": lambda one: one.fold_mean(MAP),
        "MAP, the other queries count 0": lambda one: one.fold_mean(MAP, 0.0),
    }
    rows = []
    for measure, printed in PRINTED.items():
        cells = [cell for data in sets for cell in (*printed[data], ABSENT)]
        rows.append([f"paper: {measure}", *cells])
        for name, read in readings.items():
            if name.startswith(measure):
                figures = [
                    f"{read(study.figures(data, method)):.3f}"
                    for data in sets
                    for method in (MAUC, SVM, SVM_QUERIES)
                ]
                rows.append([f"ours: {name}", *figures])
    head = [f"{data}: {method}" for data in sets for method in (MAUC, SVM, SVM_QUERIES)]
    return Table(["figure, mean of five folds", *head], rows)


def class_rows(study: StudyResults) -> Table:
    """Show the AUC of each level against the rest, mean over queries that have it."""
    rows = []
    for data in study.data:
        figures = {method: study.figures(data, method) for method in (MAUC, *RIVALS)}
        for level in (name for name in figures[MAUC].by_query if isinstance(name, int)):
            cells = largest_bold([one.mean(level) for one in figures.values()])
            share = figures[MAUC].shares[:, level - 1].mean()
            n_queries = np.count_nonzero(~np.isnan(figures[MAUC].by_query[level]))
            rows.append([data, str(level), f"{share:.0%}", f"{n_queries:,}", *cells])
    head = ["data", "level", "share of relevant rows", "queries", MAUC]
    return Table([*head, *map(library, RIVALS)], rows)
