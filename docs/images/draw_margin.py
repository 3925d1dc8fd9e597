"""Draw the picture of the margin page again: run this file."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from aucmax import MarginRanker

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
EPSILON = 0.1

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
is_malignant = y == 0
model = MarginRanker("features", "pairs", EPSILON).fit(X, is_malignant)
scores = model.decision_function(X) + model.threshold_
positive, negative = scores[is_malignant], scores[~is_malignant]
margins = np.sort((positive[:, None] - negative[None, :]).ravel()) / 2.0
certificate = model.certificate_

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
bins = np.linspace(scores.min(), scores.max(), 60)
left.hist(negative, bins, color=BLUE, alpha=0.75, label="negatives")
left.hist(positive, bins, color=ORANGE, alpha=0.75, label="positives")
left.set(xlabel="score of a row", ylabel="rows", title="Scores: one for each row")
left.legend(frameon=False)

bins = np.linspace(margins[0], margins[-1], 80)
counts, edges, bars = right.hist(margins, bins, color="#c9c9c9")
for bar, edge in zip(bars, edges[:-1], strict=True):
    if edge < certificate.rho_hat:
        bar.set_facecolor(ORANGE)
top = counts.max()
right.axvline(certificate.gamma_star, color=ORANGE, linewidth=1.5)
right.axvline(certificate.rho_hat, color=GREY, linewidth=1.5, linestyle="--")
right.annotate(
    f"$\\gamma^*$ = {certificate.gamma_star:.3f}\nmean of the worst {EPSILON:.0%}",
    (certificate.gamma_star, 0.62 * top),
    ha="right",
    xytext=(-6, 0),
    textcoords="offset points",
    color=ORANGE,
)
right.annotate(
    f"$\\rho$ = {certificate.rho_hat:.3f}:\n{1 - EPSILON:.0%} of the pairs lie above",
    (certificate.rho_hat, 1.1 * top),
    xytext=(6, 0),
    textcoords="offset points",
    color=GREY,
)
right.set(
    xlabel="margin of a pair, half the difference of its scores",
    ylabel="pairs",
    title=f"Margins: one for each of {margins.size:,} pairs",
)
right.set(ylim=(0, 1.35 * top), xlim=(-0.75, margins[-1]))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).parent / "margin.png", dpi=150)
