"""Draw the picture of the page on graphs again: run this file."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aucmax.graphs import rank

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
OWN = np.array([0.2, 0.9, -0.3, 0.4, 2.6, 1.1, 2.9, 2.1, 0.6, -0.2, 0.9, 0.3])
EDGES = np.array([(i, i + 1) for i in range(OWN.size - 1)])
PULL = 0.9

nodes = np.arange(OWN.size)
pair_weights = np.full(len(EDGES), PULL)
ranking = rank(OWN, EDGES, pair_weights)
with_edges = OWN + 0.5 * np.bincount(EDGES.ravel(), np.repeat(pair_weights, 2))

figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.5), layout="constrained")
left, middle, right = axes

left.plot(nodes, OWN, color="#c9c9c9", linewidth=1.5, zorder=0)
left.plot(nodes, OWN, "o", color="black")
left.annotate("edges join\nneighbours", (9.1, 0.1), xytext=(8.2, 2.1), color=GREY)
left.set(title="Scores of the nodes alone", ylabel="score")

middle.plot(nodes, with_edges, "o", color="#b0b0b0", markersize=4)
for a, b in zip(ranking.blocks[:-1], ranking.blocks[1:], strict=True):
    block = np.sort(ranking.order[a:b])
    level = ranking.scores[block]
    middle.plot(block, level, "o-", color=BLUE, linewidth=2)
middle.annotate(
    "a block: nodes\nof one score",
    (7.2, 2.9),
    xytext=(7.6, 3.0),
    color=BLUE,
    va="center",
)
middle.annotate(
    "grey: own score and\nhalf of its edges", (3.1, 0.35), color=GREY, va="center"
)
middle.set(title="Neighbours pair_weights: smoothed scores", ylim=(0, 4.1))

sizes = np.arange(1, OWN.size + 1)
members = np.empty((OWN.size, OWN.size))
for a, b in zip(ranking.blocks[:-1], ranking.blocks[1:], strict=True):
    share = np.clip((sizes - a) / (b - a), 0, 1)
    members[:, ranking.order[a:b]] = share[:, None]
image = right.imshow(members, cmap="Blues", vmin=0, vmax=1.2, aspect="auto")
right.set(title="The best set of every size", ylabel="size of the set")
right.set_yticks([0, 3, 7, 11], [1, 4, 8, 12])
for ax in axes:
    ax.set(xlabel="node", xticks=[0, 4, 8, 11])
    ax.set_xticklabels([1, 5, 9, 12])
for ax in (left, middle):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).parent / "graphs.png", dpi=150)
