"""
The global minimum of the margin curve
======================================

Reducing pairs to instances leaves a choice: how many positives, and how many negatives,
may miss the margin, given their product. The paper's heuristic descends from the even
choice. ``formulation="global"`` proves the global minimum.
"""

# %%
# Labels by a rule, one in ten flipped.
import aucmax
from aucmax import MarginRanker
from aucmax.datasets import make_r_of_k

X, y = make_r_of_k(1000, 60, r=5, k=20, label_noise=0.1, random_state=0)

# %%
# `curve_points` computes more of the curve than the proof needs.
model = MarginRanker("features", "global", 0.25, curve_points=25).fit(X, y)
print(model.certificate_)
for nu_pos, margin in zip(*model.history_.values(), strict=True):
    print(f"heuristic: nu+ = {nu_pos:5.1f}, margin {margin:.5f}")

# %%
# No point of the curve can lie in the shaded part: every weighting found bounds the
# whole curve from below.
display = aucmax.plots.MarginCurveDisplay(model.curve_).plot()
