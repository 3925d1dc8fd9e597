"""Strategies shared by the tests of the metrics."""

import numpy as np
from hypothesis import strategies as st

from drawing import places

# few distinct values, so that ties are the rule and not the exception
tied = st.integers(-3, 3).map(float)
# extreme scales side by side, with both zeros and subnormals
extreme = st.sampled_from(
    [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        1e-300,
        1e300,
        -1e300,
        1.7e308,
        -1.7e308,
        1.0,
        1 + 2e-16,
    ]
)
score = st.one_of(tied, extreme, st.floats(-10, 10), st.floats(1e8, 1e8 + 1e-6))

distinct = st.nothing()  # all scores of a sample differ; marks the kind, never drawn


@st.composite
def samples(
    draw, max_rows=24, levels=2, elements=None, weights=False, queries=1, of_each=1
):
    """Labels, scores, weights (or None) and query ids; two levels at least.

    Scores are picked from a few values, or they are all distinct. With `of_each`, the
    levels 0 and 1 have this number of rows at least.
    """
    rows = draw(st.integers(2 * of_each, max_rows))
    labels = draw(places(rows, levels))
    if of_each > 1:
        labels[: 2 * of_each] = np.arange(2 * of_each) % 2
    elif (labels == labels[0]).all():
        labels[-1] = (labels[0] + 1) % levels
    kind = elements
    if kind is None:
        kind = draw(st.sampled_from([tied, score, distinct]))
    if kind is distinct:
        scores = np.argsort(draw(places(rows, 256)), kind="stable") / 4.0
    else:
        values = np.array(draw(st.lists(kind, min_size=1, max_size=10)))
        scores = values[draw(places(rows, values.size))]
    weight = None
    if weights:
        weight = np.array([0.25, 1.0, 3.0, 1e-3, 0.1])[draw(places(rows, 5))]
    qid = draw(places(rows, queries)) if queries > 1 else np.zeros(rows, dtype=np.int64)
    return labels, scores, weight, qid
