"""Raw cells in any spelling score the same by an exported model, or not at all."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from aucmax import AutoRanker, LambdaMART
from aucmax.datasets.loading import MISSING
from aucmax.tables import TableEncoder

pytest.importorskip("onnx", reason="onnx is not installed")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from aucmax.onnx import to_onnx  # noqa: E402

ROWS = 160
WORDS = ["red", "green", "light blue", "rosé", "a.b", "1.0.0", "none of it", "tRue"]
FLAGS = ["True", "true", "TRUE", "False", "false", "FALSE", "tRuE"]
BITS = ["1", "0", "1.0", "0.0", "1.00"]
CODES = ["1", "1.0", "01", "2", "2.000", "+3.0", "3", "-0.0", "-0", ".0", "4."]
CODES += ["a", "b", "c", "1.0a"]
STREETS = [f"street {k}" for k in range(70)] + ["7.0", "7", "True"]


def draw(rng, words, n_rows, share_missing):
    """Words with blanks around them, and missing values in all spellings."""
    cells = rng.choice(np.array(words, dtype=object), n_rows)
    blanks = rng.choice(["", "", "", " ", "   "], (2, n_rows)).astype(object)
    cells = blanks[0] + cells + blanks[1]
    missing = rng.random(n_rows) < share_missing
    cells[missing] = rng.choice(
        np.array([*MISSING, " ? ", "  "], dtype=object), n_rows
    )[missing]
    return [None if rng.random() < 0.1 * share_missing else cell for cell in cells]


def raw_table(rng, chosen, n_rows, share_missing, unseen=()):
    """A table of the chosen kinds of columns, and a target that depends on them."""
    kinds = {
        "words": [*WORDS, *unseen],
        "flags": FLAGS,
        "bits": BITS,
        "either": FLAGS + BITS,
        "codes": [*CODES, *unseen],
        "streets": [*STREETS, *unseen],
    }
    columns = {
        name: draw(rng, kinds[name], n_rows, share_missing)
        for name in chosen
        if name in kinds
    }
    numbers = rng.lognormal(size=n_rows)
    columns["size"] = [None if rng.random() < share_missing else x for x in numbers]
    if "boolean" in chosen:
        columns["boolean"] = (rng.random(n_rows) < 0.5).tolist()
    return pl.DataFrame(columns, strict=False)


def spelled(frame, exported):
    """Cells as a program without Python has them: text as it is, or numbers."""
    cells = {}
    for one in exported.graph.input:
        values = frame[one.name].to_list()
        if one.type.tensor_type.elem_type == 8:  # strings
            column = ["" if cell is None else str(cell) for cell in values]
            cells[one.name] = np.array(column, dtype=object)[:, None]
        else:
            column = [np.nan if is_missing(cell) else float(cell) for cell in values]
            cells[one.name] = np.array(column)[:, None]
    return cells


def is_missing(cell):
    return cell is None or str(cell).strip() in MISSING


def scores_of(exported, cells):
    session = ort.InferenceSession(exported.SerializeToString())
    return session.run(["score"], cells)[0]


@pytest.mark.filterwarnings("ignore::aucmax.exceptions.UnknownCategoriesWarning")
def test_random_tables_of_odd_spellings_score_the_same():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        names = ["words", "flags", "bits", "either", "codes", "streets", "boolean"]
        chosen = [name for name in names if rng.random() < 0.6]
        share = rng.choice([0.0, 0.1, 0.3])
        frame = raw_table(rng, chosen, ROWS, share)
        risk = rng.normal(size=ROWS) + np.nan_to_num(frame["size"].to_numpy())
        for name in chosen:
            risk += np.array([hash_of(cell) for cell in frame[name].to_list()])
        y = risk > np.median(risk)
        is_linear = rng.random() < 0.5
        estimator = LogisticRegression() if is_linear else LambdaMART(n_estimators=5)
        if seed % 20 == 0:
            estimator = AutoRanker(models=["logistic", "lightgbm-small"], cv=2)
        view = "linear" if is_linear else "trees"
        model = estimator
        if not isinstance(estimator, AutoRanker):
            model = make_pipeline(TableEncoder(view=view), estimator)
        model.fit(frame, y)
        exported = to_onnx(model)
        new = raw_table(rng, chosen, ROWS, 0.2, ("never seen", "TRUE", "1", "5.0"))
        exported_scores = scores_of(exported, spelled(new, exported))
        expected = model.decision_function(new)
        np.testing.assert_allclose(
            exported_scores, expected, rtol=0, atol=1e-9, err_msg=seed
        )


def hash_of(cell):
    """A number that depends on the meaning of a cell, roughly."""
    return sum(map(ord, str(cell).strip().lower())) % 3


SPACES = [chr(c) for c in range(0x3100) if chr(c).isspace()]


def test_white_space_that_a_graph_cannot_strip_has_no_score():
    rng = np.random.default_rng(0)
    words = ["red", "green", "light blue"]
    frame = pl.DataFrame({"word": rng.choice(words, 90), "size": rng.normal(size=90)})
    y = (frame["word"] == "red").to_numpy() ^ (rng.random(90) < 0.2)
    model = AutoRanker(models=["logistic"], cv=2, calibrate="sigmoid").fit(frame, y)
    session = ort.InferenceSession(to_onnx(model).SerializeToString())
    padded = [word for s in SPACES for word in (f"{s}red", f"red{s}", f" {s} red ")]
    padded += ["red", "light\tblue", "light  blue", "", *SPACES]
    new = pl.DataFrame({"word": padded, "size": np.zeros(len(padded))})
    cells = np.array(padded, dtype=object)[:, None]
    inputs = {"word": cells, "size": np.zeros((len(padded), 1))}
    for exported_scores, expected in zip(
        session.run(["score", "probability"], inputs),
        (model.decision_function(new), model.predict_proba(new)[:, 1]),
        strict=True,
    ):
        is_scored = ~np.isnan(exported_scores)
        np.testing.assert_allclose(
            exported_scores[is_scored], expected[is_scored], atol=1e-9
        )
        # spaces are stripped; control characters 1C to 1F belong to the word, as in
        # polars; all others have no score
        is_stripped = np.array([cell == cell.strip() for cell in padded])
        is_stripped |= np.array([cell.strip(" ") == cell.strip() for cell in padded])
        kept = np.array([bool({*cell} & {*"\x1c\x1d\x1e\x1f"}) for cell in padded])
        np.testing.assert_array_equal(is_scored, is_stripped | kept)


def test_cells_that_are_all_empty_have_scores():
    frame = pl.DataFrame({"word": ["a", "b", None, "a"] * 10})
    y = np.arange(40) % 3 == 0
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(frame, y)
    for cells in (["", ""], [" "], []):
        column = np.array(cells, dtype=object).reshape(-1, 1)
        exported_scores = scores_of(to_onnx(model), {"word": column})
        expected = model.decision_function(frame[2:3]) * np.ones(len(cells))
        np.testing.assert_allclose(exported_scores, expected, atol=1e-9)
