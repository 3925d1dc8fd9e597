"""Strategies shared by the tests of the metrics."""

import numpy as np
from hypothesis import strategies as st

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


@st.composite
def samples(draw, max_rows=24, levels=2, elements=None, weights=False, queries=1):
    """Labels, scores, weights (or None) and query ids with every level present."""
    labels = draw(
        st.lists(st.integers(0, levels - 1), min_size=2, max_size=max_rows).filter(
            lambda values: len(set(values)) > 1
        )
    )
    rows = len(labels)
    kind = elements if elements is not None else draw(st.sampled_from([tied, score]))
    scores = draw(st.lists(kind, min_size=rows, max_size=rows))
    weight = None
    if weights:
        positive = st.sampled_from([0.25, 1.0, 3.0, 1e-3, 0.1])
        weight = np.array(draw(st.lists(positive, min_size=rows, max_size=rows)))
    qid = draw(st.lists(st.integers(0, queries - 1), min_size=rows, max_size=rows))
    return np.array(labels), np.array(scores), weight, np.array(qid)
