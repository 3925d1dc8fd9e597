"""One positive class: `pos_label`, or the second label in sorted order, and stated."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import aucmax
from aucmax import AUCSVC, AutoRanker
from aucmax.cli import main
from aucmax.exceptions import PositiveClassWarning
from aucmax.inference import (
    auc_interval,
    compare_auc,
    compare_metric,
    metric_interval,
)
from aucmax.metrics import metric_scorer, roc_auc_score
from aucmax.model_selection import compare_models
from aucmax.plots import ROCCurveDisplay
from aucmax.report import report_model
from aucmax.tables import encode_target

# the event, the other label, and the share of events
NAMES = [("bad", "good", 0.21), ("diseased", "healthy", 0.3), ("fraud", "ok", 0.1)]
NAMES += [("yes", "zero", 0.2), ("left", "right", 0.49)]
EVENTS = NAMES[:4]


def rows(event, other, share, n_rows=400):
    """Rows whose columns rank the events first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 2))
    risk = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n_rows)
    return X, np.where(risk > np.quantile(risk, 1.0 - share), event, other)


def quick_auto(**options):
    return AutoRanker(models=["logistic"], cv=2, time_limit=None, **options)


@pytest.mark.parametrize(("event", "other", "share"), NAMES)
@pytest.mark.filterwarnings("ignore::aucmax.exceptions.PositiveClassWarning")
def test_the_second_label_is_positive_in_every_model(event, other, share):
    X, y = rows(event, other, share)
    models = [quick_auto(), AUCSVC()]
    areas = []
    for model in models:
        model.fit(X, y)
        assert model.classes_.tolist() == sorted([event, other])
        scores = model.decision_function(X)
        areas.append(roc_auc_score(y == other, scores))
        assert roc_auc_score(y, scores) == areas[-1] > 0.9
        assert model.score(X, y) == pytest.approx(areas[-1])
        assert set(model.predict(X)[scores > np.median(scores)]) <= {other, event}
        label = ROCCurveDisplay.from_estimator(model, X, y).line_.get_label()
        assert f"AUC {areas[-1]:.3f}" in label
        plt.close("all")
    target = encode_target(y)
    assert target.labels.tolist() == (y == other).astype(int).tolist()
    comparison = compare_models(X, y, ["logistic"], cv=2)
    assert comparison.target.grading.positive == other
    assert comparison.results[0].auc > 0.9


@pytest.mark.parametrize(("event", "other", "share"), NAMES)
def test_pos_label_ranks_its_rows_first_everywhere(event, other, share):
    X, y = rows(event, other, share)
    scorer = metric_scorer("auc", pos_label=event)
    model = quick_auto(pos_label=event).fit(X, y)
    assert model.classes_.tolist() == [other, event]
    area = roc_auc_score(y == event, model.decision_function(X))
    assert area > 0.9
    assert model.score(X, y) == pytest.approx(area)
    assert scorer(model, X, y) == pytest.approx(area)
    label = ROCCurveDisplay.from_estimator(model, X, y).line_.get_label()
    assert f"AUC {area:.3f}" in label
    plt.close("all")
    page = report_model(model, X, y)
    assert page.contents["rows"][0].measures["auc"] == pytest.approx(area)
    assert not any("positive class" in n for n in getattr(model, "notices_", []))
    comparison = compare_models(X, y, ["logistic"], cv=2, pos_label=event)
    assert comparison.target.grading.positive == event
    assert not any(one.kind == "positive class" for one in comparison.notices)
    assert encode_target(y, pos_label=event).grading.positive == event


def test_one_of_three_values_is_ranked_first_in_any_spelling():
    X, y = rows("died", "well", 0.3)
    y = np.where((y == "well") & (np.arange(len(y)) % 3 == 0), "lost", y)
    model = quick_auto(pos_label="Died").fit(X, y)
    assert model.classes_.tolist() == ["not died", "died"]
    assert model.score(X, y) == roc_auc_score(y == "died", model.decision_function(X))
    with pytest.raises(ValueError, match=r"'gone': 400 rows.*the model knows"):
        model.score(X, np.full(len(y), "gone"))


