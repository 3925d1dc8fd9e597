"""
A network for the AUC
=====================

A convolutional network learns to find the digit 8 among others, from images of which
one in thirty is an 8. One line differs between the three runs: the loss.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits

from aucmax import plots
from aucmax.torch import (
    AUROC,
    ClassBalancedSampler,
    PairLogisticLoss,
    PartialAUCLoss,
)

torch.manual_seed(0)
torch.set_num_threads(1)

# %%
# Rare positives
# --------------
# Half of the images are for training, the other half for the test. Most of the 8s are
# removed from the training half.
images, digits = load_digits(return_X_y=True)
X = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16.0
y = torch.tensor(digits == 8).float()
rng = np.random.default_rng(0)
train, test = np.array_split(rng.permutation(len(X)), 2)
eights = train[y[train].numpy() == 1]
train = np.setdiff1d(train, eights[27:])
print(f"{len(train)} images, {int(y[train].sum())} of them an 8")


# %%
# One loop, three losses
# ----------------------
# Every batch has four 8s, so each has pairs.
def trained(loss_of):
    """Return the scores of the test images by a network trained for this loss."""
    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(256, 1),
        torch.nn.Flatten(0),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    sampler = ClassBalancedSampler(y[train], batch_size=64, positive_share=1 / 16)
    for epoch in range(15):
        sampler.set_epoch(epoch)
        for rows in sampler:
            batch = train[rows]
            optimizer.zero_grad()
            loss_of(network(X[batch]), y[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        return network(X[test])


losses = {
    "cross-entropy": torch.nn.BCEWithLogitsLoss(),
    "all pairs": PairLogisticLoss(),
    "first tenth of the negatives": PartialAUCLoss(fpr_range=(0, 0.1)),
}
scores = {name: trained(loss_of) for name, loss_of in losses.items()}

# %%
# Low false positive rates
# ------------------------
# The partial AUC for false positive rates up to 0.1, with its interval. The test set is
# small: look at the intervals before you choose.
for name, found in scores.items():
    metric = AUROC(fpr_range=(0, 0.1))
    metric.update(found, y[test])
    print(f"{name}: {metric.interval()}")

figure, axes = plt.subplots(figsize=(6, 5))
curves = {name: found.numpy() for name, found in scores.items()}
plots.ROCCurveDisplay.from_predictions(
    y[test].numpy(), curves, fpr_range=(0, 0.1), confidence_level=None, ax=axes
)
axes.set(xlim=(0, 0.3), ylim=(0.5, 1))
plt.show()
