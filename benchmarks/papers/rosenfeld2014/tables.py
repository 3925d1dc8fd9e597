"""The tables of the study."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.papers.pages import ABSENT, Table
from benchmarks.papers.rosenfeld2014 import data as sets
from benchmarks.papers.rosenfeld2014 import links, methods
from benchmarks.papers.rosenfeld2014.data import APPLICATIONS, DOCUMENTS, LETTERS
from benchmarks.papers.rosenfeld2014.methods import FACTORED, PAIRWISE, Method
from benchmarks.papers.rosenfeld2014.protocol import Result
from benchmarks.papers.rosenfeld2014.results import (
    AT_K,
    AUC,
    CORRECT,
    HALF,
    StudyResults,
    test_samples,
)
from benchmarks.papers.rosenfeld2014.samples import Sample

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
#: how the network and the new links may be read: years before, and of new links
READINGS = {
    "all years before, links of a year": (None, 1),
    "all years before, links of five": (None, 5),
    "five years before, links of a year": (5, 1),
    "five years before, links of five": (5, 5),
}


def all_tables(study: StudyResults) -> dict[str, Table]:
    """Return the tables of the data that are there, by their names in the template."""
    found = {"sizes": size_rows(study)}
    if LETTERS in study.data:
        found["letters"] = letter_rows(study)
    if sets.PERIODS in study.data:
        found["readings"] = reading_rows()
        found["links"] = link_rows(study)
        found["link_edges"] = design_rows(study, _link_data(study))
    if DOCUMENTS in study.data:
        found["documents"] = document_rows(study)
        found["document_edges"] = design_rows(study, [DOCUMENTS])
    found["chosen"] = chosen_rows(study)
    found["seconds"] = second_rows(study)
    found["ends"] = end_rows(study)
    return found


def _link_data(study: StudyResults) -> list[str]:
    return [data for data in sets.LINK_DATA if data in study.data]


def size_rows(study: StudyResults) -> Table:
    """Show the numbers of samples, nodes and edges."""
    rows = []
    for data in study.data:
        application = APPLICATIONS[data]
        split = application.split(0)
        judged = [one for _, valid in split.rounds for one in valid]
        test = [
            one for k in range(application.n_folds) for one in test_samples(data, k)
        ]
        nodes = sum(one.y.size for one in test)
        positive = sum(int(one.y.sum()) for one in test)
        edges = (
            f"{name}: {sum(len(one.edges[name].pairs) for one in test) / len(test):.0f}"
            for name in application.designs
        )
        sizes = [len(split.train), len(judged), len(test)]
        cells = [f"{size:,}" for size in (*sizes, nodes, positive)]
        rows.append([data, *cells, "; ".join(edges)])
    head = ["data", "fitted on (fold 1)", "chosen by", "tested", "their nodes"]
    return Table([*head, "positive", "edges of a tested sample"], rows)


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


def reading_rows() -> Table:
    """Show the four measures of the test period when it is read in several ways."""
    rows = []
    for name, (years, span) in READINGS.items():
        samples = list(_read(years, span))
        aucs = [
            _points(
                methods.sample_aucs(
                    samples, [one.tables[links.RAW][:, k] for one in samples]
                )
            )
            for k in range(len(links.MEASURES))
        ]
        rows.append([name, f"{len(samples):,}", *aucs])
    printed = [PRINTED_LINKS[name] for name in links.MEASURES]
    return Table(
        ["reading", "focal authors", *links.MEASURES],
        [*rows, ["paper", ABSENT, *printed]],
    )


def _read(years: int | None, span: int) -> Iterable[Sample]:
    for start in range(2008, 2013, span):
        first = links.FIRST_YEAR if years is None else start - years
        lists = links.year_lists(first, start, start + span - 1)
        cuts = np.flatnonzero(np.diff(lists.focal)) + 1
        parts = (np.split(values, cuts) for values in (lists.measures, lists.y))
        for measures, y in zip(*parts, strict=True):
            yield Sample({links.RAW: measures}, {}, y, 0)


def link_rows(study: StudyResults) -> Table:
    """Show every method on the link data; edges chosen by validation."""
    data = _link_data(study)
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


def design_rows(study: StudyResults, data: Sequence[str]) -> Table:
    """Show each kind of edges, validation and test, less the factored model."""
    rows = []
    for kind in (methods.SUMS, *methods.JOINT, methods.TREE_SUMS):
        for method in study.designs(data[0], kind):
            cells = []
            for name in data:
                cells += [
                    _valid(study, name, method),
                    _against_factored(study, name, method),
                ]
            rows.append([kind, method.design, *cells])
    head = [text for name in data for text in (f"{name}: validation", "test")]
    return Table(["model", "edges", *head], rows)


def _valid(study: StudyResults, data: str, method: Method) -> str:
    if not study.designs(data, method.kind):
        return ABSENT
    means = [max(one.valid) for one in study.by_choice(data, method)]
    return f"{100.0 * np.mean(means):.1f}"


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


def gains(study: StudyResults) -> dict[str, str]:
    """Return what the text says of the pairwise model less others, by its place."""
    places = {
        "letters": LETTERS,
        "periods": sets.PERIODS,
        "years": sets.YEARS,
        "later": sets.LATER,
        "documents": DOCUMENTS,
    }
    others = {
        "less": FACTORED,
        "less_sums": methods.SUMS,
        "less_neighbours": methods.NEIGHBOURS,
    }
    return {
        f"{word}_{place}": study.difference(data, Method(PAIRWISE), Method(kind))
        .in_points(1)
        .strip("*")
        for place, data in places.items()
        for word, kind in others.items()
        if data in study.data and study.designs(data, kind)
    }


def chosen_rows(study: StudyResults) -> Table:
    """Show what validation chose."""
    rows = []
    for data in study.data:
        tables = APPLICATIONS[data].tables
        the_only = f"{tables[0]}, " if len(tables) == 1 else ""
        for method in _chosen_methods(study, data):
            names = Counter(
                f"{one.design}, {one.candidates[one.chosen].removeprefix(the_only)}"
                for one in study.by_choice(data, method)
                if len(one.candidates) > 1
            )
            texts = (
                f"{name.removeprefix(', ')} ({count})"
                for name, count in names.most_common()
            )
            if names:
                rows.append([data, str(method), "; ".join(texts)])
    return Table(["data", "method", "chosen (folds)"], rows)


def second_rows(study: StudyResults) -> Table:
    """Show the processor seconds of one fit: mean over candidates, and the longest."""
    kinds = dict.fromkeys(
        one.kind for data in study.data for one in study.complete(data)
    )
    rows = [
        [kind, *(_seconds(study, data, kind) for data in study.data)]
        for kind in kinds
        if kind not in links.MEASURES
    ]
    return Table(["method", *study.data], rows)


def _seconds(study: StudyResults, data: str, kind: str) -> str:
    results = _results(study, data, kind)
    if not results:
        return ABSENT
    rounds = len(APPLICATIONS[data].split(0).rounds)
    seconds = np.concatenate([one.seconds for one in results]) / rounds
    return f"{seconds.mean():.2f} ({seconds.max():.1f})"


def _results(study: StudyResults, data: str, *kinds: str) -> list[Result]:
    chosen = (one for one in study.complete(data) if one.kind in kinds)
    return [result for one in chosen for result in study.by_choice(data, one)]


def end_rows(study: StudyResults) -> Table:
    """Show how the fits of models with edges ended, and the gaps they left."""
    rows = []
    for data in study.data:
        results = _results(study, data, *methods.JOINT)
        ends = Counter(end for one in results for end in one.ends)
        gaps = np.concatenate([one.gaps for one in results])
        counts = (ends.total(), *(ends[end] for end in methods.ENDS))
        cells = [f"{count:,}" for count in counts]
        rows.append([data, *cells, f"{np.median(gaps):.1e}", f"{gaps.max():.1e}"])
    head = ["data", "fits", *methods.ENDS, "median gap", "largest gap"]
    return Table(head, rows)


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
        results = study.folds(data, method)
        ends = [end for one in results for end in one.ends]
        finished = f"{ends.count(methods.CONVERGED)} of {len(ends)}"
        seconds = f"{sum(sum(one.seconds) for one in results) / len(ends):.2f}"
        rows.append([method.kind, *cells, finished, seconds])
    head = ["trained with", AUC, HALF, AT_K, "fits that converged", "seconds per fit"]
    return Table(head, rows)


def distance_of_unnested(study: StudyResults) -> float:
    """Return the most by which a weight differs if sets need not hold each other."""
    return max(
        float(np.abs(np.subtract(nested.weights, unnested.weights)).max())
        for data in study.data
        for nested, unnested in zip(
            study.folds(data, Method(methods.BY_AUC, methods.COMPARED[data])),
            study.folds(data, Method(methods.BY_SETS, methods.COMPARED[data])),
            strict=True,
        )
    )
