import pytest

from aucmax.model_selection.clock import Clock
from aucmax.model_selection.out_of_fold import TimeUpError


def test_time_is_up_when_what_is_reserved_is_no_longer_left():
    clock = Clock(100.0)
    assert 0.0 <= clock.seconds < 10.0
    clock.check(reserved=80.0)
    with pytest.raises(TimeUpError):
        clock.check(reserved=101.0)


def test_without_a_limit_time_is_never_up():
    Clock(None).check(reserved=1e9)
