"""Small estimators that the tests register as if they were aucmax's own."""

import numpy as np
from sklearn.base import BaseEstimator


class Toy(BaseEstimator):
    """Takes anything as parameters and as state."""

    _unsaved_params = ("callback",)
    _unsaved_attributes = ("cache_",)

    def __init__(self, size=1.0, inner=None, callback=None):
        self.size = size
        self.inner = inner
        self.callback = callback

    @property
    def area(self):
        return self.size**2

    def predict(self, X):
        return np.asarray(X) * self.size


class Checked(BaseEstimator):
    """Has an opinion on its state: one weight for each name."""

    def __init__(self, names=()):
        self.names = names

    def _check_state(self):
        if hasattr(self, "weights_") and len(self.weights_) != len(self.names):
            raise ValueError("weights_ and names differ in length")


class Stranger(BaseEstimator):
    """Not registered."""


def with_state(estimator, **state):
    """Set fitted attributes and return the estimator."""
    for name, value in state.items():
        setattr(estimator, name, value)
    return estimator
