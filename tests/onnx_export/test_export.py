"""Exported models score as the models do, and rank as they do."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from aucmax import (
    AUCSVC,
    AutoRanker,
    LambdaMART,
    LevelSumRanker,
    LinearRankerCV,
    MarginRanker,
    RankBoost,
    SoftRankBoost,
)
from aucmax.decisions.calibrated import along_knots
from aucmax.model_selection import LightGBMBaseline, stacking
from aucmax.model_selection.auto_search import AutoSearch, TimeUpError
from aucmax.model_selection.forest import Forest
from aucmax.model_selection.network import Network
from aucmax.tables import TableEncoder

pytest.importorskip("onnx", reason="onnx is not installed")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from aucmax.onnx import save_onnx, to_onnx  # noqa: E402
from aucmax.onnx.onnx_graph import OnnxGraph  # noqa: E402
from aucmax.onnx.smooth_nodes import add_knots  # noqa: E402


def run(exported, inputs):
    session = ort.InferenceSession(exported.SerializeToString())
    return session.run(["score"], inputs)[0]


def rows(seed=0, n_rows=300, n_columns=5):
    """Columns of few values, so that scores tie, next to others."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    X[:, :2] = np.round(X[:, :2])
    y = (X @ np.arange(n_columns) + generator.normal(size=n_rows) > 0).astype(int)
    return X, y


