"""What rankings, intervals and probabilities are worth, on many tables."""
