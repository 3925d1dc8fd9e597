"""Rounds that are done, as a checkpoint keeps them: texts of boosters, and scores."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.exceptions import ModelFileError
from aucmax.trees.booster_text import check_booster_text

__all__ = ["ROUNDS_PER_SEGMENT", "DoneRounds", "joined_booster"]

#: with a checkpoint, trees grow on a new booster after so many rounds
ROUNDS_PER_SEGMENT = 20


@dataclass(frozen=True)
class DoneRounds:
    """What rounds have left.

    Attributes
    ----------
    texts : list of str
        The trees of each booster, in LightGBM's text format.
    n_iter, n_kept : int
        Rounds so far, and those up to the best.
    validation : list of float
        The metric after each round, if there are validation rows.
    seconds : float
        Time that they took.
    reason : str
        Why they stopped, if they have.
    scores, kept_scores : ndarray of shape (n_rows,)
        Of the training rows, after all rounds and after those that are kept.
    apart_scores : ndarray, or None
        Of the validation rows.
    """

    texts: list[str]
    n_iter: int
    n_kept: int
    validation: list[float]
    seconds: float
    reason: str
    scores: FloatArray
    kept_scores: FloatArray
    apart_scores: FloatArray | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)

    @classmethod
    def from_dict(
        cls, state: Mapping[str, Any], n_rows: int, n_apart: int | None
    ) -> Self:
        """Check what a file has, for so many training and validation rows."""
        if set(state) != {field.name for field in fields(cls)}:
            raise _damaged("it is not one of trees")
        done = cls(**state)
        n_values = 0 if n_apart is None else done.n_iter
        is_sound = (
            all(type(n) is int for n in (done.n_iter, done.n_kept))
            and 0 <= done.n_kept <= done.n_iter
            and isinstance(done.seconds, float)
            and isinstance(done.reason, str)
            and _is_list(done.validation, float)
            and len(done.validation) == n_values
            and _are_scores(done.scores, n_rows)
            and _are_scores(done.kept_scores, n_rows)
            and _are_scores(done.apart_scores, n_apart)
            and _is_list(done.texts, str)
        )
        if not is_sound:
            raise _damaged("it does not fit the rows")
        for text in done.texts:
            try:
                check_booster_text(text)
            except ValueError as error:
                raise _damaged(str(error)) from error
        if sum(len(_trees(text)) for text in done.texts) != done.n_iter:
            raise _damaged("it has other trees than it says")
        return done


def _damaged(reason: str) -> ModelFileError:
    return ModelFileError(
        f"the checkpoint is damaged: {reason}",
        "Delete the file to fit from the beginning.",
    )


def _is_list(values: Any, kind: type[Any]) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _are_scores(scores: Any, n_rows: int | None) -> bool:
    if n_rows is None or scores is None:
        return n_rows is None and scores is None
    is_array = isinstance(scores, np.ndarray) and scores.dtype == np.float64
    return is_array and scores.shape == (n_rows,) and bool(np.isfinite(scores).all())


def joined_booster(texts: Sequence[str]) -> Any:
    """Return a booster with the trees of all texts, which are of the same columns."""
    import lightgbm

    trees = [tree for text in texts for tree in _trees(text)]
    blocks = [f"Tree={number}\n{tree}" for number, tree in enumerate(trees)]
    head = re.sub(
        r"^tree_sizes=.*$",
        "tree_sizes=" + " ".join(str(len(block.encode())) for block in blocks),
        texts[0].partition("\n\n")[0],
        flags=re.MULTILINE,
    )
    parameters = texts[0][texts[0].rindex("\nparameters:\n") :]
    text = f"{head}\n\n{''.join(blocks)}end of trees\n{parameters}"
    return lightgbm.Booster(model_str=text)


def _trees(text: str) -> list[str]:
    """Return the trees of a text, without their numbers."""
    body = text[: text.rindex("end of trees\n")]
    return re.split(r"^Tree=[0-9]+\n", body, flags=re.MULTILINE)[1:]
