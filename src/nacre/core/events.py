"""Events of a job, for listeners: the terminal, the Python API, the log of the job."""

from collections.abc import Callable
from dataclasses import dataclass

from nacre.core.processor import Visit
from nacre.core.states import ExitStatus, JobState


@dataclass(frozen=True)
class StateChanged:
    """The job went from one state to another; `why` is for people."""

    old: JobState
    new: JobState
    why: str = ""


@dataclass(frozen=True)
class Captured:
    """A visit is final and its records are in the open commit group."""

    visit: Visit


@dataclass(frozen=True)
class Finished:
    """The run ended."""

    exit: ExitStatus


@dataclass(frozen=True)
class Alert:
    """A message for the operator; also in alerts.log."""

    message: str


@dataclass(frozen=True)
class ActionTaken:
    """A file of the action directory was taken in; `message` has the counts."""

    name: str
    message: str


@dataclass(frozen=True)
class AlertLogged:
    """A line of alerts.log; an `Alert` is sent as both events."""

    message: str


Event = StateChanged | Captured | Finished | Alert | ActionTaken | AlertLogged
Listener = Callable[[Event], None]


class Events:
    """Passes events to listeners, in the order they subscribed.

    A listener must not block; an exception is a bug of the listener and ends the job.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self.wants_captures = False

    def subscribe(self, listener: Listener, *, captures: bool = False) -> Callable[[], None]:
        """Subscribe to events; with `captures` also to `Captured`. The result unsubscribes."""
        self._listeners.append(listener)
        self.wants_captures = self.wants_captures or captures
        return lambda: self._listeners.remove(listener)

    def emit(self, event: Event) -> None:
        """Tell all listeners."""
        for listener in tuple(self._listeners):
            listener(event)
