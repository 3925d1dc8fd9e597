"""What LambdaMART takes for features: gaps, categories, frames, odd magnitudes."""

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from aucmax import LambdaMART
from aucmax.metrics import roc_auc_score
from aucmax.persistence.booster_text import check_booster_text
from trees.tree_samples import sample

# small leaves and few rows a category, where LightGBM would rather not split
CATEGORIES = {"min_data_per_group": 5, "cat_smooth": 1.0, "cat_l2": 1.0}


def few(**options):
    return LambdaMART("logistic", **{"n_estimators": 10, **options})


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "reversed": lambda X: X[:, ::-1].copy()[:, ::-1],
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csc matrix": sp.csc_matrix,
    "halves": lambda X: halves(X),
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
    "list": lambda X: X.tolist(),
}


def halves(X):
    """Every entry stored as two halves, out of order."""
    whole = sp.coo_array(X)
    rows, columns = (np.tile(place, 2) for place in whole.coords)
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(X.shape[0] + 1))
    stored = np.tile(whole.data / 2, 2)[order]
    return sp.csr_array((stored, columns[order], starts), shape=X.shape)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("with_gaps", [False, True])
def test_every_form_of_the_data_gives_one_model(form, with_gaps):
    X, y, _ = sample(0)
    X = X.round(1)
    X[np.abs(X) > 1.8] = np.nan if with_gaps else 0.0
    X = X.astype(np.float32).astype(float)
    expected = few().fit(X, y).decision_function(X)
    model = few().fit(FORMS[form](X), y, eval_set=(FORMS[form](X), y))
    model.fit(FORMS[form](X), y)
    np.testing.assert_allclose(model.decision_function(FORMS[form](X)), expected)
    parts = np.asarray(model.contributions(FORMS[form](X)))
    np.testing.assert_allclose(parts.sum(axis=1), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", "CF")
def test_lightgbm_reads_the_callers_memory(dtype, order, monkeypatch):
    import lightgbm

    X, y, _ = sample(0)
    X = np.asarray(X, dtype=dtype, order=order)
    seen, dataset = [], lightgbm.Dataset

    def look(data, *args, **kwargs):
        seen.append(data)
        return dataset(data, *args, **kwargs)

    monkeypatch.setattr("lightgbm.Dataset", look)
    model = few().fit(X, y)
    assert seen[0] is X or (np.shares_memory(seen[0], X) and seen[0].dtype == dtype)
    X.flags.writeable = False
    model.fit(X, y)


def test_missing_values_go_where_they_rank_best():
    X, y, _ = sample(0)
    X[y, 3] = np.nan
    model = few().fit(X, y)
    assert roc_auc_score(y, model.decision_function(X)) == 1.0
    new = X.copy()
    new[:, 3] = np.nan
    assert (model.decision_function(new) > 0).mean() > 0.9
    new[:, 0] = (
        np.nan
    )  # a column without missing values in training may have some later
    assert np.isfinite(model.decision_function(new)).all()


def categorical(n_rows=600, seed=0):
    """A column of 12 codes of which the odd ones are positive, and one of noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, n_rows)
    y = (codes % 2 == 1) ^ (rng.random(n_rows) < 0.05)
    return np.column_stack([rng.normal(size=n_rows), codes]), y


@pytest.mark.parametrize("form", [np.array, sp.csr_array, sp.csc_array])
def test_categories_are_split_by_sets(form):
    X, y = categorical()
    options = {"n_estimators": 1, "num_leaves": 2, "params": CATEGORIES}
    plain = few(**options).fit(form(X), y)
    model = few(categorical_features=[1], **options).fit(form(X), y)
    assert roc_auc_score(y, plain.decision_function(X)) < 0.7
    assert roc_auc_score(y, model.decision_function(form(X))) > 0.9
    assert model.categorical_features_ == [1]
    X[:3, 1] = 55, np.nan, 999_999  # never seen
    assert np.unique(model.decision_function(form(X))[:3]).size == 1


PANDAS = {
    "category": pd.Categorical,
    "object": lambda values: pd.Series(values, dtype=object),
    "string": lambda values: pd.array(values, dtype="string"),
    "str": lambda values: pd.Series(values, dtype=str).where(pd.notna(values)),
}
POLARS = {
    "Categorical": lambda values: pl.Categorical,
    "Enum": lambda values: pl.Enum(sorted({v for v in values if v is not None})),
    "String": lambda values: pl.String,
}


def frame(kind, X, names=("number", "kind"), missing=()):
    letters = np.array([f"c{int(code):02d}" for code in X[:, 1]], dtype=object)
    letters[list(missing)] = None
    if kind in PANDAS:
        return pd.DataFrame({names[0]: X[:, 0], names[1]: PANDAS[kind](letters)})
    column = pl.Series(names[1], letters.tolist(), dtype=pl.String)
    column = column.cast(POLARS[kind](letters))
    return pl.DataFrame([pl.Series(names[0], X[:, 0]), column])


@pytest.mark.parametrize("kind", [*PANDAS, *POLARS])
def test_categories_and_text_of_frames_are_encoded_and_remembered(kind):
    X, y = categorical()
    options = {"params": CATEGORIES}
    model = few(**options).fit(frame(kind, X), y)
    by_hand = few(categorical_features=["kind"], **options)
    by_hand.fit(pd.DataFrame(X, columns=["number", "kind"]), y)
    expected = by_hand.decision_function(pd.DataFrame(X, columns=["number", "kind"]))
    np.testing.assert_array_equal(model.decision_function(frame(kind, X)), expected)
    codes = [int(category[1:]) for category in model.categories_[1]]
    assert sorted(codes) == list(range(12))
    assert (np.diff(np.bincount(X[:, 1].astype(int))[codes]) <= 0).all()
    # other rows have other categories, or none, in another order
    some = np.flatnonzero(X[:, 1] > 5)
    np.testing.assert_array_equal(
        model.decision_function(frame(kind, X[some])), expected[some]
    )
    new = X[:6].copy()
    new[:, 0] = 0.0
    new[:3, 1] = 50, 60, 70
    scores = model.decision_function(frame(kind, new, missing=[4]))
    assert np.unique(scores[[0, 1, 2, 4]]).size == 1
    # gaps in training
    model.fit(frame(kind, X, missing=range(0, 600, 9)), y)
    assert roc_auc_score(y, model.decision_function(frame(kind, X))) > 0.8
    # a later fit on numbers alone forgets the categories
    model.set_params(categorical_features=None).fit(X, y)
    assert not hasattr(model, "categories_")


@pytest.mark.parametrize("kind", ["category", "String"])
def test_contributions_carry_the_names_of_the_columns(kind):
    X, y = categorical()
    table = frame(kind, X)
    model = few(params=CATEGORIES).fit(table, y)
    parts = model.contributions(table)
    assert type(parts) is type(table)
    assert list(parts.columns) == ["number", "kind", "expected"]
    np.testing.assert_allclose(
        np.asarray(parts).sum(axis=1), model.decision_function(table)
    )
    assert np.ptp(np.asarray(parts["kind"])) > np.ptp(np.asarray(parts["number"]))
    named = frame(kind, X, names=("expected", "kind"))
    parts = model.fit(named, y).contributions(named[7:9])
    assert list(parts.columns) == ["expected", "kind", "expected_"]
    if kind == "category":
        assert parts.index.tolist() == [7, 8]


@pytest.mark.parametrize("form", [np.array, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("scale", [1e-310, 1e-40, 1e290])
def test_columns_that_lightgbm_cannot_read_are_named(form, scale):
    X, y, _ = sample(0)
    X[:, 3] *= scale
    with pytest.raises(ValueError, match=r"column 3 has values up to .*Scale the col"):
        few().fit(form(X), y)


def test_names_choose_columns_for_signs_and_categories():
    X, y, _ = sample(0)
    table = pd.DataFrame(X, columns=list("abcde"))
    table["e"] = np.arange(y.size) % 7
    model = few(categorical_features=["e"], monotone_constraints={"a": 1, "b": 0})
    model.fit(table, y)
    assert model.categorical_features_ == [4]
    assert "monotone_constraints=1 0 0 0 0" in model.model_text_


BAD_COLUMNS = {
    "infinity": ({}, "infinity in row 7, column 2"),
    "unknown column": (
        {"categorical_features": [5]},
        "categorical_features has 5, which is not a column; .* number, 0 to 4",
    ),
    "no names": ({"categorical_features": ["a"]}, "since X has no names"),
    "truth": ({"categorical_features": [True]}, "has True, which is not a column"),
    "another word": (
        {"categorical_features": "auto"},
        "must be one of 'from_dtype', got 'auto'",
    ),
    "fractions": ({"categorical_features": [0]}, r"column 0 is categorical, but row 0"),
    "signs for others": ({"monotone_constraints": [1, 0]}, "has 2 signs for 5 columns"),
    "no sign": ({"monotone_constraints": [2, 0, 0, 0, 0]}, "column 0 is 2; it must be"),
    "sign of nobody": (
        {"monotone_constraints": {9: 1}},
        "has 9, which is not a column",
    ),
}


@pytest.mark.parametrize("case", BAD_COLUMNS)
@pytest.mark.parametrize("form", [np.array, sp.csr_array, sp.csc_array])
def test_bad_columns_are_named(case, form):
    options, message = BAD_COLUMNS[case]
    X, y, _ = sample(0)
    if case == "infinity":
        X[7, 2], X[3, 1] = -np.inf, np.nan
    with pytest.raises(ValueError, match=message):
        few(**options).fit(form(X), y)


@pytest.mark.parametrize("code", [-1.0, 0.5, 2.0**31])
def test_bad_codes_are_named_at_training_and_after(code):
    X, y = categorical()
    model = few(categorical_features=[1]).fit(X, y)
    bad = X.copy()
    bad[13, 1] = code
    for call in (model.decision_function, lambda rows: model.fit(rows, y)):
        with pytest.raises(ValueError, match=r"column 1 is categorical, but row 13 is"):
            call(bad)


def test_categories_need_a_frame_of_the_same_columns():
    X, y = categorical()
    model = few().fit(frame("Categorical", X), y)
    with pytest.raises(TypeError, match="X must be a data frame"):
        model.decision_function(X)
    with pytest.raises(ValueError, match="feature names"):
        model.decision_function(frame("Categorical", X, names=("number", "other")))
    with pytest.raises(ValueError, match=r"feature|columns"):
        model.decision_function(frame("Categorical", X).select("number"))


def test_the_text_for_lightgbm_has_names_and_categories():
    generator = np.random.default_rng(0)
    color = generator.choice(["red", "green", "blue"], 300)
    size = generator.normal(size=300)
    y = (color == "red") + size + generator.normal(size=300) > 0.5
    names = ["size, in m", "color", "größe", "a=b", "a:b"]
    frame = pd.DataFrame(dict.fromkeys(names, size))
    frame["color"] = color
    model = LambdaMART(n_estimators=10, categorical_features="from_dtype")
    text = model.fit(frame, y).to_lightgbm()
    booster = lightgbm.Booster(model_str=text)
    assert booster.feature_name() == ["size__in_m", "color", "größe", "a_b", "a_b_"]
    frame["color"] = frame["color"].astype("category")
    scores = booster.predict(frame, raw_score=True)
    expected = model.decision_function(frame) + model.threshold_
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    unknown = frame.assign(color="pink").astype({"color": "category"})
    scores = booster.predict(unknown, raw_score=True)
    expected = model.decision_function(unknown) + model.threshold_
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    check_booster_text(model.model_text_)
