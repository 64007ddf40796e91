"""A supervisor that notes what it is asked for."""

from nacre.core.states import ExitStatus


class NotingSupervisor:
    def __init__(self, elapsed: float = 0.0) -> None:
        self.elapsed = elapsed
        self.asked: list[str] = []

    def look(self) -> None:
        self.asked.append("look")

    def begin_work(self) -> None:
        self.asked.append("work")

    def hold(self, reason: str) -> None:
        self.asked.append(f"hold: {reason}")

    def stop(self, why: ExitStatus) -> None:
        self.asked.append(f"stop: {why}")
