"""How a crawl is shown: what a display does, and those that show little or nothing."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from nacre.cli.output import tell

if TYPE_CHECKING:
    from nacre.job.session import Session


class Display(Protocol):
    """Shows a crawl."""

    def start(self) -> None:
        """The crawl begins."""
        ...

    def tick(self, session: "Session") -> None:
        """Show the numbers of now; called a few times a second."""
        ...

    def message(self, kind: str, text: str) -> None:
        """Something happened: `start`, `state`, `alert`, `signal`."""
        ...

    def ended(self, session: "Session") -> None:
        """The numbers will not change any more."""
        ...

    def stop(self) -> None:
        """The crawl ended."""
        ...


class Nothing:
    """Nothing at all."""

    def start(self) -> None:
        """See `Display`."""

    def tick(self, session: "Session") -> None:
        """See `Display`."""

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""

    def ended(self, session: "Session") -> None:
        """See `Display`."""

    def stop(self) -> None:
        """See `Display`."""


class Silent(Nothing):
    """Nothing but alerts and what a signal did, as plain lines."""

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        if kind in {"alert", "signal"}:
            tell(text)


class Unread:
    """A display that nobody may read to the end: when its terminal or pipe is gone, it is silent.

    `nacre crawl URL 2>&1 | head` ends nothing but what is shown.
    """

    def __init__(self, display: Display) -> None:
        self._display = display

    def start(self) -> None:
        """See `Display`."""
        self._show(self._display.start)

    def tick(self, session: "Session") -> None:
        """See `Display`."""
        self._show(lambda: self._display.tick(session))

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        self._show(lambda: self._display.message(kind, text))

    def ended(self, session: "Session") -> None:
        """See `Display`."""
        self._show(lambda: self._display.ended(session))

    def stop(self) -> None:
        """See `Display`."""
        self._show(self._display.stop)

    def _show(self, step: Callable[[], None]) -> None:
        try:
            step()
        except OSError:
            self._display = Nothing()
