"""Arrays that cost Hypothesis little: one draw of bytes decides on all rows at once."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

# For laws about what other tests compare with its definition, on all examples.
fewer_examples = settings(max_examples=settings().max_examples // 4)


def places(size, n_values):
    """For each of the rows a number below n_values, at most 256."""
    return st.binary(min_size=size, max_size=size).map(
        lambda drawn: np.frombuffer(drawn, dtype=np.uint8).astype(np.int64) % n_values
    )


def picked(size, values):
    """Rows picked from the given values, few of which make ties the rule."""
    values = np.asarray(values)
    return places(size, values.size).map(lambda chosen: values[chosen])


@st.composite
def spread(draw, size, elements):
    """Rows of a few values, from any floats up to all alike; or near them, distinct."""
    values = np.array(draw(st.lists(elements, min_size=1, max_size=8)))
    scores = values[draw(places(size, values.size))]
    width = draw(st.sampled_from([0.0, 1e-9, 0.5]))
    return scores * (1.0 - width * draw(places(size, 256)) / 256.0) if width else scores


def distinct(size, bound):
    """Rows that all differ, between plus and minus the bound."""
    order = places(size, 256).map(lambda keys: np.argsort(keys, kind="stable"))
    return order.map(lambda ranks: bound * (2.0 * ranks / (size - 1.0) - 1.0))
