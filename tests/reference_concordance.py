"""Concordance of censored times by its definition, literal and slow; numpy alone."""

import numpy as np


def comparable_pairs(event, time, strata):
    """Yield the rows of each comparable pair, the earlier one first."""
    for i in range(len(time)):
        for j in range(len(time)):
            is_later = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if event[i] and is_later and i != j and strata[i] == strata[j]:
                yield i, j


def not_yet_censored(event, time, weight, now):
    """Kaplan-Meier estimate just before a time; events leave before censored rows."""
    share = 1.0
    for t in np.unique(time[time < now]):
        at_risk = weight[time >= t].sum() - weight[(time == t) & event].sum()
        censored = weight[(time == t) & ~event].sum()
        if censored > 0.0:
            share *= 1.0 - censored / at_risk
    return share


def concordance(event, time, scores, weight, strata, power=0, horizon=np.inf):
    """Harrell's C (power 0) or Uno's C (power 2)."""
    shares = [not_yet_censored(event, time, weight, t) for t in time]
    wins = total = 0.0
    for i, j in comparable_pairs(event, time, strata):
        if time[i] < horizon:
            pair = weight[i] * weight[j] / shares[i] ** power
            total += pair
            wins += pair * ((scores[i] > scores[j]) + (scores[i] == scores[j])) / 2.0
            wins += pair * (scores[i] > scores[j]) / 2.0
    return wins / total


def pair_losses(event, time, scores, weight, strata, loss, width):
    """Mean loss over comparable pairs, its gradient, and the sum of curvatures."""
    scores = np.asarray(scores) / width
    value = total = 0.0
    gradient, curvature = np.zeros(scores.size), np.zeros(scores.size)
    for i, j in comparable_pairs(event, time, strata):
        gap, pair = scores[i] - scores[j], weight[i] * weight[j]
        z = np.exp(-abs(gap))
        share, curve = (z if gap > 0.0 else 1.0) / (1.0 + z), z / (1.0 + z) ** 2
        height, slope, bend = {
            "logistic": (np.logaddexp(0.0, -gap), share, curve),
            "sigmoid": (share, curve, curve),
            "hinge": (max(0.0, 1.0 - gap), scores[j] > scores[i] - 1.0, 0.0),
        }[loss]
        total += pair
        value += pair * height
        gradient[i] -= pair * slope
        gradient[j] += pair * slope
        curvature[i] += pair * bend
        curvature[j] += pair * bend
    return value / total, gradient / total / width, curvature / total / width**2


def cox_likelihood(event, time, scores, weight, strata):
    """Negative log partial likelihood (Breslow) per event, gradient and curvature."""
    value, total = 0.0, weight[event].sum()
    gradient, curvature = np.zeros(len(time)), np.zeros(len(time))
    for i in np.flatnonzero(event & (weight > 0.0)):
        at_risk = (time >= time[i]) & (strata == strata[i]) & (weight > 0.0)
        top = scores[at_risk].max()
        parts = np.zeros(len(time))
        parts[at_risk] = weight[at_risk] * np.exp(scores[at_risk] - top)
        value += weight[i] * (top - scores[i] + np.log(parts.sum()))
        share = parts / parts.sum()
        gradient += weight[i] * share
        gradient[i] -= weight[i]
        curvature += weight[i] * share * (1.0 - share)
    return value / total, gradient / total, curvature / total


def without_event(event, time, weight, now):
    """Kaplan-Meier estimate of no event up to a time; censored rows leave last."""
    share = 1.0
    for t in np.unique(time[(time <= now) & event]):
        at_risk = weight[time >= t].sum()
        share *= 1.0 - weight[(time == t) & event].sum() / at_risk
    return share


def dynamic_auc(event, time, scores, weight, now):
    """AUC of events up to a time against rows that are observed for longer."""
    wins = total = 0.0
    for i in np.flatnonzero(event & (time <= now)):
        event_weight = weight[i] / not_yet_censored(event, time, weight, time[i])
        for j in np.flatnonzero(time > now):
            total += event_weight * weight[j]
            tied = 0.5 * (scores[i] == scores[j])
            wins += event_weight * weight[j] * ((scores[i] > scores[j]) + tied)
    return wins / total


def mean_dynamic_auc(event, time, scores, weight, times):
    """Mean of the AUCs at rising times, by the share of events between them."""
    shares = [1.0] + [without_event(event, time, weight, t) for t in times]
    areas = [dynamic_auc(event, time, scores, weight, t) for t in times]
    return -np.diff(shares) @ areas / (1.0 - shares[-1])
