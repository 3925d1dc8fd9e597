"""Contents of reports: names that try to break out, ties, many models and columns."""

from dataclasses import replace

import numpy as np

from aucmax.inference import MetricDifference
from aucmax.inspection import Importances
from aucmax.model_selection.comparison import ModelResult
from aucmax.report import Report
from aucmax.report.sections import (
    calibration_section,
    importance_section,
    models_section,
    ranking_section,
)

EVIL = '</script><script>alert("x")</script>'
RIGHT_TO_LEFT = "נתונים 42 (مثال)"
NAMES = ("linear", EVIL, RIGHT_TO_LEFT, "tied | `code` $x$ _a_ *b*")


def labels_and_scores(n_rows=800, n_models=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(n_rows) < 0.15
    scores = [
        rng.normal(size=n_rows) + (2.0 - 1.5 * k / n_models) * labels
        for k in range(n_models)
    ]
    scores[-1] = np.round(2 * scores[-1]) / 2  # ties are the rule
    return labels, scores


def model_difference(model, baseline, p_value):
    """The first model is ahead by .02."""
    values, interval = (0.9, 0.88), (0.02, 0.01, 0.03)
    test = MetricDifference(*values, *interval, 2.0, p_value, 0.01, 0.95)
    return replace(test, names=(model, baseline))


def model_results(names=NAMES):
    return [
        ModelResult(
            name=name,
            is_baseline=k == 1,
            measures={"auc": 0.9 - 0.1 * k / len(names), "partial_auc": 0.5},
            low=0.85 - 0.1 * k / len(names),
            high=0.93 - 0.1 * k / len(names),
            seconds=0.5,
            folds=(0.88, 0.9, 0.91 - 0.1 * k / len(names)),
        )
        for k, name in enumerate(names)
    ]


def page_of(names=NAMES, n_rows=800, columns=("age", EVIL, RIGHT_TO_LEFT), **changes):
    """Return a report of these models; `changes` replace values of its sections."""
    labels, scores = labels_and_scores(n_rows, len(names))
    drops = np.linspace(0.1, 0.0, len(columns))
    importances = Importances(
        column=list(columns),
        drop=drops,
        low=drops - 0.02,
        high=drops + 0.02,
        metric="auc",
        value=0.9,
        n_repeats=1,
        confidence_level=0.95,
    )
    tests = [
        model_difference(name, names[1], 0.01)
        for k, name in enumerate(names)
        if k != 1 and len(names) > 1
    ]
    rankings = dict(zip(names, scores, strict=True))
    models = changes.pop("models", model_results(names))
    contents = {
        "title": f"Which model ranks {EVIL} best?",
        "verdict": f"{names[0]} ranks best.",
        "facts": [f"{n_rows} rows."],
        **models_section(models, ["AUC", "pAUC 0-0.1"], tests),
        "explanation": ["How the numbers were computed."],
        "glossary": {"AUC": f"a sentence on {EVIL}."},
        **ranking_section(
            labels, rankings, score_unit="score", baselines=list(names[1:2])
        ),
        **calibration_section(labels, 1.0 / (1.0 + np.exp(3.0 - scores[0]))),
        "importance": importance_section(importances, len(columns) + 7, "Measured."),
        "parts": {"trees": 0.75, EVIL: 0.25},
        "notices": [f"column {EVIL} looks like a leak."],
        "certificates": [(names[0], "within 0.001 of the optimum.")],
        "command": "aucmax compare ```x --target y",
        "reproduction": {"seed": "0", "data": EVIL},
    }
    return Report({**contents, **changes})
