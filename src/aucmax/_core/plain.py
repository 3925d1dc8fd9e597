"""Records in the plain types that JSON knows."""

from math import isfinite
from typing import Any

import numpy as np


def to_plain(value: Any) -> Any:
    """Turn a record, array or number into JSON types, else None or a string."""
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, dict):
        return {str(name): to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return to_plain(vars(value)) if hasattr(value, "__dict__") else str(value)


class PlainRecord:
    """A record that can be written as JSON."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything in plain types, None where there is no number.

        Returns
        -------
        dict
            Types that JSON lacks, such as dates, are strings.
        """
        return dict(to_plain(self))
