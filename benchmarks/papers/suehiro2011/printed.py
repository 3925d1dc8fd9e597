"""Figures of the paper, where our copy, a scan, is legible.

A figure is copied only where it is legible in full; None is a cell that is not. Table
numbers and column heads are those of the paper.

References
----------
.. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC maximization
   to 1-norm soft margin optimization. ALT 2011, tables 1 to 5.
"""

from typing import NamedTuple

EPSILONS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)


class Printed(NamedTuple):
    """The AUCs of one row; RankBoost after the fewest, more, and the most rounds."""

    rankboost: tuple[float | None, float | None, float | None]
    softrankboost: float | None
    lp_pair: float | None
    their_method: float | None


#: (r, noise in per cent); rounds 500, 5000, 10000
TABLE_1 = {
    (1, 5): Printed((0.9313, None, None), None, 0.9745, 0.9818),
    (8, 5): Printed((0.9251, None, None), None, 0.9564, 0.9596),
    (15, 5): Printed((0.9264, 0.9262, 0.9262), 0.9401, 0.952, 0.9545),
    (1, 10): Printed((0.8777, 0.8979, 0.8979), 0.7391, 0.9125, 0.994),
    (8, 10): Printed((0.8857, 0.8853, 0.8853), 0.9043, 0.9136, 0.9173),
    (15, 10): Printed((0.8727, 0.8727, 0.8727), 0.869, 0.9043, 0.9007),
    (1, 15): Printed((0.8102, None, None), 0.7442, 0.8322, 1.0),
    (8, 15): Printed((0.8371, 0.8372, 0.8372), 0.8793, 0.8608, 0.8643),
    (15, 15): Printed((0.8377, 0.8337, 0.8337), 0.856, 0.857, 0.8525),
}
#: (positives of ten, r); rounds 500, 5000, 10000
TABLE_2 = {
    (7, 1): Printed((0.9177, 0.9182, 0.9179), 0.7661, 0.9472, 0.9624),
    (7, 8): Printed((0.9018, None, None), None, 0.9292, None),
    (7, 15): Printed((0.8959, 0.8956, 0.8956), 0.9353, 0.9294, 0.9271),
    (9, 1): Printed((0.7695, 0.7742, 0.7738), 0.7735, 0.7924, 0.9431),
    (9, 8): Printed((0.7736, 0.7736, 0.7736), 0.7718, 0.7818, 0.7648),
    (9, 15): Printed((0.7247, 0.7247, 0.7247), 0.8266, 0.7426, 0.7320),
}
#: rounds 1000, 5000, 10000 by its head, "the same as in Section 5.1" by its text
TABLE_3 = {
    "hypothyroid": Printed((0.9488, 0.9468, 0.9468), 0.96, 0.9511, 1.0),
    "ionosphere": Printed((0.9327, None, None), None, 0.9768, 0.9865),
    "kr-vs-kp": Printed((0.8712, None, None), None, 1.0, 0.9276),
    "sick-euthyroid": Printed((None, None, None), None, 1.0, 1.0),
    "spambase": Printed((0.8721, 0.7735, 0.735), 0.9359, 1.0, 1.0),
}
#: rounds 1000, 5000, 10000; there is no column for LP-Pair
TABLE_4 = {
    "acq": Printed((0.9296, None, None), None, None, 0.9388),
    "crude": Printed((0.9133, 0.9188, 0.9203), 0.9944, None, 0.9329),
    "earn": Printed((0.9567, 0.9568, 0.9566), 0.9952, None, 0.9652),
    "money-fx": Printed((0.9375, None, None), None, None, 0.9479),
    "trade": Printed((0.9290, 0.9301, 0.9291), 0.9281, None, 0.9450),
}
#: rows: seconds for LP-Pair and for their method
TABLE_5 = {
    100: (0.102, 0.11),
    500: (24.51, 0.514),
    1000: (256.78, 0.86),
    1500: (1353.0, 1.76),
}
