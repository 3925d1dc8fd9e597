"""
Near-duplicate documents: edges between similar rows
====================================================

A search finds the same story in several sources. The columns of each document are
noisy, but near duplicates are relevant together. Edges between similar
documents let :class:`aucmax.GraphRanker` rank them together. How does that compare with
:class:`aucmax.AUCSVC` and :class:`aucmax.LambdaMART`, which see one document at a time?
"""

# %%
# Simulated queries with a dozen stories each, some with one source, some with ten. The
# relevance of a story depends on three qualities, two of them as a product. Each
# document has noisy copies of these; six more columns describe its content.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import kneighbors_graph

from aucmax import AUCSVC, GraphRanker, LambdaMART
from aucmax.graphs import Graph
from aucmax.metrics import roc_auc_score


def make_query(rng):
    """Return the documents of a query: columns, relevance, and the story of each."""
    quality, content = rng.normal(size=(12, 3)), rng.normal(size=(12, 6))
    relevance = 0.7 * quality[:, 0] * quality[:, 1] + quality[:, 2]
    is_relevant = relevance + 0.5 * rng.normal(size=12) > 0.8
    story = np.repeat(range(12), rng.geometric(1 / 3, size=12))
    X = np.hstack([quality[story], content[story]])
    X[:, :3] += rng.normal(size=(story.size, 3))
    X[:, 3:] += 0.15 * rng.normal(size=(story.size, 6))
    return X, is_relevant[story], story


rng = np.random.default_rng(0)
queries = [make_query(rng) for _ in range(400)]
queries = [query for query in queries if 0 < query[1].mean() < 1]
n_documents = sum(len(query[1]) for query in queries)
print(f"{len(queries)} queries, {n_documents / len(queries):.0f} documents each")

# %%
# One graph per query: edges connect each document to the three with the nearest
# content, with a weight that decreases with the distance. Stories with one source have
# edges with weights near 0.
#
# The sum of the weights at a document becomes a column. An edge rewards two documents
# that rank high together, so stories with many sources would gain by their number; with
# that column the model can correct for it.


def to_graph(X):
    """Return the graph of a query."""
    links = kneighbors_graph(X[:, 3:], 3, mode="distance")
    links.data = np.exp(-(links.data**2))
    links = links.maximum(links.T)
    return Graph.from_adjacency(X, links).with_edge_sums()


def with_means(graph):
    """Return the columns, and the means of the qualities over neighbours."""
    X, (first, second) = graph.node_features, graph.edges.T
    weight, means = graph.edge_features, np.zeros((graph.n_nodes, 3))
    for one, other in ((first, second), (second, first)):
        np.add.at(means, one, weight * X[other, :3])
    return np.hstack([X, means / X[:, -1:]])


graphs, labels = [to_graph(X) for X, _, _ in queries], [y for _, y, _ in queries]
PARTS = {"choose": slice(150, 200), "test": slice(200, None)}  # the first 150 train

# %%
# Linear models and trees use the same columns, with and without the means of the
# qualities over the neighbours; graphs with and without the column of sums. The
# settings are chosen on fifty queries.
bare = [
    Graph(one.node_features[:, :-1], one.edges, one.edge_features) for one in graphs
]
plain, wider = [graph.node_features for graph in graphs], list(map(with_means, graphs))
weights = (100, 10, 1)  # of the risk


def trees(penalty):
    """Return regularized trees."""
    return LambdaMART(
        "logistic",
        n_estimators=75,
        learning_rate=0.1,
        num_leaves=8,
        reg_lambda=penalty,
    )


def fit_rows(model, tables, train=range(150)):
    """Fit a model of single documents, and score all queries."""
    rows = np.vstack([tables[number] for number in train])
    y = np.concatenate([labels[number] for number in train])
    qid = np.repeat(train, [len(tables[number]) for number in train])
    model.fit(rows, y, qid=qid)
    ends = np.cumsum([len(table) for table in tables])[:-1]
    return np.split(model.decision_function(np.vstack(tables)), ends)


