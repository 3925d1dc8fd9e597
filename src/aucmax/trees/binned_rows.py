"""Rows in LightGBM's bins, and the boosters that start from them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from aucmax.trees.booster import new_dataset, readable_by_lightgbm
from aucmax.trees.evaluation import Evaluation

__all__ = ["BinnedRows", "lightgbm_errors_explained"]


class BinnedRows:
    """Rows to train on, and those to validate on if there are any, in bins."""

    def __init__(
        self,
        parameters: Mapping[str, Any],
        X: Any,
        categorical: list[int],
        evaluation: Evaluation | None,
    ) -> None:
        self._parameters = dict(parameters)
        # labels are demanded, but known to the risk alone
        self._rows = new_dataset(parameters, X, _no_labels(X), categorical)
        self._apart = None
        if evaluation is not None:
            self._apart = self._rows.create_valid(
                readable_by_lightgbm(evaluation.X),
                _no_labels(evaluation.X),
                params=dict(parameters),
            )

    def booster(self) -> Any:
        """Return a booster without trees."""
        import lightgbm

        with lightgbm_errors_explained():
            booster = lightgbm.Booster(params=self._parameters, train_set=self._rows)
            if self._apart is not None:
                booster.add_valid(self._apart, "validation")
        return booster


def _no_labels(X: Any) -> Any:
    return np.zeros(X.shape[0], dtype=np.float32)


@contextmanager
def lightgbm_errors_explained() -> Iterator[None]:
    """Turn LightGBM's own errors, which parameters cause, into a ValueError."""
    from lightgbm.basic import LightGBMError

    try:
        yield
    except LightGBMError as error:
        raise ValueError(f"LightGBM refuses these parameters: {error}") from error
