import string

import numpy as np
import pytest
from scipy import ndimage

from aucmax.datasets import make_letter_images

# holes of the letters that have any
HOLES = {"A": 1, "B": 2, "D": 1, "O": 1, "P": 1, "Q": 1, "R": 1}


def clean(text):
    return make_letter_images(text, 1, flip=0.0)[1][0]


@pytest.mark.parametrize(("text", "width"), [("A", 17), ("AB", 31), ("XYZ", 45)])
def test_pictures_have_twenty_rows_and_fourteen_columns_per_letter(text, width):
    images, masks = make_letter_images(text, 4, random_state=0)
    assert images.shape == masks.shape == (4, 20, width)
    assert images.dtype == np.float64
    assert masks.dtype == np.int64
    assert set(np.unique(images)) == set(np.unique(masks)) == {0, 1}


@pytest.mark.parametrize("letter", string.ascii_uppercase)
def test_a_letter_is_one_piece_with_its_holes_and_a_margin(letter):
    mask = clean(letter)
    assert 0.15 < mask.mean() < 0.4
    assert ndimage.label(mask, np.ones((3, 3)))[1] == 1
    assert ndimage.label(1 - mask)[1] == 1 + HOLES.get(letter, 0)
    assert not mask[[0, 1, -2, -1]].any()
    assert not mask[:, [0, 1, -2, -1]].any()


def test_no_two_letters_are_alike():
    masks = [clean(letter) for letter in string.ascii_uppercase]
    different = [(a != b).sum() for i, a in enumerate(masks) for b in masks[:i]]
    assert min(different) > 10


@pytest.mark.parametrize("flip", [0.0, 0.05, 0.15, 0.5, 1.0])
def test_each_pixel_is_turned_with_its_probability(flip):
    images, masks = make_letter_images("AUC", 60, flip=flip, random_state=2)
    assert (masks == masks[0]).all()
    for value in (0, 1):
        turned = images[masks == value] != value
        spread = np.sqrt(flip * (1 - flip) / turned.size)
        assert abs(turned.mean() - flip) <= 5 * spread


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_of_numpy_are_accepted_and_advance(make):
    state = make(0)
    first, second = (make_letter_images(random_state=state)[0] for _ in range(2))
    assert (first != second).any()
    np.testing.assert_array_equal(first, make_letter_images(random_state=make(0))[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": ""}, "text is empty"),
        ({"text": "AB c"}, "from A to Z, got ' ' in 'AB c'"),
        ({"text": "Ä"}, "got 'Ä'"),
        ({"n_images": 0}, "n_images must be an integer of at least 1, got 0"),
        ({"flip": -0.1}, "flip must be a finite number from 0 to 1, got -0.1"),
        ({"flip": float("nan")}, "got nan"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_letter_images(**arguments)
