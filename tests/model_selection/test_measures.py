import numpy as np
import pytest

from aucmax import metrics
from aucmax.model_selection.goals import Goal, by_query, measures_of
from aucmax.tables import encode_target

RNG = np.random.default_rng(0)
QUERIES = RNG.integers(0, 30, 400)
LEVELS = RNG.integers(0, 3, 400) * (QUERIES % 5 > 0)
SCORES = LEVELS + 2 * RNG.normal(size=400).round(1)
RANGE = (0.0, 0.3)
MAUC = Goal("mauc", RANGE)


def measure(target, scores, goal):
    names = measures_of(target)
    return {name: by_query(name, target, scores, goal) for name in names}


def expected_retrieval(target):
    """NDCG of queries with two levels, MAP of those among them with the lowest."""
    usable = np.isin(QUERIES, [QUERIES[rows[0]] for rows in target.blocks])
    has_lowest = np.isin(QUERIES, QUERIES[LEVELS == 0]) & usable
    ndcg = metrics.ndcg_score(LEVELS[usable], SCORES[usable], k=10, qid=QUERIES[usable])
    rows = (LEVELS[has_lowest] > 0, SCORES[has_lowest])
    precision = metrics.mean_average_precision(*rows, qid=QUERIES[has_lowest])
    return {"ndcg@10": pytest.approx(ndcg), "map": pytest.approx(precision)}


@pytest.mark.parametrize("qid", [QUERIES, None], ids=["queries", "all rows"])
def test_levels_are_measured_by_mauc_and_the_share_of_ordered_pairs(qid):
    target = encode_target(LEVELS, allow_levels=True, qid=qid)
    measured = {k: np.nanmean(v) for k, v in measure(target, SCORES, MAUC).items()}
    retrieval = {name: measured.pop(name, None) for name in ("ndcg@10", "map")}
    if qid is not None:
        assert retrieval == expected_retrieval(target)
    assert measured == {
        "mauc": pytest.approx(metrics.multiclass_auc_score(LEVELS, SCORES, qid=qid)),
        "ordinal_auc": pytest.approx(
            metrics.ordinal_auc_score(LEVELS, SCORES, qid=qid)
        ),
        "auc": pytest.approx(metrics.roc_auc_score(LEVELS > 0, SCORES, qid=qid)),
    }


def test_a_query_without_the_lowest_level_has_a_mauc_but_no_auc():
    target = encode_target([0, 1, 1, 2], allow_levels=True, qid=[1, 1, 2, 2])
    measured = measure(target, np.arange(4.0), MAUC)
    assert measured["mauc"].tolist() == [1, 0.5]
    assert measured["auc"][0] == 1
    assert np.isnan(measured["auc"][1])
