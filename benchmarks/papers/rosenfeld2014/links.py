"""Future co-authors, of authors at distance two in the years before.

A sample is a focal author in a year. The graph holds all co-authorships of the years
before; the candidates are the authors at distance two; positive are those who publish
with the focal author in the year for the first time.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import rankdata

from benchmarks.papers.data import FOLDER
from benchmarks.papers.rosenfeld2014.samples import Edges, Sample, Split

PATH: Path = FOLDER / "nips_coauthor" / "authorship.csv.gz"
FIRST_YEAR = 1987
MEASURES = ("Adamic-Adar", "Katz", "Jaccard", "common neighbours")
KATZ_DECAY = 0.05
RAW, RANKS = "measures", "ranks"
LINKS, RECENT, BY_AGE = "all links", "links of two years", "links by age"
AGES = (1, 2, 3, 5, 10)  # years: a column each for links not older than that
RECENT_YEARS = 2
CHUNK = 20_000  # pairs at a time


class Lists(NamedTuple):
    """The candidates of all focal authors of one year, one list after the other."""

    focal: np.ndarray
    candidate: np.ndarray
    measures: np.ndarray
    y: np.ndarray
    graph: sparse.csr_matrix


@lru_cache(maxsize=1)
def _authorship() -> pd.DataFrame:
    return pd.read_csv(PATH)


def network(first: int, last: int) -> sparse.csr_matrix:
    """Return who published with whom in these years, as a matrix of 0 and 1."""
    rows = _authorship()
    size = (rows["paper"].max() + 1, rows["author"].max() + 1)
    rows = rows[rows["year"].between(first, last)]
    ones = np.ones(len(rows))
    wrote = sparse.csr_matrix((ones, (rows["paper"], rows["author"])), shape=size)
    together = (wrote.T @ wrote).tocsr()
    together.setdiag(0)
    together.eliminate_zeros()
    together.data[:] = 1.0
    return together


def pair_measures(
    graph: sparse.csr_matrix, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return the four measures for pairs of authors; Katz counts walks of 1 to 4."""
    degree = np.asarray(graph.sum(axis=1)).ravel()
    informative = np.where(degree > 1, 1.0 / np.log(np.maximum(degree, 2.0)), 0.0)
    walks_of_two = (graph @ graph).tocsr()
    weighted = (graph @ sparse.diags(informative)).tocsr()
    columns_of_pairs = np.empty((left.size, len(MEASURES)))
    for start in range(0, left.size, CHUNK):
        i, j = left[start : start + CHUNK], right[start : start + CHUNK]
        common = _products(graph[i], graph[j])
        katz = (
            KATZ_DECAY * np.asarray(graph[i, j]).ravel()
            + KATZ_DECAY**2 * common
            + KATZ_DECAY**3 * _products(walks_of_two[i], graph[j])
            + KATZ_DECAY**4 * _products(walks_of_two[i], walks_of_two[j])
        )
        jaccard = common / np.maximum(degree[i] + degree[j] - common, 1.0)
        adamic_adar = _products(weighted[i], graph[j])
        columns = (adamic_adar, katz, jaccard, common)
        columns_of_pairs[start : start + CHUNK] = np.column_stack(columns)
    return columns_of_pairs


def _products(left: sparse.csr_matrix, right: sparse.csr_matrix) -> np.ndarray:
    return np.asarray(left.multiply(right).sum(axis=1)).ravel()


def year_lists(first: int, before: int, last: int) -> Lists:
    """Return the lists of the network of the years from `first` to `before` - 1.

    Positive are the links of the years from `before` to `last`. Authors count who have
    candidates of both kinds.
    """
    graph = network(first, before - 1)
    new = network(before, last)
    near = (graph @ graph).tocsr()
    near.setdiag(0)
    near.data[:] = near.data > 0
    near = (near - near.multiply(graph)).tocsr()
    near.eliminate_zeros()
    near.sort_indices()
    hits = near.multiply(new).tocsr()
    n_candidates, n_hits = np.diff(near.indptr), np.diff(hits.indptr)
    focal = np.flatnonzero((n_hits > 0) & (n_hits < n_candidates))
    near, hits = near[focal], hits[focal]
    left = np.repeat(focal, np.diff(near.indptr))
    right = near.indices.astype(np.int64)
    y = np.asarray(new[left, right]).ravel() > 0
    return Lists(left, right, pair_measures(graph, left, right), y, graph)


