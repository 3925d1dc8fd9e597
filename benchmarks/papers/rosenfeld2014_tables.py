"""The tables of the study."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.papers import rosenfeld2014_links as links
from benchmarks.papers.rosenfeld2014_data import (
    APPLICATIONS,
    DOCUMENTS,
    LATER,
    LETTERS,
    LINK_DATA,
    PERIODS,
    YEARS,
)
from benchmarks.papers.rosenfeld2014_methods import (
    ANY_SIGN,
    BINNED,
    CONVERGED,
    FACTORED,
    LOGISTIC,
    NEIGHBOURS,
    OUT_OF_STEPS,
    OUT_OF_TIME,
    PAIRWISE,
    SUMS,
    TABLE,
    TREE_SUMS,
    TREES,
    WITH_EDGES,
    Method,
    sample_aucs,
)
from benchmarks.papers.rosenfeld2014_protocol import Result
from benchmarks.papers.rosenfeld2014_samples import Sample
from benchmarks.papers.rosenfeld2014_summary import (
    CORRECT,
    MEASURES,
    Difference,
    Study,
    test_samples,
)
from benchmarks.papers.suehiro2011_tables import ABSENT, Table

#: figure 2 and table 1 of the paper, in points
PRINTED_LETTERS = {FACTORED: "88.7", PAIRWISE: "97.5"}
PRINTED_LINKS = {
    "Adamic-Adar": "58.4",
    "Katz": "55.2",
    "Jaccard": "54.5",
    "common neighbours": "54.5",
    LOGISTIC: "58.7",
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


def all_tables(study: Study) -> dict[str, Table]:
    """Return the tables of the data that are there, by their names in the template."""
    found = {"sizes": size_rows(study)}
    if LETTERS in study.data:
        found["letters"] = letter_rows(study)
    if PERIODS in study.data:
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


def _link_data(study: Study) -> list[str]:
    return [data for data in LINK_DATA if data in study.data]


def size_rows(study: Study) -> Table:
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


def letter_rows(study: Study) -> Table:
    """Show AUC and binned AUC of each model, and the differences to factored."""
    base = Method(FACTORED)
    rows: list[list[str]] = []
    for chosen in _chosen_methods(study, LETTERS):
        designs = study.designs(LETTERS, chosen.kind)
        for method in dict.fromkeys((chosen, *designs)):  # factored has but itself
            is_choice = method not in designs
            cells = [f"{method}, as validation chose" if is_choice else str(method)]
            for measure in MEASURES:
                cells.append(_points(study.values(LETTERS, method, measure)))
                if method != base:
                    less = study.difference(LETTERS, method, base, measure)
                    cells[-1] += f" ({_interval(less)})"
            rows.append([*cells, PRINTED_LETTERS.get(str(method), ABSENT)])
    return Table(["model", *MEASURES, f"paper: {CORRECT}"], rows)


def reading_rows() -> Table:
    """Show the four measures of the test period when it is read in several ways."""
    rows = []
    for name, (years, span) in READINGS.items():
        samples = list(_read(years, span))
        aucs = [
            _points(
                sample_aucs(samples, [one.tables[links.RAW][:, k] for one in samples])
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


def link_rows(study: Study) -> Table:
    """Show every method on the link data; edges chosen by validation."""
    data = _link_data(study)
    methods = _chosen_methods(study, data[0])
    rows = [
        [
            str(method),
            *(_against_factored(study, name, method) for name in data),
            PRINTED_LINKS.get(method.kind, ABSENT),
        ]
        for method in methods
    ]
    return Table(["method", *data, "paper"], rows)


def document_rows(study: Study) -> Table:
    """Show every method on the folds of OHSUMED; edges chosen by validation."""
    rows = []
    for method in _chosen_methods(study, DOCUMENTS):
        folds = [f"{100.0 * one:.1f}" for one in study.by_fold(DOCUMENTS, method)]
        rows.append([str(method), *folds, _against_factored(study, DOCUMENTS, method)])
    for kind, figures in PRINTED_FOLDS.items():
        rows.append([f"paper: {kind}", *figures])
    folds = [f"fold {k + 1}" for k in range(APPLICATIONS[DOCUMENTS].n_folds)]
    return Table(["method", *folds, "all queries (less factored)"], rows)


def _chosen_methods(study: Study, data: str) -> list[Method]:
    """Return one method of each kind: edges are left to validation."""
    return list(dict.fromkeys(Method(one.kind) for one in study.methods(data)))


def design_rows(study: Study, data: Sequence[str]) -> Table:
    """Show each kind of edges, validation and test, less the factored model."""
    rows = []
    for kind in (SUMS, PAIRWISE, TABLE, BINNED, ANY_SIGN, TREE_SUMS):
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


def _valid(study: Study, data: str, method: Method) -> str:
    if not study.designs(data, method.kind):
        return ABSENT
    means = [max(one.valid) for one in study.folds(data, method)]
    return f"{100.0 * np.mean(means):.1f}"


def _against_factored(study: Study, data: str, method: Method) -> str:
    if not study.designs(data, method.kind):
        return ABSENT
    base = Method(TREES if method.kind == TREE_SUMS else FACTORED)
    text = _points(study.values(data, method))
    if method == base or method.kind not in WITH_EDGES:
        return text
    return f"{text} ({_interval(study.difference(data, method, base))})"


def _points(values: np.ndarray) -> str:
    return f"{100.0 * values.mean():.1f}"


def _interval(found: Difference) -> str:
    mean, low, high = (100.0 * x for x in (found.mean, found.low, found.high))
    text = f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
    return f"**{text}**" if found.is_clear else text


def gains(study: Study) -> dict[str, str]:
    """Return what the text says of the pairwise model less others, by its place."""
    places = {
        "letters": LETTERS,
        "periods": PERIODS,
        "years": YEARS,
        "later": LATER,
        "documents": DOCUMENTS,
    }
    others = {"less": FACTORED, "less_sums": SUMS, "less_neighbours": NEIGHBOURS}
    return {
        f"{word}_{place}": _interval(
            study.difference(data, Method(PAIRWISE), Method(kind))
        ).strip("*")
        for place, data in places.items()
        for word, kind in others.items()
        if data in study.data and study.designs(data, kind)
    }


def chosen_rows(study: Study) -> Table:
    """Show what validation chose."""
    rows = []
    for data in study.data:
        tables = APPLICATIONS[data].tables
        the_only = f"{tables[0]}, " if len(tables) == 1 else ""
        for method in _chosen_methods(study, data):
            names = Counter(
                f"{one.design}, {one.candidates[one.chosen].removeprefix(the_only)}"
                for one in study.folds(data, method)
                if len(one.candidates) > 1
            )
            texts = (
                f"{name.removeprefix(', ')} ({count})"
                for name, count in names.most_common()
            )
            if names:
                rows.append([data, str(method), "; ".join(texts)])
    return Table(["data", "method", "chosen (folds)"], rows)


def second_rows(study: Study) -> Table:
    """Show the processor seconds of one fit: mean over candidates, and the longest."""
    kinds = dict.fromkeys(
        one.kind for data in study.data for one in study.methods(data)
    )
    rows = [
        [kind, *(_seconds(study, data, kind) for data in study.data)]
        for kind in kinds
        if kind not in links.MEASURES
    ]
    return Table(["method", *study.data], rows)


def _seconds(study: Study, data: str, kind: str) -> str:
    results = _results(study, data, kind)
    if not results:
        return ABSENT
    rounds = len(APPLICATIONS[data].split(0).rounds)
    seconds = np.concatenate([one.seconds for one in results]) / rounds
    return f"{seconds.mean():.2f} ({seconds.max():.1f})"


def _results(study: Study, data: str, *kinds: str) -> list[Result]:
    methods = (one for one in study.methods(data) if one.kind in kinds)
    return [result for one in methods for result in study.folds(data, one)]


def end_rows(study: Study) -> Table:
    """Show how the fits of models with edges ended, and the gaps they left."""
    rows = []
    for data in study.data:
        results = _results(study, data, PAIRWISE, TABLE, BINNED, ANY_SIGN)
        ends = Counter(end for one in results for end in one.ends)
        gaps = np.concatenate([one.gaps for one in results])
        counts = (ends[end] for end in (CONVERGED, OUT_OF_STEPS, OUT_OF_TIME))
        cells = [f"{count:,}" for count in (ends.total(), *counts)]
        rows.append([data, *cells, f"{np.median(gaps):.1e}", f"{gaps.max():.1e}"])
    head = ["data", "fits", CONVERGED, OUT_OF_STEPS, OUT_OF_TIME]
    return Table([*head, "median gap", "largest gap"], rows)
