"""The tables of the study."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.papers.differences import average
from benchmarks.papers.pages import ABSENT, Table, largest_bold
from benchmarks.papers.welleck2015.data import MQ2007, MQ2008
from benchmarks.papers.welleck2015.methods import (
    LAMBDARANK,
    LINEAR,
    MAUC,
    SVM,
    SVM_QUERIES,
    library,
)
from benchmarks.papers.welleck2015.protocol import Result
from benchmarks.papers.welleck2015.results import (
    AVERAGES,
    DEPTHS,
    MAP,
    MEASURES,
    Figures,
    StudyResults,
    sizes,
)
from benchmarks.papers.welleck2015.results import MAUC as MAUC_MEASURE

#: tables 1 and 2 of the paper: LambdaMART-MAUC, SVM-perf
PRINTED = {
    MAUC_MEASURE: {MQ2007: ("0.662", "0.659"), MQ2008: ("0.734", "0.737")},
    MAP: {MQ2007: ("0.466", "0.450"), MQ2008: ("0.474", "0.458")},
}
RIVALS = (SVM, SVM_QUERIES, LAMBDARANK)


def all_tables(study: StudyResults) -> dict[str, Table]:
    """Return the tables by their names in the template."""
    found = {
        "sizes": size_rows(study),
        "mauc": measure_rows(study, MAUC_MEASURE),
        "less": difference_rows(study, MAUC_MEASURE),
        "less_map": difference_rows(study, MAP),
        "printed": printed_rows(study),
        "classes": class_rows(study),
        "precision": precision_rows(study),
        "chosen": chosen_rows(study),
        "seconds": second_rows(study),
    }
    for measure in MEASURES:
        if measure != MAUC_MEASURE:
            found[_key(measure)] = measure_rows(study, measure)
    return found


def _key(measure: str) -> str:
    return "".join(letter for letter in measure.lower() if letter.isalnum())


def size_rows(study: StudyResults) -> Table:
    """Show rows, columns, queries and levels."""
    found = {data: sizes(data) for data in study.data}
    head = ["data", *next(iter(found.values()))]
    return Table(head, [[data, *size.values()] for data, size in found.items()])


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
            found = [study.difference(data, method, measure) for data in study.data]
            cells = (one.in_points(2) for one in [*found, average(found)])
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
                found = [
                    f"{read(study.figures(data, method)):.3f}"
                    for data in sets
                    for method in (MAUC, SVM, SVM_QUERIES)
                ]
                rows.append([f"ours: {name}", *found])
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


def precision_rows(study: StudyResults) -> Table:
    """Show precision at 1, 5, 10, and at how many depths LambdaMART-MAUC is higher."""
    rows = []
    for data in study.data:
        ours = study.figures(data, MAUC).precision
        for method in (MAUC, *RIVALS):
            theirs = study.figures(data, method).precision
            shown = [f"{theirs['micro'][k - 1]:.3f}" for k in (1, 5, 10)]
            ahead = [
                f"{np.count_nonzero(ours[average] > theirs[average])} of {len(DEPTHS)}"
                for average in AVERAGES
            ]
            if method == MAUC:
                ahead = [ABSENT] * len(AVERAGES)
            rows.append([data, library(method), *shown, *ahead])
    head = [f"micro precision @{k}" for k in (1, 5, 10)]
    ahead = [f"MAUC higher, {average}" for average in AVERAGES]
    return Table(["data", "method", *head, *ahead], rows)


def chosen_rows(study: StudyResults) -> Table:
    """Show what the validation queries chose, counted over folds, and the rounds."""
    rows = []
    for method in study.complete:
        folds = [one for data in study.data for one in study.folds(data, method)]
        names = Counter(one.candidates[one.chosen] for one in folds)
        kept = [one.kept[one.chosen] for one in folds]
        rounds = ABSENT if method in LINEAR else f"{np.median(kept):.0f}"
        texts = (f"{name} ({count})" for name, count in names.most_common(4))
        rows.append([library(method), "; ".join(texts), rounds])
    return Table(
        ["method", "most often chosen (folds of all data)", "rounds kept"], rows
    )


def second_rows(study: StudyResults) -> Table:
    """Show seconds of a whole search, and of 100 rounds, as means over folds."""
    rows = []
    for method in study.complete:
        cells = []
        for data in study.data:
            folds = study.folds(data, method)
            total = [sum(one.seconds) for one in folds]
            cells.append(f"{np.mean(total):.1f} ({_per_hundred(method, folds)})")
        rows.append([library(method), *cells])
    return Table(["method", *study.data], rows)


def _per_hundred(method: str, folds: Sequence[Result]) -> str:
    if method in LINEAR:
        fits = sum(len(one.seconds) for one in folds)
        return f"{sum(sum(one.seconds) for one in folds) / fits:.2f} a fit"
    rounds = sum(sum(one.run) for one in folds)
    return f"{100.0 * sum(sum(one.seconds) for one in folds) / rounds:.2f}"
