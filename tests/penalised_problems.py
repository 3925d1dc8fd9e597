"""Problems that the tests of several solvers share."""

import cvxpy as cp
import numpy as np

from aucmax.regularizers.elastic_net import ElasticNet, ElasticNetBall
from aucmax.regularizers.group_lasso import GroupLasso, GroupLassoBall
from aucmax.regularizers.l1 import L1, L1Ball
from aucmax.regularizers.l2 import L2, L2Ball
from aucmax.risks import PairHinge, PartialHinge
from aucmax.solvers.risk_objective import LinearObjective
from reference_penalised import GROUPS, L1_RATIO, RADII, minimum, pair_risk

REGULARIZERS = {
    "l2": L2(),
    "l1": L1(),
    "elastic net": ElasticNet(L1_RATIO),
    "group lasso": GroupLasso(GROUPS),
    "l2 ball": L2Ball(RADII["l2 ball"]),
    "l1 ball": L1Ball(RADII["l1 ball"]),
    "elastic net ball": ElasticNetBall(RADII["elastic net ball"], L1_RATIO),
    "group lasso ball": GroupLassoBall(RADII["group lasso ball"], GROUPS),
}
RISKS = {"pair": PairHinge(), "partial": PartialHinge((0.0, 0.2))}


def data(seed=0, n_rows=50, n_features=6, scale=1.0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_features))
    noisy = X[:, 0] + 0.5 * X[:, 1] + 0.7 * generator.normal(size=n_rows)
    labels = np.zeros(n_rows, dtype=bool)
    labels[np.argsort(noisy)[-2 * n_rows // 5 :]] = True
    return scale * X, labels


def problem(risk="pair", C=10.0, weight=None, **options):
    X, labels = data(**options)
    return LinearObjective(X, RISKS[risk].bind(labels, weight), C)


def optimum(objective, name, risk):
    """Solve the same problem with one variable per pair."""
    w = cp.Variable(objective.n_parameters)
    share = 0.2 if risk == "partial" else 1.0
    model = pair_risk(objective.X, objective.risk.labels, w, share)
    return minimum(name, w, objective.C * model)
