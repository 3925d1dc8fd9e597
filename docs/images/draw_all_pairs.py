"""Draw the picture of the page on LambdaMART again: run this file."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aucmax.risks._pairs.logistic_table import coefficients

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
NEGATIVE = np.array([0.9, 1.6, 1.9, 3.4, 4.3])  # distances from the top of the list
POSITIVE = np.array([0.3, 1.2, 2.5, 2.8, 4.9])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), layout="constrained")

below = np.linspace(0.0, 5.4, 2000)
for power, color in ((1, BLUE), (2, ORANGE)):
    gaps = below[:, None] - NEGATIVE
    n_above = np.where(gaps >= 0.0, np.exp(-power * np.abs(gaps)), 0.0).sum(axis=1)
    left.plot(below, n_above, color=color, linewidth=1.6)
    at = POSITIVE[:, None] - NEGATIVE
    read = np.where(at >= 0.0, np.exp(-power * np.abs(at)), 0.0).sum(axis=1)
    left.plot(POSITIVE, read, "o", color=color, markersize=5)
left.plot(POSITIVE, np.full(5, -0.18), "k|", markersize=11, markeredgewidth=2)
left.plot(NEGATIVE, np.full(5, -0.18), "|", color="#b0b0b0", markersize=11, mew=2)
left.annotate("$m_1$", (3.0, 0.78), color=BLUE, fontsize=12)
left.annotate("$m_2$", (2.25, 0.33), color=ORANGE, fontsize=12)
left.annotate("a negative\nadds 1", (1.02, 1.95), color=GREY, va="center", ha="center")
left.annotate(
    "a positive reads off what it\nneeds of all negatives above it",
    (2.53, 1.18),
    xytext=(2.25, 2.05),
    color=GREY,
    va="center",
    arrowprops={"arrowstyle": "-", "color": GREY},
)
left.set(
    xlabel="rows by falling score: positives (black), negatives (grey)",
    ylabel="sums that are carried along",
    title="One sweep meets all pairs",
    xticks=[],
    yticks=[0, 0.5, 1, 1.5, 2],
    ylim=(-0.35, 2.35),
)

distance = np.linspace(0.0, 6.0, 2000)
z = np.exp(-distance)
exact = 1.0 / (1.0 + z), 1.0 / (1.0 + z) ** 2, np.log1p(z) / z
for accuracy, n_powers, color in ((2e-2, 4, GREY), (2e-5, 8, ORANGE), (1e-7, 12, BLUE)):
    table = coefficients(accuracy)
    assert table.shape[1] == n_powers
    pairs = zip(table, exact, strict=True)
    errors = [abs(np.polynomial.polynomial.polyval(z, a) / b - 1) for a, b in pairs]
    right.semilogy(distance, np.max(errors, axis=0), color=color, linewidth=1.4)
    right.annotate(f"K = {n_powers}", (5.2, np.max(errors) * 1.3), color=color)
right.set(
    xlim=(0, 6),
    ylim=(1e-10, 0.1),
    xlabel="distance of two scores",
    ylabel="relative error",
    title="Loss and derivatives of a pair by K powers",
)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).parent / "all-pairs.png", dpi=150)