def fit_graphs(model, graphs):
    """Fit a model of graphs, and score all queries."""
    model.fit(graphs[:150], labels[:150])
    return model.decision_function(graphs)


def areas(scores, part):
    """Return the AUC of each query."""
    pairs = zip(labels[PARTS[part]], scores[PARTS[part]], strict=True)
    return np.array([roc_auc_score(*pair) for pair in pairs])


fits = {
    "AUCSVC": [fit_rows(AUCSVC(C), plain) for C in weights],
    "LambdaMART": [fit_rows(trees(price), plain) for price in (1, 10, 100)],
    "AUCSVC, means": [fit_rows(AUCSVC(C), wider) for C in weights],
    "LambdaMART, means": [fit_rows(trees(price), wider) for price in (1, 10, 100)],
    "GraphRanker, no sums": [fit_graphs(GraphRanker(C), bare) for C in weights],
    "GraphRanker": [fit_graphs(GraphRanker(C), graphs) for C in weights],
}
scores = {
    name: max(tried, key=lambda one: areas(one, "choose").mean())
    for name, tried in fits.items()
}

# %%
# The graph can also use the scores of trees as the column of the documents. The
# training queries are scored out of fold, because trees overfit their training rows.
fold = np.arange(150) % 5
heights = fit_rows(trees(1), wider)  # for new queries
for k in range(5):
    apart = fit_rows(trees(1), wider, np.flatnonzero(fold != k))
    for number in np.flatnonzero(fold == k):
        heights[number] = apart[number]
over_trees = [
    Graph(
        np.column_stack([height, graph.node_features[:, -1]]),
        graph.edges,
        graph.edge_features,
    )
    for height, graph in zip(heights, graphs, strict=True)
]
tried = [fit_graphs(GraphRanker(C), over_trees) for C in weights]
name = "GraphRanker over trees"
scores[name] = max(tried, key=lambda one: areas(one, "choose").mean())

mean_areas = {name: areas(one, "test") for name, one in scores.items()}
for name, area in mean_areas.items():
    gain = area - mean_areas["AUCSVC"]
    error = 1.96 * gain.std() / np.sqrt(gain.size)
    print(f"{name:22} AUC {area.mean():.3f}, gain {gain.mean():+.3f} +- {error:.3f}")

# %%
# With the column of sums, edges gain more than the product that only trees can
# represent. Means over neighbours as columns help every model; a graph on top of the
# trees adds a little. Near duplicates are relevant together here by construction.
#
# The query with the median gain, document by document: the scores of one story, in a
# column, move together.
BLUE, ORANGE = "#0072b2", "#d55e00"
by_gain = np.argsort(mean_areas["GraphRanker"] - mean_areas["AUCSVC"])
number = 200 + by_gain[by_gain.size // 2]
_, y, story = queries[number]
_, axes = plt.subplots(
    1, 3, figsize=(9, 3.6), layout="constrained", width_ratios=(4, 3, 3)
)
for place, (name, area) in enumerate(reversed(mean_areas.items())):
    error = 1.96 * area.std() / np.sqrt(area.size)
    color = BLUE if name.startswith("Graph") else "#767676"
    axes[0].errorbar(area.mean(), place, xerr=error, fmt="o", color=color)
axes[0].set_yticks(range(len(mean_areas)), list(mean_areas)[::-1])
axes[0].set(xlabel="mean AUC of the test queries")
for ax, name in zip(axes[1:], ("AUCSVC", "GraphRanker"), strict=True):
    for is_relevant, color in ((False, "#b0b0b0"), (True, ORANGE)):
        chosen = y == is_relevant
        ax.plot(story[chosen], scores[name][number][chosen], "o", color=color)
    area = roc_auc_score(y, scores[name][number])
    ax.set(title=f"{name}: AUC {area:.2f}", xlabel="story", xticks=[], yticks=[])
axes[1].set(ylabel="score; relevant documents in orange")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
