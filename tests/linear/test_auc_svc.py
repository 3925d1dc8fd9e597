import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC
from aucmax.exceptions import NotEnoughClassesError


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        600, 8, n_informative=4, weights=[0.8], flip_y=0.1, random_state=0
    )
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def fitted_like(model, reference, rel=1e-9):
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=rel, atol=rel)
    np.testing.assert_allclose(
        model.intercept_, reference.intercept_, rtol=rel, atol=rel
    )


def test_fitted_attributes_are_those_documented(data):
    X, y = data
    model = AUCSVC(C=1.0).fit(X, y)
    assert model.coef_.shape == (1, 8)
    assert model.intercept_.shape == (1,)
    assert model.n_iter_ >= 1
    assert model.n_passes_ > 0
    assert 0.0 <= model.dual_gap_ <= 1e-3 * model.objective_
    w = model.coef_[0]
    scores = X @ w
    hinge = np.maximum(0.0, 1.0 - scores[y == 1][:, None] + scores[y == 0])
    assert model.objective_ == pytest.approx(0.5 * w @ w + hinge.mean(), rel=1e-9)


@pytest.mark.parametrize("solver", ["auto", "newton", "bundle", "subgradient"])
def test_history_tells_what_each_iteration_has_reached(data, solver):
    X, y = data
    seen = []
    model = AUCSVC(100.0, solver=solver, callback=seen.append).fit(X, y)
    history = model.history_
    assert {values.shape for values in history.values()} == {(model.n_iter_,)}
    assert history["objective"].tolist() == [progress.value for progress in seen]
    assert history["dual_gap"].tolist() == [progress.gap for progress in seen]
    assert (np.diff(history["n_passes"]) > 0.0).all()
    assert (np.diff(history["seconds"]) >= 0.0).all()
    assert (np.diff(history["objective"]) <= 0.0).all()
    assert history["n_passes"][-1] <= model.n_passes_


def test_ranks_rare_positives_at_least_as_well_as_logistic_regression(cancer):
    X, y = cancer
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    ours = AUCSVC().fit(X[train], y[train]).decision_function(X[test])
    theirs = LogisticRegression().fit(X[train], y[train]).decision_function(X[test])
    assert roc_auc_score(y[test], ours) >= roc_auc_score(y[test], theirs) - 2e-3
    assert roc_auc_score(y[test], ours) > 0.98


@pytest.mark.parametrize("solver", ["newton", "bundle"])
@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        sparse.csr_matrix,
        sparse.csc_array,
        pd.DataFrame,
        pl.DataFrame,
        lambda X: X.tolist(),
    ],
)
def test_every_container_gives_the_same_model(data, convert, solver):
    X, y = data
    converted = convert(X)
    if hasattr(converted, "columns"):
        converted.columns = [f"x{k}" for k in range(X.shape[1])]
    model = AUCSVC(solver=solver).fit(converted, y)
    fitted_like(model, AUCSVC(solver=solver).fit(X, y), rel=1e-6)
    scores = model.decision_function(converted)
    np.testing.assert_allclose(scores, X @ model.coef_[0] + model.intercept_[0])


def test_sparse_duplicates_and_explicit_zeros_count_as_their_sum(data):
    X, y = data
    rows, columns = np.nonzero(np.ones_like(X))
    values = np.concatenate([X.ravel() / 2.0, X.ravel() / 2.0, np.zeros(X.size)])
    doubled = sparse.coo_matrix(
        (values, (np.tile(rows, 3), np.tile(columns, 3))), X.shape
    )
    messy = sparse.csr_matrix(X.shape)
    messy.data = doubled.data[np.argsort(doubled.row, kind="stable")]
    messy.indices = doubled.col[np.argsort(doubled.row, kind="stable")]
    messy.indptr = np.arange(0, 3 * X.size + 1, 3 * X.shape[1], dtype=np.int32)
    fitted_like(AUCSVC().fit(messy, y), AUCSVC().fit(X, y), rel=1e-6)


def test_float32_is_used_as_it_is(data):
    X, y = data
    narrow = AUCSVC().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(narrow.coef_, AUCSVC().fit(X, y).coef_, atol=1e-4)
    assert narrow.coef_.dtype == np.float64


