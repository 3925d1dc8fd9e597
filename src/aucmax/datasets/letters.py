"""Noisy pictures of letters, to separate ink from noise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from aucmax.datasets.generators import RandomState, as_generator

_HEIGHT = 20
_FIRST_WIDTH = 17
_STEP = 14  # columns from a letter to the next
_PEN = 2.6  # thickness of a stroke in pixels
# the lines run through this box of the first letter: left, top, width, height
_BOX = (3.75, 3.5, 9.5, 13.0)

Point = tuple[float, float]


def _arc(x: float, y: float, rx: float, ry: float, start: int, end: int) -> list[Point]:
    """Return points of an ellipse from angle to angle, in degrees: 0 right, 90 down."""
    angles = np.radians(np.linspace(start, end, 13))
    return [(x + rx * float(np.cos(a)), y + ry * float(np.sin(a))) for a in angles]


# strokes in a box of width and height 1: x to the right, y down
_STROKES: dict[str, list[list[Point]]] = {
    "A": [[(0, 1), (0.5, 0), (1, 1)], [(0.2, 0.66), (0.8, 0.66)]],
    "B": [
        [(0.6, 0.47), (0, 0.47), (0, 0), (0.6, 0)],
        _arc(0.6, 0.235, 0.3, 0.235, -90, 90),
        [(0.6, 0.47), (0.65, 0.47)],
        _arc(0.65, 0.735, 0.35, 0.265, -90, 90),
        [(0.65, 1), (0, 1), (0, 0.47)],
    ],
    "C": [_arc(0.53, 0.5, 0.53, 0.5, -45, -315)],
    "D": [[(0.4, 0), (0, 0), (0, 1), (0.4, 1)], _arc(0.4, 0.5, 0.6, 0.5, -90, 90)],
    "E": [[(1, 0), (0, 0), (0, 1), (1, 1)], [(0, 0.5), (0.8, 0.5)]],
    "F": [[(1, 0), (0, 0), (0, 1)], [(0, 0.5), (0.8, 0.5)]],
    "G": [_arc(0.53, 0.5, 0.53, 0.5, -45, -320), [(0.6, 0.55), (1, 0.55), (1, 0.86)]],
    "H": [[(0, 0), (0, 1)], [(1, 0), (1, 1)], [(0, 0.5), (1, 0.5)]],
    "I": [[(0.5, 0), (0.5, 1)], [(0.15, 0), (0.85, 0)], [(0.15, 1), (0.85, 1)]],
    "J": [[(0.85, 0), (0.85, 0.65)], _arc(0.45, 0.65, 0.4, 0.35, 0, 170)],
    "K": [[(0, 0), (0, 1)], [(1, 0), (0, 0.6)], [(0.35, 0.4), (1, 1)]],
    "L": [[(0, 0), (0, 1), (1, 1)]],
    "M": [[(0, 1), (0, 0), (0.5, 0.6), (1, 0), (1, 1)]],
    "N": [[(0, 1), (0, 0), (1, 1), (1, 0)]],
    "O": [_arc(0.5, 0.5, 0.5, 0.5, 0, 180), _arc(0.5, 0.5, 0.5, 0.5, 180, 360)],
    "P": [
        [(0, 1), (0, 0), (0.65, 0)],
        _arc(0.65, 0.27, 0.35, 0.27, -90, 90),
        [(0.65, 0.54), (0, 0.54)],
    ],
    "Q": [
        _arc(0.5, 0.5, 0.5, 0.5, 0, 180),
        _arc(0.5, 0.5, 0.5, 0.5, 180, 360),
        [(0.6, 0.68), (1, 1)],
    ],
    "R": [
        [(0, 1), (0, 0), (0.65, 0)],
        _arc(0.65, 0.25, 0.35, 0.25, -90, 90),
        [(0.65, 0.5), (0, 0.5)],
        [(0.5, 0.5), (1, 1)],
    ],
    "S": [
        _arc(0.5, 0.25, 0.45, 0.25, -20, -270),
        _arc(0.5, 0.75, 0.47, 0.25, -90, 160),
    ],
    "T": [[(0, 0), (1, 0)], [(0.5, 0), (0.5, 1)]],
    "U": [[(0, 0), (0, 0.6)], _arc(0.5, 0.6, 0.5, 0.4, 180, 0), [(1, 0.6), (1, 0)]],
    "V": [[(0, 0), (0.5, 1), (1, 0)]],
    "W": [[(0, 0), (0.12, 1), (0.5, 0.4), (0.88, 1), (1, 0)]],
    "X": [[(0, 0), (1, 1)], [(1, 0), (0, 1)]],
    "Y": [[(0, 0), (0.5, 0.5), (1, 0)], [(0.5, 0.5), (0.5, 1)]],
    "Z": [[(0, 0), (1, 0), (0, 1), (1, 1)]],
}


def make_letter_images(
    text: str = "A",
    n_images: int = 10,
    *,
    flip: float = 0.15,
    random_state: RandomState = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw letters and turn each pixel with some probability.

    Letters start every 14 columns in a picture of 20 rows: one letter makes 17
    columns, three make 45. About a quarter of the pixels is ink. A pixel by itself
    says little, while neighbours are mostly alike, so that a model that knows
    neighbours can rank the pixels far better.

    Parameters
    ----------
    text : str
        Letters from A to Z.
    n_images : int
        The number of pictures, all of the same text with noise of their own.
    flip : float
        The probability, for each pixel by itself, of being turned from 0 to 1 or from
        1 to 0; from 0 to 1.
    random_state : int, Generator, RandomState or None
        An int makes the result reproducible.

    Returns
    -------
    images : ndarray of float64 of shape (n_images, 20, 14 * len(text) + 3)
        With noise, 0 or 1.
    masks : ndarray of int64 of shape (n_images, 20, 14 * len(text) + 3)
        Without noise: 1 for ink and 0 elsewhere.

    References
    ----------
    .. [1] N. Rosenfeld, O. Meshi, D. Tarlow, A. Globerson. Learning structured models
       with the AUC loss and its generalizations. AISTATS 2014, section 6 (the
       experiment; the letters are our own).

    Examples
    --------
    >>> from aucmax.datasets import make_letter_images
    >>> images, masks = make_letter_images("AUC", 5, random_state=0)
    >>> images.shape, masks[0].sum().item()
    ((5, 20, 45), 250)
    """
    letters = _check_text(text)
    if n_images < 1:
        raise ValueError(f"n_images must be at least 1, got {n_images!r}.")
    if not 0 <= flip <= 1:
        raise ValueError(f"flip must be from 0 to 1, got {flip!r}.")
    page = np.zeros((_HEIGHT, _FIRST_WIDTH + _STEP * (len(letters) - 1)), np.int64)
    for place, letter in enumerate(letters):
        page |= _draw(letter, place * _STEP, page.shape[1])
    masks = np.repeat(page[np.newaxis], n_images, axis=0)
    turned = as_generator(random_state).random(masks.shape) < flip
    return (masks ^ turned).astype(np.float64), masks


