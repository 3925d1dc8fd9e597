"""AutoRanker against single models and two other automatic ones, at equal seconds."""
