from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.throttle import Bucket, Throttle


@given(st.integers(100, 10_000), st.lists(st.integers(1, 5000), min_size=1, max_size=50))
def test_the_rate_is_kept_on_average(rate: int, sizes: list[int]) -> None:
    bucket, now = Bucket(), 1000.0
    for size in sizes:
        now += bucket.take(size, rate, now)
    passed = now - 1000.0
    assert sum(sizes) <= rate * (passed + 0.25) + 1e-6
    assert passed <= sum(sizes) / rate


def test_what_rested_may_burst_a_little() -> None:
    bucket = Bucket()
    assert bucket.take(250, 1000, 50.0) == 0.0
    assert 0.099 < bucket.take(100, 1000, 50.0) < 0.101
    assert 0.099 < bucket.wait(50.0) < 0.101
    assert bucket.wait(51.0) == 0.0


def test_hosts_wait_for_themselves_and_all_for_the_whole() -> None:
    throttle = Throttle()
    assert throttle.meter("a", 0, 0.0) is None
    slow, quick = throttle.meter("a", 1000, 9.0), throttle.meter("b", 10_000, 9.0)
    assert slow is not None
    assert quick is not None
    assert slow(1250, 9.0) == 1.0
    assert quick(1250, 9.0) == 0.0
    again = throttle.meter("a", 1000, 9.0)
    assert again is not None
    assert again(1000, 9.0) == 2.0
    assert throttle.wait(9.0) == 0.0
    throttle.total = 100
    assert quick(125, 9.0) == 1.0
    assert throttle.wait(9.0) == 1.0
    throttle.total = 0
    assert throttle.wait(9.0) == 0.0


def test_hosts_at_rest_are_forgotten() -> None:
    throttle = Throttle()
    for number in range(10_050):
        throttle.meter(f"h{number}", 10, float(number))
    assert len(throttle._hosts) < 100
