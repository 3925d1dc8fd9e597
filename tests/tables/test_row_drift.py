"""New rows that are unlike those of training are noted, others never."""

from copy import copy

import numpy as np
import polars as pl
import pytest

from aucmax import AutoRanker
from aucmax.decisions import operating_point
from aucmax.exceptions import ModelFileError
from aucmax.tables.row_drift import count_unlike, describe_unlike


def sample(n_rows, seed=0, has_codes=False):
    rng = np.random.default_rng(seed)
    n = n_rows
    age = rng.normal(50, 12, n).round()
    table = pl.DataFrame(
        {
            "age": age,
            "dose": np.exp(3 * rng.normal(size=n)),
            "rare flag": rng.random(n) < 0.004,
            "count": rng.poisson(0.3, n),
            "heavy": rng.standard_t(1, n),
            "clinic": rng.choice(list("abcdefgh"), n),
            "town": [f"t{k}" for k in rng.zipf(1.4, n)],
            "gaps": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "start": np.datetime64("2024-01-01") + rng.integers(0, 300, n),
            "end": np.datetime64("2025-01-01") + rng.integers(0, 300, n),
        }
    )
    if has_codes:
        codes = pl.Series("code", [f"c{k}" for k in rng.integers(0, 1000, n)])
        table = table.with_columns(codes)
    return table, (age + 12 * rng.normal(size=n) > 70).astype(int)


def notes_of(model, table):
    scores = model.decision_function(table)
    parts = [slice(start, start + 1000) for start in range(0, table.height, 1000)]
    counts = [count_unlike(model, table[part], scores[part]) for part in parts]
    return describe_unlike(model, counts)


@pytest.fixture(scope="module")
def fitted():
    table, y = sample(5000)
    model = AutoRanker(models=["logistic"], cv=2).fit(table, y)
    fresh, labels = sample(5000, 1)
    scores = model.decision_function(fresh)
    return model.store_threshold(operating_point(labels, scores, fpr=0.02))


@pytest.mark.filterwarnings("ignore::aucmax.exceptions.UnknownCategoriesWarning")
@pytest.mark.filterwarnings("ignore:lbfgs failed", "ignore:.* left out")
@pytest.mark.parametrize(
    "n_rows",
    [40, 150, *(pytest.param(n, marks=pytest.mark.slow) for n in (1000, 5000))],
)
def test_rows_of_the_same_distribution_have_no_note(n_rows):
    everything, y = sample(2 * n_rows, n_rows, has_codes=True)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(2 * n_rows)
        train, test = order[:n_rows], order[n_rows:]
        if not 0 < y[train].sum() < n_rows:
            continue
        model = AutoRanker(models=[("logistic", {"max_iter": 1})], cv=2)
        model.fit(everything[train], y[train])
        if 0 < y[test].sum() < n_rows:
            half = test[: n_rows // 2]
            scores = model.decision_function(everything[half])
            if 0 < y[half].sum() < half.size:
                point = operating_point(y[half], scores, alerts=0.1)
                model.store_threshold(point)
        for rows in (test, test[:7], test[:1]):
            assert notes_of(model, everything[rows]) == []


def test_a_column_in_another_unit_is_noted_with_the_alerts(fitted):
    new, _ = sample(5000, 2)
    age, alerts = notes_of(fitted, new.with_columns(pl.col("age") * 1000))
    assert age.startswith("column 'age': 100% of the values are missing or outside")
    assert age.endswith("(19 to 80)")
    assert "100.0% of the rows are alerts, but 4.6% of those" in alerts
    (age,) = notes_of(fitted, new[:5].with_columns(pl.col("age") * 1000))
    assert "column 'age': 100%" in age


def test_values_beyond_the_range_are_noted_from_a_twentieth_on(fitted):
    new, _ = sample(5000, 3)
    for share, is_noted in ((0.02, False), (0.1, True)):
        rows = pl.arange(0, 5000, eager=True) < share * 5000
        moved = new.with_columns(dose=pl.when(rows).then(1e9).otherwise("dose"))
        assert any("'dose'" in note for note in notes_of(fitted, moved)) == is_noted


def test_unseen_categories_and_new_missing_values_are_noted(fitted):
    new, _ = sample(5000, 4)
    some = pl.arange(0, 5000, eager=True) % 4 == 0
    unseen = new.with_columns(
        clinic=pl.when(some).then(pl.lit("z")).otherwise("clinic")
    )
    (note,) = notes_of(fitted, unseen)
    assert note == (
        "column 'clinic': 25% of the values are missing or outside those of training "
        "(frequent categories)"
    )
    for name in ("clinic", "count"):
        gaps = new.with_columns(pl.when(some).then(None).otherwise(name).alias(name))
        (note,) = notes_of(fitted, gaps)
        assert f"column {name!r}: 25%" in note
    gaps = new.with_columns(gaps=pl.when(some).then(np.nan).otherwise("gaps"))
    (note,) = notes_of(fitted, gaps)  # 48% instead of 30%
    assert "column 'gaps': 4" in note


def test_wrong_ranges_are_damage(fitted):
    damaged = copy(fitted)
    damaged.ranges_ = fitted.ranges_[:, 1:]
    with pytest.raises(ModelFileError, match="ranges are of other columns"):
        damaged._check_state()


def test_ages_are_compared_and_dates_are_not(fitted):
    new, _ = sample(5000, 5)
    later = new.with_columns(pl.col("start", "end") + pl.duration(days=5000))
    assert notes_of(fitted, later) == []
    longer = new.with_columns(pl.col("end") + pl.duration(days=5000))
    note, *_ = notes_of(fitted, longer)
    assert "column 'end:days since start': 100%" in note
