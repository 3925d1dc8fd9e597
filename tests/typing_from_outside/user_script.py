"""A script as users write it, for strict type checkers of the installed package.

``python tools/check_wheel.py --typing`` runs mypy and pyright on it, then runs it.
"""

import os
import tempfile

import numpy as np
from numpy.typing import NDArray

import aucmax
from aucmax import AUCSVC, datasets, inference, metrics
from aucmax.inference import MetricDifference, MetricInterval

rng = np.random.default_rng(0)
X: NDArray[np.float64] = rng.normal(size=(200, 3))
y: NDArray[np.bool_] = X[:, 0] + rng.normal(size=200) > 0

model: AUCSVC = AUCSVC(C=1.0, fpr_range=(0.0, 0.5)).fit(X, y)
scores: NDArray[np.float64] = model.decision_function(X)
gap: float = model.dual_gap_
auc: float = metrics.roc_auc_score(y, scores)
interval: MetricInterval = inference.auc_interval(y, scores)
low: float = interval.low
difference: MetricDifference = inference.compare_auc(y, scores, X[:, 1])
p: float = difference.p_value
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.aucmax")
    aucmax.save(model, path)
    again = aucmax.load(path)
images, ink = datasets.make_letter_images("A", 2, random_state=0)
assert low < auc
assert gap >= 0
assert 0 <= p <= 1
assert len(images) == len(ink)
