"""OHSUMED: documents of a query, with edges built from what is known of them.

The similarity relation that the paper uses is not part of our copy. So edges join the
documents whose own features are most alike, and those whose numbers in the collection
are near: MEDLINE numbers records as they come in, so that neighbours often are of one
issue of a journal.
"""

import gzip
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from aucmax.datasets import load_svmlight
from benchmarks.papers.data import parts_of
from benchmarks.papers.rosenfeld2014.samples import Edges, Sample, Split

N_FEATURES, N_PARTS = 45, 5
PATHS = parts_of("ohsumed/norm_S{}.svm.gz")
FEATURES = "features"
SIMILAR, MORE_SIMILAR = "100 most similar", "300 most similar"
NEAR, SIMILAR_OR_NEAR = "near numbers", "300 similar, or near"
DISTANCES = (1, 4, 50)  # of numbers: a column each for pairs not farther apart


@lru_cache(maxsize=N_PARTS)
def part(number: int) -> tuple[Sample, ...]:
    """Return the queries of one published part; those of one class are left out."""
    X, levels, qid = load_svmlight(PATHS[number], n_features=N_FEATURES)
    X, y, numbers = X.toarray(), levels > 0, _numbers(PATHS[number])
    queries = (np.flatnonzero(qid == query) for query in np.unique(qid))
    return tuple(
        Sample(
            {FEATURES: X[rows]},
            _designs(X[rows], numbers[rows]),
            y[rows],
            int(qid[rows[0]]),
        )
        for rows in queries
        if 0 < y[rows].sum() < rows.size
    )


def _numbers(path: Path) -> np.ndarray:
    """Read the number of each document from the comment of its line."""
    with gzip.open(path, "rt") as lines:
        matches = (re.search(r"#docid=(\d+)", line) for line in lines)
        return np.array([int(one.group(1)) for one in matches if one])


def _designs(X: np.ndarray, numbers: np.ndarray) -> dict[str, Edges]:
    similar, near = _most_similar(X, 300), _near(numbers)
    columns = np.zeros((len(similar.pairs) + len(near.pairs), 1 + len(DISTANCES)))
    columns[: len(similar.pairs), 0] = 1.0
    columns[len(similar.pairs) :, 1:] = near.features
    pairs = np.concatenate([similar.pairs, near.pairs])
    return {
        SIMILAR: Edges(similar.pairs[:100], similar.features[:100]),
        MORE_SIMILAR: similar,
        NEAR: near,
        SIMILAR_OR_NEAR: Edges(pairs, columns),
    }


def _most_similar(X: np.ndarray, n_pairs: int) -> Edges:
    """Join the pairs of highest cosine, the highest first."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    unit = X / np.maximum(norms, np.finfo(float).tiny)
    i, j = np.triu_indices(len(X), 1)
    cosine = np.einsum("ij,ij->i", unit[i], unit[j]).round(9)  # alike on every machine
    first = np.argsort(-cosine, kind="stable")[:n_pairs]
    return Edges(np.column_stack([i[first], j[first]]), np.ones((first.size, 1)))


def _near(numbers: np.ndarray) -> Edges:
    apart = np.abs(numbers[:, None] - numbers)
    pairs = np.argwhere(np.triu(apart <= max(DISTANCES), 1))
    distance = apart[tuple(pairs.T)]
    columns = [distance <= most for most in DISTANCES]
    return Edges(pairs, np.column_stack(columns).astype(float))


def documents(number: int) -> Split:
    """Return a fold as LETOR has it: three parts to learn from, then one, then one."""
    turned = [part((number + step) % N_PARTS) for step in range(N_PARTS)]
    train = [one for some in turned[:3] for one in some]
    return Split([(train, turned[3])], train, turned[4])
