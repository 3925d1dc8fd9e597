"""LightGBM models as text: what estimators keep, and what they predict with."""

import re
from typing import Any
from weakref import WeakKeyDictionary

from scipy import sparse

from aucmax.exceptions import ModelFileError

__all__ = ["booster_of", "check_model_text", "readable_by_lightgbm"]

# built boosters by estimator, with the text they were built from; not part of the
# estimator's state, so that a saved or copied model holds text alone
_BOOSTERS: "WeakKeyDictionary[Any, tuple[str, Any]]" = WeakKeyDictionary()


def booster_of(estimator: Any) -> Any:
    """Return the booster of `estimator.model_text_`, built once."""
    text, booster = _BOOSTERS.get(estimator, ("", None))
    if booster is None or text != estimator.model_text_:
        import lightgbm

        booster = lightgbm.Booster(model_str=estimator.model_text_)
        _BOOSTERS[estimator] = (estimator.model_text_, booster)
    return booster


def readable_by_lightgbm(X: Any) -> Any:
    """Return the data as LightGBM reads them, of the same memory.

    It knows scipy's sparse matrices, but not its newer sparse arrays.
    """
    if not sparse.issparse(X):
        return X
    by_column = getattr(X, "format", "") == "csc"
    as_matrix: Any = sparse.csc_matrix if by_column else sparse.csr_matrix
    return as_matrix(X)


def check_model_text(text: Any, n_features: int) -> None:
    """Refuse a text that LightGBM's parser must not see, or of other columns.

    Parameters
    ----------
    text : str
        The model; anything else is refused.
    n_features : int
        The number of columns that it must be for.

    Raises
    ------
    ValueError
        The text is damaged.
    """
    from aucmax.trees.booster_text import check_booster_text

    if not isinstance(text, str):
        raise ModelFileError("the LightGBM model is damaged: it has no text")
    check_booster_text(text)
    # the check has made sure that there is one such line
    found = re.search(r"^max_feature_idx=([0-9]+)$", text, re.MULTILINE)
    last = int(found[1]) if found else -1
    if last + 1 != n_features:
        raise ModelFileError(
            f"the LightGBM model is for {last + 1} columns, not for {n_features!r}"
        )
