"""Common parts of the three applications: samples to rank, and how they are split."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aucmax.graphs import Graph


class Edges(NamedTuple):
    """Pairs of nodes, and columns of numbers that are not negative for each pair."""

    pairs: np.ndarray
    features: np.ndarray


@dataclass(frozen=True)
class Sample:
    """One list to rank: an image, a focal author in a year, or a query.

    Attributes
    ----------
    tables : dict
        Node features by name; each a variant to choose from.
    edges : dict
        Edges by name; each a variant to choose from.
    y : ndarray of bool
        Which nodes are positive.
    group : int
        Samples of the same group (author) are not independent.
    """

    tables: dict[str, np.ndarray]
    edges: dict[str, Edges]
    y: np.ndarray
    group: int

    def edge_sums(self, name: str) -> np.ndarray:
        """Return the sums of the edge features at each node."""
        pairs, features = self.edges[name]
        sums = np.zeros((self.y.size, features.shape[1]))
        for end in pairs.T:
            np.add.at(sums, end, features)
        return sums

    def neighbour_sums(self, table: str, name: str) -> np.ndarray:
        """Return sums of the neighbours' node features, for each edge feature apart."""
        pairs, features = self.edges[name]
        node_features = self.tables[table]
        sums = np.zeros((self.y.size, features.shape[1], node_features.shape[1]))
        for i, j in (pairs.T, pairs.T[::-1]):
            np.add.at(sums, i, features[:, :, None] * node_features[j][:, None, :])
        return sums.reshape(self.y.size, -1)

    def graph(self, node_features: np.ndarray, name: str, scale: np.ndarray) -> Graph:
        """Return the graph with these node features and scaled edge features."""
        pairs, features = self.edges[name]
        return Graph(node_features, pairs, features / scale)


@dataclass(frozen=True)
class Split:
    """Samples to choose by, pairs of lists for fitting and judging; then the test.

    Attributes
    ----------
    rounds : sequence of pairs
        Lists to fit on and to judge by; a setting is chosen by the mean over all
        samples that are judged.
    train, test : sequence of Sample
        Samples for the fit of the chosen setting, and for its test.
    """

    rounds: Sequence[tuple[Sequence[Sample], Sequence[Sample]]]
    train: Sequence[Sample]
    test: Sequence[Sample]


def query_ids(samples: Sequence[Sample]) -> np.ndarray:
    """Return the number of its sample for each node of all samples."""
    return np.repeat(range(len(samples)), [one.y.size for one in samples])


def labels(samples: Sequence[Sample]) -> np.ndarray:
    """Return the labels of all nodes of all samples."""
    return np.concatenate([one.y for one in samples])
