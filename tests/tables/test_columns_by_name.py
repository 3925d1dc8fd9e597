"""Columns are found by name, and pipelines that select by name get the raw frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.stats import rankdata
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import aucmax
from aucmax import AutoRanker
from aucmax.cli import main
from aucmax.exceptions import ColumnsWarning
from aucmax.model_selection import compare_models

pytestmark = pytest.mark.filterwarnings(
    "ignore:column 'text' is left out:aucmax.exceptions.ColumnsWarning"
)


def table(n_rows=120, seed=0):
    generator = np.random.default_rng(seed)
    size = generator.normal(size=n_rows)
    kind = generator.choice(["red", "blue", None], n_rows).tolist()
    # nearly all differ, so the encoder leaves this column out
    words = [f"{'good' if s > 0 else 'bad'} day {k}" for k, s in enumerate(size)]
    target = size + generator.normal(size=n_rows) > 0
    frame = pl.DataFrame({"size": size, "kind": kind, "text": words})
    return frame, target.astype(int)


def fitted_to(frame, y, model="logistic"):
    return AutoRanker(models=[model], cv=2).fit(frame, y)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_order_does_not_matter_and_others_are_ignored(library):
    frame, y = table()
    fitted = fitted_to(frame, y)
    expected = fitted.decision_function(frame)
    other = frame.select("text", pl.lit(1).alias("new"), "kind", "size")
    if library == "pandas":
        other = pd.DataFrame(other.to_dict(as_series=False))
    with pytest.warns(ColumnsWarning) as caught:
        scores = fitted.decision_function(other)
    (message,) = {str(warning.message) for warning in caught}
    assert message.startswith("1 column that training did not have is ignored: 'new'")
    assert "another order" in message
    np.testing.assert_array_equal(scores, expected)
    with pytest.raises(ValueError, match="missing columns 'size', 'kind'"):
        fitted.decision_function(frame.select("text"))
    # the encoder does not use it
    np.testing.assert_array_equal(
        fitted.decision_function(frame.drop("text")), expected
    )


def test_the_command_line_notes_other_columns(tmp_path):
    frame, y = table()
    model = fitted_to(frame, y)
    model.file_roles_ = {"target": "y"}
    aucmax.save(model, tmp_path / "model.aucmax")
    new = frame.with_columns(y=y, other=1).select("y", "other", "kind", "size", "text")
    new.write_csv(tmp_path / "new.csv")
    new.drop("kind").write_csv(tmp_path / "less.csv")
    for command in ("score", "evaluate"):
        paths = [str(tmp_path / name) for name in ("model.aucmax", "new.csv")]
        result = CliRunner().invoke(main, [command, *paths])
        assert result.exit_code == 0
        assert result.stderr.count("1 column that training did not have") == 1
        assert "'other'" in result.stderr
        assert "another order" in result.stderr
        paths[1] = str(tmp_path / "less.csv")
        result = CliRunner().invoke(main, [command, *paths])
        assert result.exit_code == 2
        assert "missing column 'kind'" in result.stderr


def by_name(*, columns):
    text = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    if columns == "names":
        text = OneHotEncoder(handle_unknown="ignore")
    chosen = ["kind"] if columns == "names" else make_column_selector("kind")
    return make_pipeline(
        ColumnTransformer(
            [
                ("number", StandardScaler(), ["size"]),
                ("kind", text, chosen),
                ("text", CountVectorizer(), "text"),
            ]
        ),
        LogisticRegression(),
    )


@pytest.mark.parametrize(
    ("library", "columns"),
    [("polars", "names"), ("pandas", "selector")],
)
def test_a_pipeline_gets_the_raw_frame(library, columns):
    frame, y = table()
    if library == "pandas":
        frame = pd.DataFrame(frame.to_dict(as_series=False))
        frame["kind"] = frame["kind"].astype("category")
    pipeline = by_name(columns=columns)
    alone = pipeline.fit(frame, y).decision_function(frame)
    models = ["logistic", ("own", pipeline)]
    compared = compare_models(frame, y, models, cv=2)
    assert min(result.measures["auc"] for result in compared.results) > 0.7
    auto = AutoRanker(models=[("own", pipeline)], cv=2).fit(frame, y)
    assert auto.notices_[-1:] != ["own is left out"]
    ranks = [np.argsort(np.argsort(s)) for s in (auto.decision_function(frame), alone)]
    np.testing.assert_array_equal(*ranks)
    with pytest.raises(TypeError, match=r"cannot save .*Pipeline"):
        aucmax.save(auto, "never.aucmax")


def test_cells_that_do_not_fit_the_type_of_training_keep_their_own():
    frame, y = table()
    numbers = pd.DataFrame({"size": frame["size"], "count": np.arange(120) % 7})
    pipeline = make_pipeline(
        ColumnTransformer(
            [("all", make_pipeline(SimpleImputer(), StandardScaler()), [0, 1])]
        ),
        LogisticRegression(),
    )
    model = fitted_to(numbers, y, pipeline)
    gap = pd.DataFrame({"count": [None, 2], "size": [0.5, np.nan]})
    with pytest.warns(ColumnsWarning, match="another order"):
        assert np.isfinite(model.decision_function(gap)).all()


def test_new_categories_and_missing_booleans_are_not_replaced():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", None], 120)
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "flag": rng.random(120) < 0.5})
    frame["range"] = pd.cut(rng.normal(size=120), [-9.0, 0.0, 9.0])
    y = (kind == "a") + rng.normal(size=120) > 0.5
    encoder = OneHotEncoder(handle_unknown="ignore")
    pipeline = make_pipeline(
        ColumnTransformer([("all", encoder, ["kind", "flag", "range"])]),
        LogisticRegression(),
    )
    model = fitted_to(frame, y, pipeline)
    alone = pipeline.fit(frame, y)
    new = frame.iloc[:4].assign(kind=["a", "new", None, "b"])
    new["flag"] = pd.Series([None, True, False, None], dtype=object)
    for rows in (frame, new):
        ranks = [rankdata(one.decision_function(rows)) for one in (alone, model)]
        np.testing.assert_array_equal(*ranks)
