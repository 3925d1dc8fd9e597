"""Errors with fields: others need not read the message to know what it says."""

import pickle

import pytest

from aucmax.exceptions import ModelFileError, TooManyValuesError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            TooManyValuesError("y has 3 values", False),
            "y has 3 values. Pass pos_label= to rank one value above all others.",
        ),
        (
            TooManyValuesError("y has 3 values", True),
            "y has 3 values. Pass pos_label= to rank one value above all others; if "
            "they are levels of relevance, use a model that learns levels.",
        ),
        (ModelFileError("it is cut short"), "it is cut short"),
        (ModelFileError("it is new", "Upgrade."), "it is new. Upgrade."),
    ],
)
def test_messages_are_made_of_the_fields_and_survive_a_pickle(error, message):
    assert str(error) == message
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == message
    assert vars(again) == vars(error)
