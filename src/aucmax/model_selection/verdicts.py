"""The sentence that a comparison comes down to."""

from aucmax.model_selection.aim import MEASURES, Aim
from aucmax.model_selection.results import Comparison

__all__ = ["sentence_of_comparison", "sentence_of_model"]

_MOST_NAMES = 4  # in one sentence


def sentence_of_comparison(comparison: Comparison) -> str:
    """Say which model ranks best, how well, and whether that may be chance.

    Parameters
    ----------
    comparison : Comparison
        What was found.

    Returns
    -------
    str
    """
    if comparison.best is None:
        return "No model ranks these rows: all of them have constant scores."
    best = next(r for r in comparison.results if r.name == comparison.best)
    text = _how_well(best.main, best.low, best.high, comparison.aim)
    return f"{best.name} ranks best: {text}. {_against(comparison)}".strip()


def sentence_of_model(
    name: str, value: float, low: float, high: float, aim: Aim
) -> str:
    """Say how well one model ranks.

    Parameters
    ----------
    name : str
        What it is called.
    value, low, high : float
        The main measure and its interval.
    aim : Aim
        What the measure is.

    Returns
    -------
    str
    """
    return f"{name}: {_how_well(value, low, high, aim)}."


def _how_well(value: float, low: float, high: float, aim: Aim) -> str:
    interval = f" (95% interval {low:.1%} to {high:.1%})" if low == low else ""
    if aim.metric == "auc":
        return f"it puts a positive above a negative in {value:.1%} of pairs{interval}"
    if aim.metric == "partial_auc":
        return (
            f"over {aim.part_in_words} it finds {value:.1%} of the positives on "
            f"average{interval}"
        )
    interval = f" (95% interval {low:.4f} to {high:.4f})" if low == low else ""
    return f"{MEASURES[aim.metric]} {value:.4f}{interval}"


def _against(comparison: Comparison) -> str:
    """Say what the tests between the best model and others say."""
    beaten: list[str] = []
    even: list[str] = []
    for test in comparison.tests:
        if comparison.best not in (test.model, test.baseline):
            continue
        is_own = test.model == comparison.best
        other = test.baseline if is_own else test.model
        named = f"{other} ({_chance(test.p_value)})"
        group = even if test.verdict == "no difference" else beaten
        if named not in group:
            group.append(named)
    parts = []
    if beaten:
        parts.append(f"It beats {_listed(beaten)}")
    if even:
        start = "but it" if beaten else "It"
        parts.append(f"{start} differs from {_listed(even)} by no more than chance")
    return ", ".join(parts) + "." if parts else ""


def _listed(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _chance(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
