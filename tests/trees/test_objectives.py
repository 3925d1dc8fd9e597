import subprocess
import sys

import numpy as np
import pytest

from aucmax.objectives import lightgbm
from aucmax.risks import PairLogistic


@pytest.mark.slow
def test_importing_objectives_loads_no_training_library():
    code = (
        "import sys, aucmax.objectives as o; o.lightgbm(); o.xgboost();"
        "print({'lightgbm', 'xgboost', 'catboost'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert ran.stdout.strip() == "set()"


@pytest.fixture
def bound(monkeypatch):
    """The first labels of the data sets that a plug-in binds."""
    seen, bind = [], PairLogistic.bind

    def noted(self, labels, *rows):
        seen.append(labels[0])
        return bind(self, labels, *rows)

    monkeypatch.setattr(PairLogistic, "bind", noted)
    return seen


def call(plugin, labels, weight=None, group=None):
    plugin.sklearn_objective(np.array(labels), np.zeros(len(labels)), weight, group)


def test_rows_differ_if_any_value_differs(bound):
    plugin = lightgbm("ordinal")
    data_sets = [
        ([0, 1], None, None),
        ([1, 0], None, None),
        ([0, 1, 1], None, None),
        ([0, 1], [1, 2], None),
        ([0, 1], None, [2]),
    ]
    for rows in data_sets:
        call(plugin, *rows)
        call(plugin, *rows)
    assert len(bound) == len(data_sets)


def test_labels_changed_in_place_are_noticed(bound):
    plugin = lightgbm("ordinal")
    labels = np.array([0, 1])
    for label in (0, 5):
        labels[0] = label
        plugin.sklearn_objective(labels, np.zeros(2))
    assert bound == [0, 5]
