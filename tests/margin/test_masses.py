"""Masses of rows and pairs, against the matrices they stand for."""

import numpy as np
import pytest

from aucmax.hypotheses.stump_matrices import StumpGrid
from aucmax.margin.masses import masses_of
from aucmax.risks.instance_margin import InstanceMargin, TangentMargin
from aucmax.risks.pair_margin import PairMargin

LABELS = np.array([True, False, True, True, False, False, True])
WEIGHT = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0])


@pytest.mark.parametrize("risk", [InstanceMargin(1.5, 2.0), PairMargin(4.0)])
def test_maps_are_those_of_their_matrices(risk):
    rng = np.random.default_rng(0)
    masses = masses_of(risk, LABELS, WEIGHT)
    shape = masses.caps.shape
    units = np.eye(masses.caps.size).reshape(-1, *shape)
    P = np.array([masses.to_rows(unit) for unit in units]).T
    E = np.array([masses.totals(unit) for unit in units]).T
    scores, theta = rng.normal(size=7), rng.uniform(0.5, 2.0, shape)
    rates = rng.normal(size=masses.n_totals)
    assert masses.margins(scores).ravel() == pytest.approx(P.T @ scores)
    spread = np.broadcast_to(masses.spread(rates), shape)
    assert spread.ravel() == pytest.approx(E.T @ rates)
    between = (P * theta.ravel()) @ P.T
    assert masses.between_rows(theta, scores) == pytest.approx(between @ scores)
    grid = StumpGrid(rng.normal(size=(7, 3)))
    for some in (grid, grid.some(np.array([1, 4, 9, 15]))):  # more than rows, or fewer
        weights = rng.uniform(0.5, 2.0, some.n_stumps)
        both = np.column_stack([scores, rng.normal(size=7)])
        for b in (scores, both):
            solved = masses.solver(theta, some, weights)(b)
            products = some.row_products(weights)
            assert solved + between @ products @ solved == pytest.approx(b)


def test_caps_are_those_of_the_risk():
    rows = masses_of(InstanceMargin(1.5, 2.0), LABELS, WEIGHT)
    assert rows.caps == pytest.approx(WEIGHT / np.where(LABELS, 3.0, 4.0))
    pairs = masses_of(PairMargin(4.0), LABELS, None)
    assert pairs.caps == pytest.approx(np.full((4, 3), 0.125))


def test_masses_exist_only_where_there_is_a_choice():
    assert masses_of(InstanceMargin(4.0, 2.0), LABELS, None) is None
    assert masses_of(PairMargin(12.0), LABELS, None) is None
    assert masses_of(TangentMargin(10.0, 5.0), LABELS, None) is None
    many = np.arange(2000) < 1000
    assert masses_of(PairMargin(10.0), many, None) is None
    assert masses_of(InstanceMargin(10.0, 10.0), many, None) is not None
