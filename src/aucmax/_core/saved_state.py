"""Declarations of the fitted attributes of a class, for model files.

``_saved_state`` has one field per attribute, besides those of the bases. All are
checked before any is used, so no number in a file controls how much memory is
allocated, and no loaded model fails later. The method ``_check_state`` raises if
several attributes do not fit together.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

#: return a description that a value does not meet, given all attributes, or None
Check: TypeAlias = Callable[[Any, Mapping[str, Any]], str | None]
#: a length, the name of an attribute of that length, a function of all, or any length
Length: TypeAlias = int | str | Callable[[Mapping[str, Any]], int] | None

LABEL_KINDS = "biufUO"
_MAX_COUNT = 2**53  # beyond it float64 skips whole numbers


@dataclass(frozen=True)
class SavedField:
    """The check of one attribute, and whether every fit sets it."""

    check: Check
    is_needed: bool = True


def fields(**declared: SavedField) -> dict[str, SavedField]:
    """Declare the attributes of a class by name."""
    return declared


def optional(**fields: SavedField) -> dict[str, SavedField]:
    """Declare attributes that some fits do not set."""
    return {name: replace(field, is_needed=False) for name, field in fields.items()}


def array(
    kinds: str, *shape: Length, finite: bool = True, may_be_sparse: bool = False
) -> SavedField:
    """Declare an array of one of numpy's kinds and of a shape."""

    def check(value: Any, state: Mapping[str, Any]) -> str | None:
        actual_shape = getattr(value, "shape", ())
        if may_be_sparse and getattr(value, "format", None) == "csr":
            value = value.data
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            return f"an array of one of the kinds {kinds!r}"
        expected = tuple(_length(length, state) for length in shape)
        if len(actual_shape) != len(expected) or any(
            length is not None and length != size
            for length, size in zip(expected, actual_shape, strict=True)
        ):
            return f"of shape {expected}, but of shape {actual_shape}"
        if not value.dtype.isnative:
            return "in the byte order of this machine"
        if finite and value.dtype.kind == "f" and not np.isfinite(value).all():
            return "finite"
        return None

    return SavedField(check)


def _length(length: Length, state: Mapping[str, Any]) -> int | None:
    if callable(length):
        return length(state)
    if not isinstance(length, str):
        return length
    size: Any = state.get(length)
    if isinstance(size, np.ndarray):
        return size.size
    return int(size) if _is_integer(size) else -1


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | np.floating) or _is_integer(value)


def _is_count(value: Any) -> bool:
    return _is_integer(value) and 0 <= value < _MAX_COUNT


def _is_finite(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value)


def _is_list_of_columns(value: Any) -> bool:
    is_list = isinstance(value, list) and all(map(_is_count, value))
    return is_list and len(set(value)) == len(value)


def can_score(model: Any) -> bool:
    """Return whether a model has a method that scores rows."""
    return any(hasattr(model, name) for name in ("decision_function", "predict_proba"))


def _field(is_right: Callable[[Any], bool], expected: str) -> SavedField:
    return SavedField(lambda value, state: None if is_right(value) else expected)


count = _field(_is_count, "a count")
#: any number, NaN included: people read it, no method computes with it
number = _field(_is_number, "a number")
finite = _field(_is_finite, "a finite number")
column_numbers = _field(_is_list_of_columns, "a list of different columns")
fitted_model = _field(
    lambda model: can_score(model) and "n_features_in_" in vars(model), "a fitted model"
)


def between(low: float, high: float) -> SavedField:
    """Declare a number in an open interval."""
    return _field(
        lambda value: _is_finite(value) and low < value < high,
        f"a number between {low} and {high}",
    )


def instance_of(*kinds: type[Any]) -> SavedField:
    """Declare a value of exactly these types; its content is not checked."""
    listed = " or ".join(kind.__name__ for kind in kinds)
    return _field(lambda value: type(value) in kinds, f"of type {listed}")


def or_none(field: SavedField) -> SavedField:
    """Declare a value that may also be None."""
    return SavedField(
        lambda value, state: None if value is None else field.check(value, state)
    )


def _check_names(value: Any, state: Mapping[str, Any]) -> str | None:
    expected = array("UO", "n_features_in_").check(value, state)
    if expected is None and not all(isinstance(name, str) for name in value):
        return "made of strings"
    return expected


#: set by scikit-learn's checks of X; nearly every estimator has them
COLUMNS = optional(n_features_in_=count, feature_names_in_=SavedField(_check_names))
