"""Names of columns and files in messages."""

import difflib
from collections.abc import Sequence

__all__ = ["near_names"]

_MAX_LISTED = 12


def near_names(name: str, names: Sequence[str], *, or_list: bool = True) -> str:
    """Write a sentence about what may have been meant by a name.

    Parameters
    ----------
    name : str
        A name that does not exist.
    names : sequence of str
        Those that do; capitals and blanks around them do not count.
    or_list : bool, default=True
        Whether the names, those of columns, are listed if none is near; of many, those
        that are least far.

    Returns
    -------
    str
        A blank and a sentence, or nothing.

    Examples
    --------
    >>> from aucmax.datasets import near_names
    >>> near_names("Agee", ["age", "sex"])
    " Did you mean 'age'?"
    """
    folded = {other.casefold().strip(): other for other in names}
    near = difflib.get_close_matches(name.casefold().strip(), folded)
    if near:
        meant = " or ".join(repr(folded[match]) for match in near)
        return f" Did you mean {meant}?"
    if not or_list:
        return ""
    if len(names) <= _MAX_LISTED:
        return f" The columns are {', '.join(map(repr, names))}."
    # without a name to compare with, the last one stands for it: often the target
    name = name.casefold().strip() or [*folded][-1]
    near = difflib.get_close_matches(name, folded, _MAX_LISTED, 0.0)
    shown = ", ".join(repr(folded[match]) for match in near)
    return f" The nearest of {len(names)} columns are {shown}."