def _edges_within(lists: Lists) -> tuple[np.ndarray, np.ndarray]:
    """Return the links between candidates of one list, as rows of all lists."""
    graph, width = lists.graph, lists.graph.shape[0]
    keys = lists.focal * width + lists.candidate  # ascending
    counts = np.diff(graph.indptr)[lists.candidate]
    rows = np.repeat(np.arange(keys.size), counts)
    offsets = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbour = graph.indices[graph.indptr[lists.candidate][rows] + offsets]
    wanted = lists.focal[rows] * width + neighbour
    place = np.searchsorted(keys, wanted).clip(max=keys.size - 1)
    kept = (keys[place] == wanted) & (rows < place)
    return rows[kept], place[kept]


def _edge_measures(lists: Lists, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    ends = np.column_stack([lists.candidate[left], lists.candidate[right]])
    distinct, place = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    return pair_measures(lists.graph, *distinct.T)[place.ravel()]


def _is_younger(
    lists: Lists, year: int, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return for each of AGES whether the two published together so lately."""
    ends = lists.candidate[left], lists.candidate[right]
    columns = [
        np.asarray(network(year - age, year - 1)[ends]).ravel() > 0 for age in AGES
    ]
    return np.column_stack(columns)


@lru_cache(maxsize=32)
def samples_of(year: int) -> tuple[Sample, ...]:
    """Return the samples of one year, in the order of the focal authors."""
    lists = year_lists(FIRST_YEAR, year, year)
    left, right = _edges_within(lists)
    ones = np.ones((left.size, 1))
    younger = _is_younger(lists, year, left, right)
    is_recent = younger[:, AGES.index(RECENT_YEARS)]
    designs = {
        LINKS: (slice(None), np.hstack([ones, _edge_measures(lists, left, right)])),
        RECENT: (is_recent, ones[is_recent]),
        BY_AGE: (slice(None), np.hstack([younger, ones])),
    }
    starts = np.flatnonzero(np.diff(lists.focal, prepend=-1))
    ends = np.append(starts[1:], lists.focal.size)
    edges_by_sample: list[dict[str, Edges]] = [{} for _ in starts]
    for name, (kept, features) in designs.items():
        pairs = np.column_stack([left[kept], right[kept]])
        low, high = np.searchsorted(pairs[:, 0], [starts, ends])  # they ascend
        for edges, start, a, b in zip(edges_by_sample, starts, low, high, strict=True):
            edges[name] = Edges(pairs[a:b] - start, features[a:b])
    return tuple(
        Sample(
            {RAW: lists.measures[a:b], RANKS: _ranks(lists.measures[a:b])},
            edges,
            lists.y[a:b],
            int(lists.focal[a]),
        )
        for edges, a, b in zip(edges_by_sample, starts, ends, strict=True)
    )


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return for each column the share of rows that are not above."""
    return rankdata(values, axis=0) / len(values)


def samples_between(first: int, last: int) -> list[Sample]:
    """Return the samples of all years."""
    return [one for year in range(first, last + 1) for one in samples_of(year)]


def three_periods(train: int, valid: int, test: int, end: int) -> Split:
    """Return a split by the first years of three periods, and the last of the last."""
    fitted = samples_between(train, valid - 1)
    judged = samples_between(valid, test - 1)
    return Split([(fitted, judged)], fitted, samples_between(test, end))


def by_years(first: int, test: int, end: int, n_rounds: int = 5) -> Split:
    """Return a split that chooses by cross-validation over blocks of years."""
    blocks = np.array_split(np.arange(first, test), n_rounds)
    parts = [samples_between(block[0], block[-1]) for block in blocks]
    rounds = [
        ([one for other in parts if other is not part for one in other], part)
        for part in parts
    ]
    return Split(rounds, samples_between(first, test - 1), samples_between(test, end))
