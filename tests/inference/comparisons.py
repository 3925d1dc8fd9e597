"""Comparisons of two models by any metric."""

from aucmax.inference import compare_metric


def difference(y_true, y_score_1, y_score_2, metric="auc", **options):
    """Return the only difference of two models."""
    models = {"y_score_1": y_score_1, "y_score_2": y_score_2}
    return compare_metric(y_true, models, metric, **options).differences[0]
