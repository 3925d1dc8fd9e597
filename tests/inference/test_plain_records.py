"""Records in plain types."""

import datetime
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucmax.inference.results import to_plain


@dataclass
class Record:
    value: Any


def test_everything_becomes_what_json_holds():
    record = Record(
        {
            "numbers": np.array([1.5, np.nan, -np.inf]),
            "count": np.int64(3),
            "flag": np.True_,
            "pair": (1, "a"),
            "none": None,
            "day": datetime.date(2024, 2, 3),
            "inner": Record([True]),
        }
    )
    assert json.loads(json.dumps(to_plain(record), allow_nan=False)) == {
        "value": {
            "numbers": [1.5, None, None],
            "count": 3,
            "flag": True,
            "pair": [1, "a"],
            "none": None,
            "day": "2024-02-03",
            "inner": {"value": [True]},
        }
    }
