"""Noisy letters, of which the pixels with ink are to come first."""

import numpy as np

from aucmax.datasets import make_letter_images
from aucmax.graphs import grid_edges
from benchmarks.papers.rosenfeld2014.samples import Edges, Sample, Split

PIXELS = "pixels"
FOUR, EIGHT = "4 neighbours", "8 neighbours"
N_TRAIN = 10
TEXTS = ("CAT", "DOG", "SUN", "BIG", "HEX", "JAM", "KEY", "LOW", "PRY", "VIZ")


def images_of(text: str, n_images: int, seed: int) -> list[Sample]:
    """Return noisy pictures of a text as samples, a node for each pixel."""
    images, masks = make_letter_images(text, n_images, random_state=seed)
    height, width = images.shape[1:]
    edges = {
        FOUR: _by_direction(grid_edges(height, width, 4), width),
        EIGHT: _by_direction(grid_edges(height, width, 8), width),
    }
    return [
        Sample({PIXELS: image.reshape(-1, 1)}, edges, mask.ravel() > 0, seed)
        for image, mask in zip(images, masks, strict=True)
    ]


def _by_direction(pairs: np.ndarray, width: int) -> Edges:
    """Give each direction a column: along the row, down, and aslant if there is one."""
    step = pairs[:, 1] - pairs[:, 0]
    columns = [step == 1, step == width]
    if not np.logical_or(*columns).all():
        columns.append(~np.logical_or(*columns))
    return Edges(pairs, np.column_stack(columns).astype(float))


def letters(number: int) -> Split:
    """Return noisy letters A to learn from and to choose by, and texts to test.

    Each fold has noise and texts of its own: two seeds for the letter A, one for each
    text.
    """
    train, valid = (images_of("A", N_TRAIN, 1000 * number + k) for k in range(2))
    test = [
        one
        for k, text in enumerate(TEXTS)
        for one in images_of(text, 1, 1000 * number + 10 + k)
    ]
    return Split([(train, valid)], train, test)
