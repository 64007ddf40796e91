import time

from nacre.machine.clock import MovedClock, SystemClock, machine_clock


def test_a_moved_clock_goes_on_from_its_start():
    start = 1_700_000_000.0
    clock, before = MovedClock(start), time.monotonic()
    first, second = clock.now(), clock.now()
    assert start <= first <= second < start + 600
    assert before <= clock.monotonic() <= time.monotonic()


def test_the_machine_keeps_its_time():
    moved = machine_clock(MovedClock(1_000_000_000.0))
    assert abs(moved.now() - time.time()) < 600
    own = SystemClock()
    assert machine_clock(own) is own
