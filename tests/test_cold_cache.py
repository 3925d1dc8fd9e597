"""Every public entry point in a fresh process with an empty compiler cache.

Python runs a first call with few rows, numba one with many, and either may come first.
`make test-cold` runs this file; compiling takes long, so `make test` leaves it out.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import polars as pl
import pytest

import aucmax
from aucmax import decisions, inference, inspection, metrics, risks
from aucmax.graphs import grid_edges, rank
from aucmax.inspection.dependence import rank_dependence
from aucmax.linear.additive_logistic import AdditiveLogistic
from aucmax.linear.kernel_logistic import KernelLogistic
from aucmax.model_selection import LambdaRankBaseline, LightGBMBaseline
from aucmax.model_selection.forest import Forest
from aucmax.risks.instance_margin import InstanceMargin, TangentMargin
from aucmax.risks.pair_margin import PairMargin
from graphs.ranker_samples import graphs_of

FEW, MANY = 60, 20_000
CALL = "import sys, test_cold_cache; test_cold_cache.run(*sys.argv[1:])"


class Rows:
    """Labelled rows of n queries' documents, the same each time."""

    def __init__(self, n):
        rng = np.random.default_rng(n)
        self.X = rng.normal(size=(n, 3))
        self.score = self.X[:, 0] + rng.normal(size=n)
        self.other = self.X[:, 1] + self.score
        self.levels = np.digitize(self.X[:, 0] + self.X[:, 1], [-0.5, 0.5])
        self.y = self.X[:, 0] + self.X[:, 1] > 0.0
        self.qid = np.arange(n) // 20
        self.weight = rng.uniform(0.5, 2.0, size=n)


def call_metrics(n):
    r = Rows(n)
    classes = np.stack([-r.X[:, 0], r.X[:, 1], r.X[:, 0]], axis=1)
    shares = np.exp(classes) / np.exp(classes).sum(axis=1, keepdims=True)
    values = {}
    for name, truth in (
        ("roc_auc_score", r.y),
        ("partial_auc_score", r.y),
        ("mean_average_precision", r.y),
        ("auc_at_k_score", r.y),
        ("binned_auc_score", r.y),
        ("multiclass_auc_score", r.levels),
        ("ordinal_auc_score", r.levels),
        ("ndcg_score", r.levels),
    ):
        options = {"fpr_range": (0.0, 0.3)} if name.startswith("partial") else {}
        metric = getattr(metrics, name)
        values[name] = [metric(truth, r.score, **options)]
        values[name].append(metric(truth, r.score, qid=r.qid, **options))
        if name not in ("auc_at_k_score", "binned_auc_score"):
            options["sample_weight"] = r.weight
            values[name].append(metric(truth, r.score, **options))
    band = inference.roc_band(r.y, r.score, n_resamples=20)
    return values | {
        "auc_interval": inference.auc_interval(r.y, r.score, sample_weight=r.weight),
        "bootstrap_interval": inference.bootstrap_interval(
            metrics.roc_auc_score, r.y, r.score, n_resamples=20, random_state=0
        ),
        "compare_auc": inference.compare_auc(r.y, r.score, r.other),
        "metric_interval": [
            inference.metric_interval(r.y, r.score, name, n_resamples=5)
            for name in ("average_precision", "recall@fpr=0.1", "precision@9")
        ],
        "precision_at_k": metrics.precision_at_k(r.y, r.score, k=5, qid=r.qid),
        "roc_band": [band.low, band.high],
        "roc_curve": [*metrics.roc_curve(r.y, r.score)],
        "unnested_auc_score": metrics.unnested_auc_score(
            r.y[:200], np.tri(min(n, 200))
        ),
        "operating_point": decisions.operating_point(r.y, r.score, fpr=0.2),
        "reliability": vars(decisions.reliability(r.y, shares[:, 2])),
    }


def call_risks(n):
    r = Rows(n)
    per_query = risks.PartialHinge().bind(r.y, r.weight, list(r.qid))
    return {
        "per query": per_query.value_and_gradient(r.score),
    } | {
        f"{k}: {type(risk).__name__}": [
            risk.bind(r.y).value_and_gradient(r.score),
            risk.bind(r.y, r.weight).value_and_gradient(r.score),
        ]
        for k, risk in enumerate(
            (
                risks.PairHinge(),
                risks.PartialHinge((0.1, 0.3)),
                risks.PartialHinge((0.0, 0.3), bound="loose"),
                risks.PairSigmoid((0.0, 0.3)),
                risks.SmoothAveragePrecision(),
                InstanceMargin(0.2, 0.3),
                PairMargin(0.2),
                TangentMargin(0.2, 0.1),
                risks.PairLogistic(),
                risks.PairLogistic(True),
                risks.PairLogistic(fpr_range=(0.0, 0.3)),
            )
        )
    }


