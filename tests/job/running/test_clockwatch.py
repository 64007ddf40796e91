import pytest

from nacre.job.running.clockwatch import ClockWatch

HOUR = 3600.0


class Clock:
    """Both times by hand."""

    def __init__(self) -> None:
        self.wall, self.mono = 1e9, 50.0

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.mono

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError

    def go(self, seconds: float, jump: float = 0.0) -> None:
        self.mono += seconds
        self.wall += seconds + jump


@pytest.mark.parametrize(
    ("jump", "words"),
    [
        (3 * HOUR, "set forward, or the machine slept, by 3 h"),
        (-72 * HOUR, "set back by 3 d"),
        (-90.0, "set back by 1.5 min"),
    ],
)
def test_a_jump_is_told_once(jump: float, words: str):
    clock = Clock()
    watch = ClockWatch(clock, 0.0)
    clock.go(0.5)
    assert watch.look() == ""
    clock.go(0.5, jump)
    assert words in watch.look()
    clock.go(0.5)
    assert watch.look() == ""


def test_a_clock_that_is_corrected_little_by_little_is_nothing_to_tell():
    clock = Clock()
    watch = ClockWatch(clock, 0.0)
    for _ in range(100):
        clock.go(0.5, 10.0)
        assert watch.look() == ""


@pytest.mark.parametrize(("behind", "told"), [(48 * HOUR, True), (30.0, False), (-HOUR, False)])
def test_a_clock_that_was_set_back_between_two_runs(behind: float, told: bool):
    watch = ClockWatch(Clock(), behind)
    assert ("set back by 2 d" in watch.look()) == told
    assert watch.look() == ""
