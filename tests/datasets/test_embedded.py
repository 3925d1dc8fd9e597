import polars as pl
from polars.testing import assert_frame_equal

from aucmax.datasets import load_demo


def test_demo_is_the_same_at_every_call():
    assert_frame_equal(load_demo(), load_demo())


def test_demo_has_rare_positives_categories_and_missing_values():
    frame = load_demo()
    assert frame.shape == (4000, 13)
    assert frame["failed"].sum() == 280
    assert frame["failed"].dtype == pl.Int64
    strings = {name for name, dtype in frame.schema.items() if dtype == pl.String}
    assert strings == {"site", "oil", "shift"}
    missing = frame.drop("failed").null_count().row(0)
    assert all(100 < count < 220 for count in missing)


def test_a_column_of_the_demo_acts_through_another():
    def risk(*, is_worn: bool, shakes: bool) -> float:
        columns = pl.col("running_hours", "vibration").rank() / pl.len()
        worn, shaking = load_demo().select(columns > 0.5)
        rows = (worn == is_worn) & (shaking == shakes)
        return float(load_demo().filter(rows)["failed"].mean())

    assert risk(is_worn=True, shakes=True) > 4 * risk(is_worn=True, shakes=False)
    assert risk(is_worn=False, shakes=True) < 1.5 * risk(is_worn=False, shakes=False)