def _check_text(text: str) -> str:
    unknown = [letter for letter in text if letter not in _STROKES]
    if unknown:
        raise ValueError(
            f"text may hold the letters from A to Z, got {unknown[0]!r} in {text!r}."
        )
    if not text:
        raise ValueError("text is empty; give at least one letter, such as 'A'.")
    return text


def _draw(letter: str, shift: int, width: int) -> NDArray[np.int64]:
    """Return the page with this letter alone: pixels whose centre the pen covers."""
    left, top, box_width, box_height = _BOX
    # centres of all pixels, measured in pixels
    centres = np.moveaxis(np.mgrid[:_HEIGHT, :width][::-1], 0, -1) + 0.5
    ink = np.zeros((_HEIGHT, width), dtype=np.bool_)
    for stroke in _STROKES[letter]:
        points = np.array(stroke) * (box_width, box_height) + (left + shift, top)
        for start, end in pairwise(points):
            ink |= _distance(centres, start, end) <= _PEN / 2
    return ink.astype(np.int64)


def _distance(
    points: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the distance of each point from the line from start to end."""
    along = end - start
    share = ((points - start) @ along / (along @ along)).clip(0, 1)
    return np.asarray(
        np.linalg.norm(points - start - share[..., np.newaxis] * along, axis=-1)
    )