def test_memory_mapped_and_read_only_data_are_not_written(data, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    fitted_like(AUCSVC().fit(mapped, y), AUCSVC().fit(X, y))


def test_frames_give_feature_names_and_refuse_other_columns(data):
    X, y = data
    names = list("abcdefgh")
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = AUCSVC().fit(frame, y)
        assert list(model.feature_names_in_) == names
        with pytest.raises(ValueError, match="feature names"):
            model.decision_function(frame[names[::-1]])


def test_a_pair_weighs_the_product_of_its_rows(data):
    X, y = data
    repeats = 1 + np.arange(len(y)) % 3
    weighted = AUCSVC(tol=1e-7).fit(X, y, sample_weight=repeats)
    repeated = AUCSVC(tol=1e-7).fit(
        np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    scaled = AUCSVC(tol=1e-7).fit(X, y, sample_weight=1e6 * repeats)
    assert scaled.objective_ == pytest.approx(weighted.objective_, rel=1e-6)


def test_a_class_may_be_weightless_but_for_a_few_of_many_rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(6000, 5))
    y = X[:, 0] > 0.0
    weight = np.where(y, 0.0, 1.0)
    weight[np.flatnonzero(y)[500:502]] = 1.0
    kept = weight > 0
    present = AUCSVC(tol=1e-4).fit(X, y, sample_weight=weight)
    absent = AUCSVC(tol=1e-4).fit(X[kept], y[kept])
    assert present.objective_ == pytest.approx(absent.objective_, rel=2e-4)


def test_labels_of_any_kind_name_the_positive_class_second(data):
    X, y = data
    for labels in (y.astype(bool), np.where(y, "sick", "healthy"), 3 * y - 1.5):
        model = AUCSVC().fit(X, labels)
        assert model.classes_[1] == max(labels)
        assert set(model.predict(X)) <= set(labels)
        np.testing.assert_array_equal(
            model.predict(X) == model.classes_[1], model.decision_function(X) > 0
        )


def test_predict_has_the_best_balanced_accuracy_of_all_thresholds(data):
    X, y = data
    model = AUCSVC().fit(X, y)
    scores = model.decision_function(X)

    def balanced(predicted):
        return predicted[y == 1].mean() - predicted[y == 0].mean()

    best = max(balanced(scores > threshold) for threshold in scores)
    assert balanced(model.predict(X) == 1) == pytest.approx(best)


def test_path_equals_single_fits_and_saves_passes(data):
    X, y = data
    C_values = [10.0, 0.1, 1.0, 100.0]
    path = AUCSVC(tol=1e-4).fit_path(X, y, C_values)
    assert [model.C for model in path] == C_values
    singles = [AUCSVC(C, tol=1e-4).fit(X, y) for C in C_values]
    for model, single in zip(path, singles, strict=True):
        assert model.objective_ == pytest.approx(single.objective_, rel=2e-4)
        assert model.dual_gap_ <= 1e-4 * model.objective_
        assert model.decision_function(X[:3]).shape == (3,)
    bundle_path = AUCSVC(solver="bundle").fit_path(X, y, C_values)
    bundle_singles = [AUCSVC(C, solver="bundle").fit(X, y) for C in C_values]
    assert sum(m.n_passes_ for m in bundle_path) < sum(
        m.n_passes_ for m in bundle_singles
    )


@pytest.mark.parametrize("options", [{"C_values": [1, 10]}, {"radii": [0.1, 1.0]}])
def test_a_path_leaves_its_template_as_it_was(data, options):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    template = AUCSVC()
    before = dict(vars(template))
    for model in template.fit_path(frame, y, **options):
        assert list(model.feature_names_in_) == list("abcdefgh")
        assert model.n_features_in_ == 8
    assert vars(template) == before
    template.fit(X[:, :3], y)
    before = dict(vars(template))
    template.fit_path(frame, y, **options)
    with pytest.raises(NotEnoughClassesError):
        template.fit_path(frame, np.zeros_like(y), **options)
    after = vars(template)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


@pytest.mark.parametrize("solver", ["newton", "bundle", "subgradient"])
def test_warm_start_continues_from_the_present_solution(data, solver):
    X, y = data
    model = AUCSVC(10.0, solver=solver, warm_start=True).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < first
    with pytest.raises(ValueError, match="warm_start continues a fit on 8 features"):
        model.fit(X[:, :5], y)


def test_callback_and_verbose_report_progress(data, capsys):
    X, y = data
    gaps = []
    AUCSVC(callback=lambda progress: gaps.append(progress.gap), verbose=1).fit(X, y)
    assert gaps[-1] < gaps[0]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(gaps)
    assert "relative gap" in lines[-1]


def test_a_missed_tolerance_is_a_warning_with_the_gap(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* tol=1e-09"):
        model = AUCSVC(100.0, tol=1e-9, max_iter=3).fit(X, y)
    assert model.n_iter_ == 3
    assert model.dual_gap_ > 1e-9 * model.objective_
    with pytest.warns(ConvergenceWarning):
        AUCSVC(100.0, tol=1e-9, max_time=0.0).fit(X, y)


def test_works_in_a_pipeline_and_a_grid_search(cancer):
    X, y = cancer
    search = GridSearchCV(
        make_pipeline(StandardScaler(), AUCSVC()),
        {"aucsvc__C": [0.1, 1.0]},
        scoring="roc_auc",
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.99
    assert clone(search.best_estimator_).get_params()["aucsvc__C"] in (0.1, 1.0)


def test_no_copy_of_the_data_is_made():
    tracemalloc = pytest.importorskip("tracemalloc")
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40_000, 60))
    y = X[:, 0] + generator.normal(size=40_000) > 1.5
    for C, solver in (
        (1.0, "newton"),
        (100.0, "newton"),
        (1.0, "bundle"),
        (1.0, "subgradient"),
    ):
        model = AUCSVC(C, solver=solver).fit(X, y)  # compiles what it needs
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.25 * X.nbytes + 40 * len(y)


def test_a_column_of_text_is_named(data):
    X, y = data
    colours = pd.DataFrame({"a": X[:, 0], "colour": np.where(y, "red", "blue")})
    with pytest.raises(ValueError, match=r"column 'colour' is '(red|blue)' in row 0"):
        AUCSVC().fit(colours, y)
