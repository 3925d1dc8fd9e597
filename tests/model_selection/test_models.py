import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC, LambdaMART
from aucmax.exceptions import TooManyValuesError
from aucmax.model_selection import compare_models
from aucmax.model_selection.models import MODELS, name_candidates, named_candidate

ROWS = 160
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 3))
WORDS = np.where(X[:, 1] > 0, "round", "square")
LABELS = np.where(X[:, 0] + 0.6 * RNG.normal(size=ROWS) > 0.7, "sick", "healthy")
TABLE = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": WORDS})


def test_names_pairs_and_objects_are_compared_alike():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    svc = AUCSVC(C=3.0)
    comparison = compare_models(
        TABLE, LABELS, ["logistic", ("my pipeline", pipeline), svc], cv=2
    )
    names = ["logistic", "my pipeline", "AUCSVC"]
    assert [result.name for result in comparison.results] == names
    logistic, mine, _ = comparison.results
    # the table is scaled already, so that the pipeline is about the same model
    assert mine.auc == pytest.approx(logistic.auc, abs=0.01)
    assert [test.names[0] for test in comparison.tests] == names[1:]
    assert not hasattr(svc, "coef_")
    assert svc.C == 3.0


@pytest.mark.parametrize(
    "table",
    [TABLE, TABLE.to_pandas, X, sparse.csc_matrix(X)],
    ids=["polars", "pandas", "array", "sparse"],
)
def test_tables_of_any_kind_are_compared(table):
    table = table() if callable(table) else table
    comparison = compare_models(table, LABELS, [LogisticRegression()], cv=2)
    assert comparison.results[0].auc > 0.8
    # the rarer of two words is the positive one
    assert comparison.target.grading.positive == "sick"


def test_an_estimator_that_takes_categories_gets_their_codes():
    trees = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    named = name_candidates([trees, LambdaMART(), AUCSVC()])
    assert [model.view for model in named.values()] == ["trees", "trees", "linear"]
    sick = (WORDS == "round") ^ (RNG.random(ROWS) < 0.1)
    comparison = compare_models(TABLE.select("word", "a"), sick, [trees], cv=2)
    assert comparison.results[0].auc > 0.8


def test_category_codes_are_told_from_numbers():
    class Spy(BaseEstimator):
        def __init__(self, categorical_features=None):
            self.categorical_features = categorical_features

        def fit(self, X, y):
            assert self.categorical_features == [2]
            assert set(X[:, 2]) == {0, 1}
            return self

        def decision_function(self, X):
            return X[:, 0]

    assert compare_models(TABLE, LABELS, [Spy()], cv=2).results[0].auc > 0.8


def test_parameters_of_a_named_model_can_be_set():
    levels = np.digitize(X[:, 0], [0, 1])
    model = ("lambdamart-ordinal", {"n_estimators": 5})
    comparison = compare_models(X, levels, [model, "logistic"], cv=2)
    assert comparison.metric == "mauc"
    assert comparison.last_fold.models["lambdamart-ordinal"][-1].n_estimators == 5
    with pytest.raises(TooManyValuesError, match="use a model that learns levels"):
        compare_models(X, levels, [LambdaMART(objective="ordinal")])


def test_queries_come_with_raw_labels_or_with_the_target():
    queries = np.arange(ROWS) // 8
    comparison = compare_models(X, LABELS, [AUCSVC()], qid=queries, cv=2)
    assert comparison.unit == "queries"
    with pytest.raises(ValueError, match="y is an encoded target"):
        compare_models(X, comparison.target, [AUCSVC()], qid=queries)


def test_the_first_model_is_the_baseline_if_none_of_the_list_takes_part():
    models = [("bayes", GaussianNB()), AUCSVC()]
    comparison = compare_models(X, LABELS, models, cv=2)
    (test,) = comparison.tests
    assert test.names == ("AUCSVC", "bayes")
    assert [result.is_baseline for result in comparison.results] == [True, False]


@pytest.mark.parametrize(
    ("models", "error", "message"),
    [
        (
            [AUCSVC(), AUCSVC(C=2)],
            ValueError,
            r'name \'AUCSVC\'.*\("another name", AUC',
        ),
        (["logistic"] * 2, ValueError, "two models have the name 'logistic'"),
        ("logistic", ValueError, "give a list of at least one model, got 'logistic'"),
        ([AUCSVC], TypeError, "a model must be a name, an estimator, or a pair"),
        ([None], TypeError, "got None"),
    ],
)
def test_what_is_no_list_of_models_is_rejected(models, error, message):
    with pytest.raises(error, match=message):
        compare_models(X, LABELS, models)


def test_c_grows_with_the_rows():
    models = ["svm-auc", "logistic"]
    fitted = compare_models(X, LABELS, models, cv=2).last_fold.models
    assert pytest.approx(0.1 * ROWS / 2) == fitted["svm-auc"][-1].C
    assert fitted["logistic"][-1].C == 1
    assert {named_candidate(name).name for name in MODELS} == set(MODELS)
