"""What runs along with a crawl: it looks after files and times, and never fetches anything."""

from typing import Protocol

from nacre.job.states import ExitStatus


class Companion(Protocol):
    """Runs from the moment that the crawl runs until it ends; see `Session.accompany`."""

    @property
    def name(self) -> str:
        """Name of its task."""
        ...

    @property
    def busy(self) -> bool:
        """Whether it is about to bring something in: the crawl is not over yet."""
        ...

    async def run(self) -> None:
        """Work until it is cancelled; between two awaits it leaves nothing half done."""
        ...

    async def ending(self, how: ExitStatus) -> None:
        """Nothing is in process any more, and the store is still open."""
        ...
