import polars as pl
from polars.testing import assert_frame_equal

from aucmax.datasets import load_demo


def test_demo_is_the_same_at_every_call():
    assert_frame_equal(load_demo(), load_demo())


def test_demo_has_rare_positives_texts_dates_and_gaps():
    frame = load_demo()
    assert frame.shape == (4000, 13)
    assert frame["failed"].sum() == 200
    assert frame["failed"].dtype == pl.Int64
    kinds = {name for name, dtype in frame.schema.items() if dtype == pl.String}
    assert kinds == {"site", "model", "shift", "last_service"}
    gaps = frame.drop("failed").null_count().row(0)
    assert all(100 < count < 220 for count in gaps)
    assert frame["last_service"].drop_nulls().str.to_date("%Y-%m-%d").null_count() == 0
    assert 30 < frame["model"].n_unique() <= 41


def test_demo_can_be_learned():
    frame = load_demo()
    means = frame.group_by("failed").agg(pl.col("vibration").mean()).sort("failed")
    assert means["vibration"][1] > 1.3 * means["vibration"][0]


def test_demo_survives_a_file(tmp_path):
    from aucmax.datasets import load_table

    frame = load_demo()
    frame.write_csv(tmp_path / "machines.csv")
    back = load_table(tmp_path / "machines.csv")
    assert_frame_equal(back, frame, check_dtypes=False)
