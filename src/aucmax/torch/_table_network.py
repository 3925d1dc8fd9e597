"""A small network for tables: curves of numbers, vectors of categories, two layers."""

from collections.abc import Sequence

import numpy as np
import torch

from aucmax._validation import FloatArray

__all__ = ["TableNetwork", "find_knots"]


class TableNetwork(torch.nn.Module):
    """Scores of rows of numbers and of category codes.

    A number becomes ramps between the quantiles of its column, each from 0 to 1, and
    these a few learned curves (piecewise-linear embeddings [1]_). A gap has a vector of
    its own, and so has each category; unknown ones share one.

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
        widths = np.diff(knots, axis=1)
        # a quantile that is several at once has no ramp between them
        widths[widths == 0.0] = np.inf
        # not to be learned, and not to be kept either: they belong to the columns
        self.lows = torch.tensor(knots[:, :-1])
        self.widths = torch.tensor(widths)
        scale = n_knots**-0.5
        self.curves = torch.nn.Parameter(
            torch.empty(n_numbers, n_knots, embedding_size).uniform_(-scale, scale)
        )
        self.heights = torch.nn.Parameter(
            torch.empty(n_numbers, embedding_size).uniform_(-scale, scale)
        )
        self.categories = torch.nn.ModuleList(
            torch.nn.Embedding(size + 1, embedding_size) for size in n_categories
        )
        layers: list[torch.nn.Module] = []
        width = (n_numbers + len(n_categories)) * embedding_size
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

    def forward(self, numbers: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
        """Return a score for each row.

        Parameters
        ----------
        numbers : tensor of shape (n_rows, n_numbers)
            Of float64; NaN where a value is missing.
        codes : tensor of shape (n_rows, n_columns)
            Of categories; 0 where they are unknown.

        Returns
        -------
        tensor of shape (n_rows,)
            Scores.
        """
        ramps = ((numbers[:, :, None] - self.lows) / self.widths).clamp(0.0, 1.0)
        gaps = torch.isnan(numbers)[:, :, None]
        ramps = torch.cat((torch.where(gaps, 0.0, ramps), gaps.double()), dim=2)
        curves = torch.einsum("nck,cke->nce", ramps.float(), self.curves)
        parts = [(curves + self.heights).relu().flatten(1)]
        parts += [own(code) for own, code in zip(self.categories, codes.T, strict=True)]
        scores: torch.Tensor = self.layers(torch.cat(parts, dim=1))
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
