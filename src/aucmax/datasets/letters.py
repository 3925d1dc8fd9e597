"""Noisy pictures of letters, to separate ink from noise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from aucmax._core.parameters import check_integer, check_number
from aucmax.datasets.generators import RandomState, as_generator

_HEIGHT = 20
_FIRST_WIDTH = 17
_STEP = 14  # columns from a letter to the next
_PEN = 2.6  # thickness of a stroke in pixels
# the lines run through this box of the first letter
_BOX_START, _BOX_SIZE = np.array([3.75, 3.5]), np.array([9.5, 13.0])

# strokes in a box of width and height 1: points with x to the right and y down, or an
# arc, ~x,y,rx,ry,start,end, of an ellipse from angle to angle (0 right, 90 down)
_STROKES = """
A: 0,1 .5,0 1,1 | .2,.66 .8,.66
B: .6,.47 0,.47 0,0 .6,0 | ~.6,.235,.3,.235,-90,90 |
.6,.47 .65,.47 | ~.65,.735,.35,.265,-90,90 | .65,1 0,1 0,.47
C: ~.53,.5,.53,.5,-45,-315
D: .4,0 0,0 0,1 .4,1 | ~.4,.5,.6,.5,-90,90
E: 1,0 0,0 0,1 1,1 | 0,.5 .8,.5
F: 1,0 0,0 0,1 | 0,.5 .8,.5
G: ~.53,.5,.53,.5,-45,-320 | .6,.55 1,.55 1,.86
H: 0,0 0,1 | 1,0 1,1 | 0,.5 1,.5
I: .5,0 .5,1 | .15,0 .85,0 | .15,1 .85,1
J: .85,0 .85,.65 | ~.45,.65,.4,.35,0,170
K: 0,0 0,1 | 1,0 0,.6 | .35,.4 1,1
L: 0,0 0,1 1,1
M: 0,1 0,0 .5,.6 1,0 1,1
N: 0,1 0,0 1,1 1,0
O: ~.5,.5,.5,.5,0,180 | ~.5,.5,.5,.5,180,360
P: 0,1 0,0 .65,0 | ~.65,.27,.35,.27,-90,90 | .65,.54 0,.54
Q: ~.5,.5,.5,.5,0,180 | ~.5,.5,.5,.5,180,360 | .6,.68 1,1
R: 0,1 0,0 .65,0 | ~.65,.25,.35,.25,-90,90 | .65,.5 0,.5 | .5,.5 1,1
S: ~.5,.25,.45,.25,-20,-270 | ~.5,.75,.47,.25,-90,160
T: 0,0 1,0 | .5,0 .5,1
U: 0,0 0,.6 | ~.5,.6,.5,.4,180,0 | 1,.6 1,0
V: 0,0 .5,1 1,0
W: 0,0 .12,1 .5,.4 .88,1 1,0
X: 0,0 1,1 | 1,0 0,1
Y: 0,0 .5,.5 1,0 | .5,.5 .5,1
Z: 0,0 1,0 0,1 1,1
"""


def _points(stroke: str) -> NDArray[np.float64]:
    """Return the corners of a stroke, or the points of an arc."""
    if not stroke.startswith("~"):
        return np.array(
            [point.split(",") for point in stroke.split()], dtype=np.float64
        )
    x, y, rx, ry, start, end = map(float, stroke[1:].split(","))
    angles = np.radians(np.linspace(start, end, 13))
    return np.column_stack([x + rx * np.cos(angles), y + ry * np.sin(angles)])


_LINES = _STROKES.strip().replace("|\n", "| ").splitlines()
_LETTERS = dict(line.split(": ") for line in _LINES)


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
    unknown = [letter for letter in text if letter not in _LETTERS]
    if unknown:
        raise ValueError(
            f"text may hold the letters from A to Z, got {unknown[0]!r} in {text!r}."
        )
    if not text:
        raise ValueError("text is empty; give at least one letter, such as 'A'.")
    check_integer("n_images", n_images)
    check_number("flip", flip, 0.0, 1.0)
    page = np.zeros((_HEIGHT, _FIRST_WIDTH + _STEP * (len(text) - 1)), np.int64)
    for place, letter in enumerate(text):
        page |= _draw(letter, place * _STEP, page.shape[1])
    masks = np.repeat(page[np.newaxis], n_images, axis=0)
    turned = as_generator(random_state).random(masks.shape) < flip
    return (masks ^ turned).astype(np.float64), masks


def _draw(letter: str, shift: int, width: int) -> NDArray[np.int64]:
    """Return the page with this letter alone: pixels whose centre the pen covers."""
    # centres of all pixels, measured in pixels
    centres = np.moveaxis(np.mgrid[:_HEIGHT, :width][::-1], 0, -1) + 0.5
    ink = np.zeros((_HEIGHT, width), dtype=np.bool_)
    for stroke in _LETTERS[letter].split(" | "):
        points = _points(stroke) * _BOX_SIZE + _BOX_START + (shift, 0.0)
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
