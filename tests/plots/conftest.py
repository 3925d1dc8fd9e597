import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

RNG = np.random.default_rng(0)
LABELS = RNG.random(400) < 0.2


@pytest.fixture(autouse=True)
def without_a_screen():
    with mpl.rc_context():
        mpl.use("agg")
        yield
        plt.close("all")


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="session")
def sample():
    """Labels, good scores and poor scores, with ties among the latter."""
    good = RNG.normal(size=LABELS.size) + 2.0 * LABELS
    poor = np.round(RNG.normal(size=LABELS.size) + 0.5 * LABELS)
    return LABELS, good, poor


class Scorer:
    """A fitted model that scores by its first column."""

    classes_ = (False, True)

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


@pytest.fixture
def scorer():
    return Scorer()
