"""Shared descriptions of parameters reach every docstring that leaves them out."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from aucmax import AUCSVC, AutoRanker
from aucmax._core.docstrings import documented


def test_a_docstring_keeps_its_own_entries_and_gets_the_others_in_order():
    @documented
    def metric(y_true, k, sample_weight=None, *, unknown=1):
        """Measure.

        Parameters
        ----------
        k
            Own: one.

        Examples
        --------
        >>> 1
        1
        """

    text = metric.__doc__
    assert text.startswith("Measure.\n\nParameters\n----------\ny_true : array-like")
    assert text.index("y_true :") < text.index("k\n    Own: one.")
    assert text.index("k\n    Own") < text.index("sample_weight :")
    assert text.endswith("Examples\n--------\n>>> 1\n1")
    assert "unknown" not in text


class Base:
    coef_: float
    classes_: list

    def predict(self, X):
        """Predict.

        Returns
        -------
        list
            Labels.
        """


@documented
class Model(Base):
    """A model.

    Attributes
    ----------
    coef_ : float
        Own.
    """

    def __init__(self, verbose=0):
        self.verbose = verbose

    def fit(self, X):
        """Fit.

        Parameters
        ----------
        X : table
            Rows.
        """

    def predict(self, X):
        """Predict again."""


def test_a_class_gets_its_constructor_and_annotated_attributes():
    assert "verbose : int, default=0" in Model.__doc__
    assert Model.__doc__.count("coef_") == 1
    assert "classes_ : ndarray" in Model.__doc__


def test_methods_take_entries_of_fit_and_returns_of_what_they_override():
    assert "Returns\n-------\nself : object" in Model.fit.__doc__
    assert Model.predict.__doc__.startswith("Predict again.")
    assert "X : table\n    Rows." in Model.predict.__doc__
    assert "Labels." in Model.predict.__doc__


def test_completing_twice_changes_nothing():
    before = AUCSVC.__doc__, AUCSVC.fit.__doc__
    documented(AUCSVC)
    assert (AUCSVC.__doc__, AUCSVC.fit.__doc__) == before


def test_a_missing_docstring_stays_missing():
    @documented
    def bare(X):
        pass

    assert bare.__doc__ is None
    assert "Raw rows." in AutoRanker.decision_function.__doc__


def test_returns_are_named_by_the_annotation_and_entries_by_methods_before():
    @documented
    class Rows:
        """Some rows."""

        def take(self, rows: int) -> "Rows":
            """Take rows.

            Parameters
            ----------
            rows : int
                How many.
            """

        def weights(self, rows: int) -> np.ndarray | None:
            """Weigh rows."""

        def each(self) -> Iterator["pl.Series"]:
            """Read them."""
            yield

    entry = "Parameters\n----------\nrows : int\n    How many.\n\nReturns\n-------\n"
    assert Rows.take.__doc__ == f"Take rows.\n\n{entry}Rows"
    assert Rows.weights.__doc__ == f"Weigh rows.\n\n{entry}ndarray, or None"
    assert Rows.each.__doc__ == "Read them.\n\nYields\n------\npolars.Series"
