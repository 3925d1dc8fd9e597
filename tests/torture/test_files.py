"""Files of every estimator under attack: one exception rejects them, or they score."""

import random

import numpy as np
import pytest

from aucmax.exceptions import ModelFileError
from aucmax.persistence.model_file import _pack, _unpack
from aucmax.persistence.registry import public_name
from every_model import MODELS, fitted, scores
from persistence.test_model_file_fuzz import MUTATIONS
from persistence.test_saved_state import file_of, forge_values
from torture.amount import times


@pytest.mark.parametrize("name", MODELS)
def test_damage_is_noticed(name):
    model = fitted(name)
    content, rng = _pack(model, public_name(type(model))), random.Random(name)
    for _ in range(times(20, 3000)):
        mutant = rng.choice(MUTATIONS)(content, rng)
        if mutant != content:
            with pytest.raises(ModelFileError):
                _unpack(mutant)


@pytest.mark.filterwarnings("ignore::aucmax.exceptions.UnknownCategoriesWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_forger_gets_an_error_or_a_model_that_scores(name):
    members, class_name = file_of(fitted(name))
    rng, expected = random.Random(name + "forged"), scores(name, fitted(name))
    for _ in range(times(20, 3000)):
        try:
            model = _unpack(forge_values(name, members, class_name, rng))
        except ModelFileError:
            continue
        width = getattr(model, "n_features_in_", None)
        if width != getattr(fitted(name), "n_features_in_", None):
            # nothing else in the file says how many columns there are
            with pytest.raises(ValueError, match=f" {width}( features|\\.)"):
                scores(name, model)
            continue
        try:
            forged_scores = scores(name, model)
        except ValueError as error:
            if "convert it to the type of training" not in str(error):
                raise
            continue
        assert forged_scores.shape == expected.shape
        assert forged_scores.dtype == np.float64
