"""How much is tried: a sample, or all of it where AUCMAX_TORTURE is set."""

import os


def times(sample, whole):
    """Return how often to try something."""
    return whole if os.environ.get("AUCMAX_TORTURE") else sample
