"""Quality of rankings, intervals and probabilities on many tables."""