def fitted(models, n, **options):
    """Fit each model to n rows; return the scores of the first ones by name."""
    r, scores = Rows(n), {}
    for model in models:
        has_levels = isinstance(model, aucmax.LevelSumRanker | LambdaRankBaseline)
        labels = r.levels if has_levels or "ordinal" in repr(model) else r.y
        scores[repr(model)] = model.fit(r.X, labels, **options).decision_function(r.X)
    return scores


def fit_linear_models(n):
    plain = fitted(
        [
            aucmax.AUCSVC(),
            aucmax.AUCSVC(fpr_range=(0.0, 0.2)),
            aucmax.AUCSVC(penalty="l1"),
            aucmax.AUCSVC(loss="sigmoid"),
            aucmax.LevelSumRanker(),
            aucmax.LinearRankerCV(C_values=(1.0,), cv=2),
        ],
        n,
    )
    return plain | {"per query": fitted([aucmax.AUCSVC()], n, qid=Rows(n).qid)}


def fit_margins(n):
    return fitted(
        [
            aucmax.MarginRanker(),
            aucmax.MarginRanker("stumps"),
            aucmax.RankBoost(n_estimators=5),
            aucmax.SoftRankBoost(n_estimators=5),
        ],
        n,
    ) | fitted([aucmax.MarginRanker("stumps", formulation="global")], min(n, 200))


def fit_trees(n):
    return fitted(
        [
            aucmax.LambdaMART(n_estimators=3),
            aucmax.LambdaMART("ordinal", n_estimators=3),
            aucmax.LambdaMART("pauc", n_estimators=3),
            LightGBMBaseline(n_estimators=3),
            Forest(n_estimators=3),
        ],
        n,
    ) | fitted([LambdaRankBaseline(n_estimators=3)], min(n, 8000))


def rank_graphs(n):
    side = 6 if n == FEW else 110
    edges = grid_edges(side, side)
    rng = np.random.default_rng(n)
    blocks = rank(rng.normal(size=side * side), edges, np.ones(len(edges)))
    tree = rank([3.0, 0.0, 1.0], [[0, 1]], [2.0])
    sizes = (5, 7, 6) if n == FEW else (12, 30) * 40
    graphs, labels = graphs_of(0, sizes)
    model = aucmax.GraphRanker().fit(graphs, labels)
    return {
        "rank": [blocks.scores, tree.scores],
        "GraphRanker": model.decision_function(graphs),
    }


def inspect_models(n):
    r = Rows(n)
    table = pl.DataFrame({"a": r.X[:, 0], "kind": (r.X[:, 1] > 0).astype(str)})
    svm = aucmax.AUCSVC().fit(r.X, r.y)
    auto = aucmax.AutoRanker(
        models=["logistic", aucmax.LambdaMART(n_estimators=3)],
        cv=2,
        time_limit=None,
    ).fit(table, r.y)
    importance = inspection.permutation_importance(svm, r.X, r.y, n_repeats=2)
    return fitted([AdditiveLogistic(n_ramps=3), KernelLogistic(n_landmarks=5)], n) | {
        "AutoRanker": auto.decision_function(table),
        "contributions": inspection.contributions(svm, r.X[:40], r.X[:40]).values,
        "permutation_importance": [importance.drop, importance.low],
        "rank_dependence": rank_dependence(auto, table, "a").rank,
    }


GROUPS = {
    call.__name__: call
    for call in (
        call_metrics,
        call_risks,
        fit_linear_models,
        fit_margins,
        fit_trees,
        rank_graphs,
        inspect_models,
    )
}


def run(group, *sizes):
    """Print a digest of each result, by size and name."""
    warnings.simplefilter("ignore")
    results = {n: GROUPS[group](int(n)) for n in sizes}
    digests = {n: {k: joblib.hash(v) for k, v in results[n].items()} for n in results}
    sys.stdout.write(json.dumps(digests))


def digests(group, sizes, cache):
    ran = subprocess.run(
        [sys.executable, "-c", CALL, group, *map(str, sizes)],
        cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("group", GROUPS)
def test_the_first_call_may_be_small_or_large_with_the_same_bits(group, tmp_path):
    small_first = digests(group, (FEW, MANY), tmp_path / "small first")
    large_first = digests(group, (MANY, FEW), tmp_path / "large first")
    assert small_first == large_first
    assert list(tmp_path.glob("large first/*/*.nbi"))
