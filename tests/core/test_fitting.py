"""A fit that fails leaves nothing behind."""

import pytest

from aucmax._core.fitting import unchanged_on_failure


class Model:
    def __init__(self):
        self.coef_ = [1.0]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_an_earlier_state_comes_back_whatever_happens(error):
    def fit(model):
        with unchanged_on_failure(model):
            model.coef_, model.more_ = [2.0], 1
            raise error

    model = Model()
    before = dict(vars(model))
    with pytest.raises(error):
        fit(model)
    assert vars(model) == before
    assert model.coef_ is before["coef_"]


def test_an_interrupt_that_python_has_wrapped_is_one_again():
    inner = SystemError("returned a result with an exception set")
    inner.__cause__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt), unchanged_on_failure(Model()):
        raise inner
    with pytest.raises(KeyboardInterrupt), unchanged_on_failure(Model()):
        raise SystemError("the same, one call further out") from inner
    with pytest.raises(SystemError), unchanged_on_failure(Model()):
        raise SystemError("of another kind") from ValueError()
