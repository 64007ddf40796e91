from nacre.job.running.watchdog import Watchdog


class Logs:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def job(self, message: str) -> None:
        self.lines.append(message)


class Engine:
    doing = "after extract began with http://a.test/"


class Clock:
    time = 1000.0

    def monotonic(self) -> float:
        return self.time


def test_only_gaps_over_the_limit_are_told_with_what_began_last():
    logs = Logs()
    dog = Watchdog(Engine(), logs, Clock())  # type: ignore[arg-type]
    dog.beat(0.002)
    dog.beat(0.099)
    dog.beat(0.25)
    assert dog.gaps == 1
    assert dog.longest == 0.25
    assert logs.lines == [
        "the event loop stood still for 250 ms: after extract began with http://a.test/"
    ]


def test_of_many_gaps_the_first_are_told_and_the_others_summed_up():
    logs, clock = Logs(), Clock()
    dog = Watchdog(Engine(), logs, clock)  # type: ignore[arg-type]
    for number in range(1510):
        dog.beat(0.2 + number / 10_000)
    assert len(logs.lines) == 10
    clock.time += 600.0
    dog.beat(0.01)
    assert logs.lines[10:] == [
        "the event loop stood still 1,500 times more within 10 minutes, for 351 ms at most"
    ]
    dog.beat(0.15)
    assert len(logs.lines) == 12
    assert dog.gaps == 1511