LINEAR = {
    "svm": AUCSVC(),
    "chosen": LinearRankerCV(C_values=(1.0,), cv=2),
    "margin": MarginRanker(epsilon=0.5),
    "levels": LevelSumRanker(AUCSVC()),
    "stumps": MarginRanker("stumps", epsilon=0.5, tol=0.1),
    "rankboost": RankBoost(20),
    "rankboost, features": RankBoost(20, hypotheses="features"),
    "softrankboost": SoftRankBoost(),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lines_and_stumps_score_the_same(name):
    X, y = rows()
    labels = y + (X[:, 4] > 1) * y if name == "levels" else y
    model = LINEAR[name].fit(X, labels)
    new, _ = rows(1, 2000)
    expected = model.decision_function(new)
    scores_of_graph = run(to_onnx(model), {"X": new})
    scale = np.abs(expected).max()
    np.testing.assert_allclose(scores_of_graph, expected, rtol=0, atol=1e-12 * scale)


def with_gaps(X, seed=2):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("objective", ["logistic", "auc", "pauc"])
@pytest.mark.parametrize("gaps", ["none", "new rows only", "everywhere"])
def test_trees_score_the_same_whatever_is_missing(objective, gaps):
    X, y = rows()
    train = with_gaps(X) if gaps == "everywhere" else X
    model = LambdaMART(objective, n_estimators=30).fit(train, y)
    new, _ = rows(1, 2000)
    new = new if gaps == "none" else with_gaps(new)
    expected = model.decision_function(new)
    scores_of_graph = run(to_onnx(model), {"X": new})
    np.testing.assert_allclose(scores_of_graph, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gaps", [False, True])
def test_category_codes_go_where_they_went(gaps):
    generator = np.random.default_rng(0)
    X = np.column_stack(
        [generator.integers(0, 40, 600), generator.normal(size=600)]
    ).astype(float)
    y = ((X[:, 0] % 3 == 0) ^ (X[:, 1] > 1)).astype(int)
    train = X.copy()
    if gaps:
        train[::9, 0] = np.nan
    model = LambdaMART(n_estimators=20, categorical_features=[0]).fit(train, y)
    assert "num_cat=0" not in model.model_text_.split("Tree=1")[0]
    new = np.vstack([X, X, [[77.0, 0.0]]])  # the last one is unknown
    new[: len(X), 0] = np.nan
    scores_of_graph = run(to_onnx(model), {"X": new})
    np.testing.assert_allclose(
        scores_of_graph, model.decision_function(new), atol=1e-12
    )


@pytest.mark.parametrize("thresholds", ["random", "best"])
def test_forests_of_single_precision(thresholds):
    X, y = rows()
    model = Forest(15, thresholds, min_samples_leaf=2).fit(with_gaps(X), y)
    new = with_gaps(rows(1, 2000)[0])
    new[:2, 0] = 1e200, -1e200
    # values at the thresholds and next to them, as far as doubles are apart
    for j in range(X.shape[1]):
        at = model.thresholds_[model.features_ == j].astype(float)[:100]
        new[10 : 10 + at.size, j] = np.nextafter(at, np.inf)
        new[200 : 200 + at.size, j] = at
    scores_of_graph = run(to_onnx(model), {"X": new})
    expected = model.decision_function(new)
    np.testing.assert_allclose(scores_of_graph, expected, rtol=0, atol=1e-12)
    lone = Forest(3, min_samples_leaf=300).fit(X, y)
    assert (lone.roots_ < 0).all()
    scores_of_graph = run(to_onnx(lone), {"X": X})
    np.testing.assert_allclose(
        scores_of_graph, lone.decision_function(X), rtol=0, atol=1e-12
    )


def test_a_tree_without_a_split():
    X, y = rows(n_rows=12)
    model = LightGBMBaseline(3).fit(X, y)  # too few rows for a split
    expected = model.decision_function(X)
    np.testing.assert_allclose(run(to_onnx(model), {"X": X}), expected, atol=1e-12)


def table(seed, n_rows=400):
    generator = np.random.default_rng(seed)
    kind = generator.choice(["red", "green", "blue", "rare one", ""], n_rows)
    size = generator.lognormal(3.0, 2.0, n_rows)
    place = [f"street {k}" for k in generator.integers(0, 120, n_rows)]
    size[generator.random(n_rows) < 0.1] = np.nan
    steps = generator.integers(0, 3, n_rows)
    target = (kind == "red") + (np.nan_to_num(size) > 30) + generator.random(n_rows)
    frame = pl.DataFrame({"kind": kind, "size": size, "steps": steps, "place": place})
    return frame.with_columns(pl.col("size").fill_nan(None)), target > 1.2


def cells(frame):
    return {
        name: frame[name]
        .fill_null("" if frame[name].dtype == pl.String else np.nan)
        .to_numpy()
        .astype(object if frame[name].dtype == pl.String else float)[:, None]
        for name in frame.columns
    }


@pytest.mark.parametrize(
    ("estimator", "view"),
    [(LogisticRegression(), "linear"), (LambdaMART(n_estimators=20), "trees")],
)
def test_tables_take_raw_cells(estimator, view):
    frame, y = table(0)
    model = make_pipeline(TableEncoder(view=view), estimator).fit(frame, y)
    kinds = {column["kind"] for column in model[0].columns_}
    assert kinds == {"number", "category", "target mean"}
    new, _ = table(1)
    new[0, "kind"] = "never seen"
    new[1, "size"] = 1e305
    expected = model.decision_function(new)
    scores_of_graph = run(to_onnx(model), cells(new))
    np.testing.assert_allclose(scores_of_graph, expected, rtol=1e-9, atol=1e-9)


MEMBERS = [
    "logistic",
    "kernel",
    "additive",
    ("linear", LinearRankerCV(C_values=(1.0,), losses=["logistic regression"], cv=2)),
    ("trees", LightGBMBaseline(20)),
    ("forest", Forest(10)),
    ("network", Network(2, 8, 5)),
    ("pairs", LambdaMART("auc", n_estimators=20, categorical_features=[])),
]


def equal_weights(_, logits):
    return np.full(logits.shape[1], 1.0 / logits.shape[1])


def no_refit(*_):
    raise TimeUpError


@pytest.mark.parametrize("rows_of", ["all", "folds"])
def test_a_whole_combination_scores_the_same(monkeypatch, rows_of):
    frame, y = table(0)
    # two such columns make the matrix of indicators sparse
    frame = frame.with_columns(pl.col("place").reverse().alias("other place"))
    monkeypatch.setitem(stacking.COMBINERS, "stack", equal_weights)
    monkeypatch.setitem(stacking.COMBINERS, "best single model", equal_weights)
    if rows_of == "folds":
        monkeypatch.setattr(AutoSearch, "_refit", no_refit)
    calibrate = "isotonic" if rows_of == "all" else "sigmoid"
    model = AutoRanker(models=MEMBERS, cv=2, time_limit=None, calibrate=calibrate)
    model.fit(frame, y)
    assert len(model.weights_) == len(MEMBERS)
    assert len(model.encoders_) == (1 if rows_of == "all" else 2)
    new, _ = table(1, 2000)
    new = new.with_columns(pl.col("place").reverse().alias("other place"))
    new[0, "kind"] = "never seen"
    new[1, "size"] = 1e305
    session = ort.InferenceSession(to_onnx(model).SerializeToString())
    score, probability = session.run(["score", "probability"], cells(new))
    np.testing.assert_allclose(score, model.decision_function(new), rtol=0, atol=1e-9)
    expected = model.predict_proba(new)[:, 1]
    np.testing.assert_allclose(probability, expected, rtol=0, atol=1e-9)


def test_a_combination_of_an_array_takes_an_array():
    X, y = rows()
    model = AutoRanker(models=["logistic", "additive"], cv=2).fit(with_gaps(X), y)
    new = with_gaps(rows(1, 500)[0])
    scores_of_graph = run(to_onnx(model), {"X": new})
    np.testing.assert_allclose(scores_of_graph, model.decision_function(new), atol=1e-9)
    whole = AutoRanker(models=["logistic"], cv=2).fit(pl.DataFrame(X), y)
    exported = to_onnx(whole)
    assert [output.name for output in exported.graph.output] == ["score", "probability"]
    inputs = {f"column_{k}": X[:, [k]] for k in range(X.shape[1])}
    scores_of_graph = run(exported, inputs)
    expected = whole.decision_function(pl.DataFrame(X))
    np.testing.assert_allclose(scores_of_graph, expected, atol=1e-9)


@pytest.mark.parametrize("n_knots", [1, 2, 3, 17, 400])
def test_scales_hold_at_between_and_beyond_their_knots(n_knots):
    generator = np.random.default_rng(n_knots)
    knots = np.sort(generator.normal(size=(2, n_knots)))
    scores = np.concatenate([knots[0], generator.normal(size=500) * 3])
    graph = OnnxGraph()
    exported = graph.model(score=add_knots(graph, graph.input("X", 1), knots))
    scores_of_graph = run(exported, {"X": scores[:, None]})
    np.testing.assert_allclose(
        scores_of_graph, along_knots(scores, knots), rtol=0, atol=1e-12
    )


def test_a_file_is_written_whole_and_not_over_another(tmp_path):
    X, y = rows()
    path = tmp_path / "model.onnx"
    model = AUCSVC().fit(X, y)
    save_onnx(model, path)
    scores_of_graph = ort.InferenceSession(path).run(["score"], {"X": X})[0]
    np.testing.assert_allclose(scores_of_graph, model.decision_function(X), atol=1e-12)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        save_onnx(model, path)


def test_what_cannot_be_exported_says_why():
    X, y = rows(n_rows=80)
    auto = AutoRanker(models=[("own", GaussianNB())], cv=2).fit(X, y)
    with pytest.raises(TypeError, match="its member 'own' is a GaussianNB"):
        to_onnx(auto)
    ranker = MarginRanker([lambda X: np.tanh(X[:, 4])], epsilon=0.5).fit(X, y)
    with pytest.raises(TypeError, match="functions of your own"):
        to_onnx(ranker)
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 3, 20), eager=True)
    dated = pl.DataFrame({"day": days, "x": X[:, 4]})
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(dated, y)
    with pytest.raises(TypeError, match="column 'day' holds dates"):
        to_onnx(model)
