"""A small network for tables: curves of numbers, vectors of categories, two layers."""

from collections.abc import Sequence

import numpy as np
import torch

from aucmax._validation import FloatArray

__all__ = ["TableNetwork", "find_knots", "find_places"]

_PLACE_OF_A_GAP = -1.0
_FIRST_STEEPNESS = 0.3  # of curves: the number itself is what is seen first


class TableNetwork(torch.nn.Module):
    """Scores of rows, by the places of their numbers and the codes of their categories.

    A number becomes ramps between the quantiles of its column, each from 0 to 1, and
    these a few learned curves (piecewise-linear embeddings [1]_), next to the number
    itself, standardized. A gap has a vector of its own, and so has each category;
    unknown ones share one.

    Parameters
    ----------
    knots : ndarray of shape (n_numbers, n_knots)
        Quantiles of each column of numbers.
    n_categories : sequence of int
        Known values of each column of categories.
    embedding_size : int
        Curves of each column.
    hidden_sizes : sequence of int
        Units of the layers.
    dropout : float
        Share of the units that are left out in training.

    References
    ----------
    .. [1] Y. Gorishniy, I. Rubachev, A. Babenko. On embeddings for numerical features
       in tabular deep learning. NeurIPS 2022.
    """

    def __init__(
        self,
        knots: FloatArray,
        n_categories: Sequence[int],
        embedding_size: int,
        hidden_sizes: Sequence[int],
        dropout: float,
    ) -> None:
        super().__init__()
        n_numbers, n_knots = knots.shape
        starts = np.tile(np.arange(n_knots - 1.0), (n_numbers, 1))
        # a quantile that is several at once has no ramp between them
        starts[knots[:, 1:] == knots[:, :-1]] = np.inf
        # not to be learned, and not to be kept either: they belong to the columns
        self.starts = torch.tensor(starts, dtype=torch.float32)
        offsets = np.cumsum([0, *(size + 1 for size in n_categories)])
        self.offsets = torch.tensor(offsets[:-1])
        heights = _standardized(knots)
        # the number itself is a curve, too: a gap is in the middle
        line = np.column_stack((np.diff(heights, axis=1), -heights[:, 0]))
        self.line = torch.tensor(line, dtype=torch.float32)[:, :, None]
        base = np.zeros((n_numbers, embedding_size + 1))
        base[:, -1] = heights[:, 0]
        self.base = torch.tensor(base, dtype=torch.float32)
        scale = _FIRST_STEEPNESS * n_knots**-0.5
        self.curves = torch.nn.Parameter(
            torch.empty(n_numbers, n_knots, embedding_size).uniform_(-scale, scale)
        )
        # the vectors of all columns, one below the other
        self.categories = torch.nn.Embedding(int(offsets[-1]), embedding_size)
        layers: list[torch.nn.Module] = []
        width = base.size + len(n_categories) * embedding_size
        for size in hidden_sizes:
            layers += [
                torch.nn.Linear(width, size),
                torch.nn.ReLU(),
                torch.nn.Dropout(dropout),
            ]
            width = size
        # a constant in all scores changes no order
        layers += [torch.nn.Linear(width, 1, bias=False), torch.nn.Flatten(0)]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, places: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
        """Return a score for each row.

        Parameters
        ----------
        places : tensor of shape (n_rows, n_numbers)
            Of numbers among the knots: see :func:`find_places`.
        codes : tensor of shape (n_rows, n_columns)
            Of categories; 0 where they are unknown.

        Returns
        -------
        tensor of shape (n_rows,)
            Scores.
        """
        ramps = torch.cat((places[:, :, None] - self.starts, -places[:, :, None]), 2)
        curves = torch.cat((self.curves, self.line), dim=2)
        found = torch.einsum("nck,cke->nce", ramps.clamp_(0.0, 1.0), curves)
        numbers = (found + self.base).flatten(1)
        categories = self.categories(codes + self.offsets).flatten(1)
        scores: torch.Tensor = self.layers(torch.cat((numbers, categories), dim=1))
        return scores


def find_knots(numbers: FloatArray, n_ramps: int) -> FloatArray:
    """Return quantiles of each column, in rows; gaps do not count.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_numbers)
        NaN where a value is missing.
    n_ramps : int
        Ramps between the quantiles.

    Returns
    -------
    ndarray of shape (n_numbers, n_ramps + 1)
        Rising; the same number where a column has few values or none.
    """
    knots = np.zeros((numbers.shape[1], n_ramps + 1))
    shares = np.linspace(0.0, 1.0, n_ramps + 1)
    for column, own in enumerate(numbers.T):
        known = own[~np.isnan(own)]
        if known.size:
            values = np.unique(known)
            few = values.size <= n_ramps + 1
            found = values if few else np.quantile(known, shares)
            knots[column] = found[-1]
            knots[column, : found.size] = found
    return knots


def find_places(numbers: FloatArray, knots: FloatArray) -> torch.Tensor:
    """Return where each number is among the knots of its column.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_numbers)
        NaN where a value is missing.
    knots : ndarray of shape (n_numbers, n_knots)
        Rising.

    Returns
    -------
    tensor of shape (n_rows, n_numbers)
        Of float32: 2.5 is half-way between the knots 2 and 3, from 0; -1 is a gap.
    """
    places = np.empty(numbers.shape, dtype=np.float32)
    last = knots.shape[1] - 2
    for column, (own, bends) in enumerate(zip(numbers.T, knots, strict=True)):
        before = np.searchsorted(bends, own, side="right").clip(1, last + 1) - 1
        # halves, since the whole way may be too long for a number
        start = bends[before] / 2
        way, length = own / 2 - start, bends[before + 1] / 2 - start
        share = np.divide(way, length, out=np.zeros_like(way), where=length > 0.0)
        place = before + share.clip(0.0, 1.0)
        places[:, column] = np.where(np.isnan(own), _PLACE_OF_A_GAP, place)
    return torch.from_numpy(places)


def _standardized(knots: FloatArray) -> FloatArray:
    """Return the knots of each column less their median, by their spread."""
    # halves, since the whole way may be too long for a number
    heights = knots / 2 - knots[:, :1] / 2
    heights = _divided(heights, heights[:, -1:])  # squares may be too large, too
    heights = _divided(heights, heights.std(axis=1, keepdims=True))
    return np.asarray(heights - np.median(heights, axis=1, keepdims=True))


def _divided(heights: FloatArray, units: FloatArray) -> FloatArray:
    return heights / np.where(units > 0.0, units, 1.0)
