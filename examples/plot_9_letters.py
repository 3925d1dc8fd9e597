"""
Letters in noise: pixels as nodes of a graph
============================================

Which pixels of a noisy image are ink? One in seven is flipped, so a pixel alone carries
little information. :class:`aucmax.GraphRanker` learns from images of one letter how
much neighbours influence each other, and ranks the pixels of other words.
"""

# %%
# Ten images of the letter A for training, and ten of a word of three letters for the
# test. Each pixel is a node with one feature, its value; edges connect adjacent pixels.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata

from aucmax import AUCSVC, GraphRanker
from aucmax.datasets import make_letter_images
from aucmax.graphs import Graph, grid_edges
from aucmax.metrics import binned_auc_score, roc_auc_score
from aucmax.plots import ROCCurveDisplay

images, masks = make_letter_images("A", 10, random_state=0)
new_images, new_masks = make_letter_images("AUC", 10, random_state=1)


def to_graphs(images):
    """Return a graph for each image."""
    edges = grid_edges(*images[0].shape)
    return [Graph(image.reshape(-1, 1), edges) for image in images]


ranker = GraphRanker().fit(to_graphs(images), [mask.ravel() for mask in masks])
print(f"weight of a pixel's own value {ranker.coef_[0, 0]:.2f},", end=" ")
print(f"of each pair of neighbours in one set {ranker.edge_coef_[0, 0]:.2f}")
print(f"{ranker.n_rounds_} rounds; the last is within", end=" ")
print(f"{ranker.dual_gap_ / ranker.objective_:.1e} of its optimum")

# %%
# The usual alternative: the values of neighbours as columns, here those of a square of
# nine pixels. And both together.


def squares(images):
    """Return the values of each pixel and its eight neighbours, one row per pixel."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    _, height, width = images.shape
    shifted = [
        padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)
    ]
    return np.stack(shifted, axis=-1).reshape(len(images), -1, 9)


def to_wide_graphs(images):
    """Return the same graphs with nine columns."""
    edges = grid_edges(*images[0].shape)
    return [Graph(columns, edges) for columns in squares(images)]


qid = np.repeat(range(10), images[0].size)
filtered = AUCSVC(C=10).fit(squares(images).reshape(-1, 9), masks.ravel(), qid=qid)
both = GraphRanker().fit(to_wide_graphs(images), [mask.ravel() for mask in masks])

scores = {
    "own value": new_images.reshape(10, -1),
    "nine columns": filtered.decision_function(squares(new_images).reshape(-1, 9)),
    "graph": np.concatenate(ranker.decision_function(to_graphs(new_images))),
    "graph, nine columns": np.concatenate(
        both.decision_function(to_wide_graphs(new_images))
    ),
}
scores = {name: ranking.ravel() for name, ranking in scores.items()}
y, picture = new_masks.ravel(), np.repeat(range(10), new_images[0].size)
for name, ranking in scores.items():
    area = roc_auc_score(y, ranking, qid=picture)
    binned = binned_auc_score(y, ranking, bins=10, qid=picture)
    print(f"{name:20} AUC {area:.3f}, in ten bins {binned:.3f}")

# %%
# The first image, and its pixels by rank (darker is higher). Pixel values alone have
# two ranks. With the graph, isolated specks disappear.
panels = {
    "letters": new_masks[0],
    "with noise": new_images[0],
    "ranked by own value": scores["own value"],
    "ranked by nine columns": scores["nine columns"],
    "ranked by the graph": scores["graph"],
    "graph, nine columns": scores["graph, nine columns"],
}
_, axes = plt.subplots(3, 2, figsize=(8.5, 6), layout="constrained")
for ax, (name, values) in zip(axes.flat, panels.items(), strict=True):
    first = np.ravel(values)[: new_images[0].size]
    title = name
    if name in ("letters", "with noise"):
        shades = first
    else:
        shades = rankdata(first)
        title += f": AUC {roc_auc_score(new_masks[0].ravel(), first):.3f}"
    ax.imshow(shades.reshape(new_images[0].shape), cmap="Greys")
    ax.set_title(title, fontsize=10)
    ax.set(xticks=[], yticks=[])

# %%
# A graph with one column is far better than the pixel value alone, but not better than
# nine columns; it has two weights instead of nine. On top of the nine columns it adds
# no clear gain.
_, ax = plt.subplots(figsize=(4.8, 4.8), layout="constrained")
_ = ROCCurveDisplay.from_predictions(y, scores, ax=ax)
