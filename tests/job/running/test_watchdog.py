from nacre.job.running.watchdog import Watchdog


class Logs:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def job(self, message: str) -> None:
        self.lines.append(message)


class Engine:
    doing = "after extract began with http://a.test/"


def test_only_gaps_over_the_limit_are_told_with_what_began_last():
    logs = Logs()
    dog = Watchdog(Engine(), logs, None)  # type: ignore[arg-type]
    dog.beat(0.002)
    dog.beat(0.099)
    dog.beat(0.25)
    assert dog.gaps == 1
    assert dog.longest == 0.25
    assert logs.lines == [
        "the event loop stood still for 250 ms: after extract began with http://a.test/"
    ]