def test_an_auto_ranker_and_a_comparison_state_the_choice():
    X, y = rows("left", "right", 0.49)
    share = 100 * np.mean(y == "right")
    note = f"positive class: 'right' ({share:.3g}%); pass pos_label to change it"
    assert quick_auto().fit(X, y).notices_[0] == note
    assert f"Note: {note}." in quick_auto().fit(X, y).summary()
    comparison = compare_models(X, y, ["logistic"], cv=2)
    assert str(comparison.notices[0]) == note
    for labels in (y == "right", (y == "right") + 1):
        assert not any("positive" in n for n in quick_auto().fit(X, labels).notices_)


def test_results_of_metrics_state_the_choice():
    X, y = rows("left", "right", 0.49)
    scores, others, folds = -X[:, 0], X[:, 1], np.arange(len(y)) % 3
    share = 100 * np.mean(y == "right")
    note = f"positive class: 'right' ({share:.3g}%); pass pos_label to change it"
    for measure in (
        lambda labels, **options: auc_interval(labels, scores, **options),
        lambda labels, **options: auc_interval(labels, scores, folds=folds, **options),
        lambda labels, **options: metric_interval(labels, scores, "auc", **options),
        lambda labels, **options: metric_interval(
            labels, scores, "recall@fpr=0.1", **options
        ),
        lambda labels, **options: compare_auc(labels, scores, others, **options),
        lambda labels, **options: compare_metric(
            labels, {"a": scores, "b": others}, **options
        ),
    ):
        for labels in (y, y.astype(object), pl.Series(y), y[:].tolist()):
            assert measure(labels).note == note
        assert repr(measure(y)).splitlines()[0].endswith(f"; {note}")
        assert measure(y).to_frame().height >= 1
        assert measure(y, pos_label="right").note is None
        assert measure(y == "right").note is None


@pytest.mark.parametrize(("event", "other", "share"), EVENTS)
def test_a_frequent_class_whose_other_reads_like_an_event_is_warned_of(
    event, other, share
):
    X, y = rows(event, other, share)
    scores = X[:, 0]
    calls = [
        lambda labels: roc_auc_score(labels, scores),
        lambda labels: auc_interval(labels, scores),
        encode_target,
        quick_auto().fit,
    ]
    for call in calls:
        arguments = (X,) if getattr(call, "__name__", "") == "fit" else ()
        with pytest.warns(PositiveClassWarning, match=f"pos_label='{event}'"):
            call(*arguments, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(*arguments, (y == event).astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        roc_auc_score(y, scores, pos_label=other)
        quick_auto(pos_label=other).fit(X, y)


@pytest.mark.parametrize("words", [("disease", "disease-free"), ("a", "b")])
def test_labels_of_which_none_or_both_read_like_an_event_cause_no_warning(words):
    y = np.where(np.arange(20) < 4, *words)
    assert 0 <= roc_auc_score(y, np.arange(20)) <= 1


@pytest.mark.parametrize(("event", "other", "share"), EVENTS)
def test_the_shell_ranks_the_event_first_and_stores_it(tmp_path, event, other, share):
    X, y = rows(event, other, share)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_csv(tmp_path / "t.csv")
    arguments = [str(tmp_path / "t.csv"), "--target", "y", "--model", "logistic"]
    path = tmp_path / "m.aucmax"
    run = CliRunner().invoke(main, ["fit", *arguments, "--output", str(path)])
    assert run.exit_code == 0, run.output
    assert f"column 'y' is '{event}', not '{other}'" in run.output
    model = aucmax.load(path)
    assert model.classes_.tolist() == [other, event]
    assert (
        roc_auc_score(
            y == event,
            model.decision_function(pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})),
        )
        > 0.9
    )
    path.unlink()
    choice = ["--pos-label", other, "--output", str(path)]
    run = CliRunner().invoke(main, ["fit", *arguments, *choice])
    assert run.exit_code == 0, run.output
    assert aucmax.load(path).classes_.tolist() == [event, other]
