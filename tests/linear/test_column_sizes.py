"""Columns that float64 cannot multiply are rejected by name; others are used."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from aucmax import AUCSVC, LinearRankerCV
from aucmax._core.features import check_column_sizes
from builders import linear_rows

KINDS = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]


def rows():
    return linear_rows(300, 6, slopes=(1.0, 1.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "largest", [[1.0, 1e99], [0.0, -3.0], [1e-99, 1e20], [0.0, 0.0]]
)
def test_columns_of_usual_sizes_are_accepted(kind, largest):
    check_column_sizes(kind(np.array([[0.0, 0.0], largest])))
    check_column_sizes(np.empty((0, 2)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", [1e101, -1e300, 1e-150, -5e-324])
def test_an_extreme_column_is_named_with_its_size_and_the_remedy(kind, entry):
    X = np.array([[1.0, 0.0, 2.0], [2.0, entry, 0.0]])
    message = rf"{abs(entry):.2g}".replace("+", r"\+") + " as the largest .* column 1"
    with pytest.raises(ValueError, match=message + ", .* Scale the columns first"):
        check_column_sizes(kind(X))
    with pytest.raises(ValueError, match=r"of column 1 \('b'\)"):
        check_column_sizes(kind(X), ["a", "b", "c"])


@pytest.mark.parametrize("model", [AUCSVC(), LinearRankerCV()])
def test_linear_models_reject_extreme_columns(model):
    X, y = rows()
    X[:, 2] *= 1e-200
    with pytest.raises(ValueError, match=r"column 2 \('c'\), .* Scale the columns"):
        model.fit(pd.DataFrame(X, columns=list("abcdef")), y)


def test_columns_of_different_scales_are_standardized():
    X, y = rows()
    expected = LinearRankerCV(cv=2).fit(X, y)
    units = 10.0 ** np.array([90, -90, 0, 8, 0, 0])
    solution = LinearRankerCV(cv=2).fit(X * units, y)
    np.testing.assert_allclose(solution.coef_ * units, expected.coef_, rtol=1e-6)
