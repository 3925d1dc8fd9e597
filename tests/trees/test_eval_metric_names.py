import pytest

from aucmax import LambdaMART
from aucmax.metrics import recall_at_k
from aucmax.metrics.metric_names import names, parse_metric
from trees.plugin_samples import make_sample

SAMPLE = make_sample(n_queries=5)
Y = SAMPLE.labels > 0


@pytest.mark.parametrize("name", [name for name in names() if name != "concordance"])
def test_early_stopping_takes_every_name_of_a_metric(name):
    kind = parse_metric(name).kind
    qid = SAMPLE.qid if kind.needs_queries else None
    rows = {"X": SAMPLE.X, "y": Y.astype(int)}
    rows |= {} if qid is None else {"qid": qid}
    objective = "ordinal" if kind.uses_levels else "logistic"
    model = LambdaMART(objective, n_estimators=5, eval_metric=name)
    model.fit(**rows, eval_set=rows)
    scores = model.decision_function(SAMPLE.X)
    options = {"fpr_range": (0.0, 0.1)} if kind.takes_range else {}
    options |= {} if qid is None else {"qid": qid}
    expected = parse_metric(name).function(Y.astype(int), scores, **options)
    assert model.best_score_ == pytest.approx(expected, abs=1e-9)


def test_held_out_rows_take_their_share_of_the_top_k():
    model = LambdaMART(
        n_estimators=3,
        n_iter_no_change=3,
        validation_fraction=0.25,
        eval_metric="recall@40",
        random_state=0,
    ).fit(SAMPLE.X, Y)
    seen = []

    def recall(labels, scores):
        seen.append(labels.size)
        return recall_at_k(labels, scores, k=10)

    peer = model.__class__(**{**model.get_params(), "eval_metric": recall})
    peer.fit(SAMPLE.X, Y)
    assert seen[0] == 50
    assert model.best_score_ == peer.best_score_
