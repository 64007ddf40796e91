"""The jobs, collections and files that a replay server shows, with their indexes."""

import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple, Protocol

from nacre.catalogue.holdings import Holding, label_of, open_holding
from nacre.catalogue.lookup import CaptureIndex, open_index
from nacre.errors import StorageError
from nacre.fleet.places import Fleet, FoundJob
from nacre.fleet.requester import NOBODY, Requester
from nacre.ops.operation import Role
from nacre.replay_server.access import ReplayAudience

AGE: Final = 5.0
"""Seconds after which a holding is opened again, because a running crawl adds files."""
_MOST: Final = 20
"""Holdings that stay open; those that were used last."""
LOCAL: Final = "local"
"""The subject of tickets of `nacre replay`, which has no users."""


class ShelfItem(NamedTuple):
    """A job, a collection or files that can be shown.

    Attributes:
        label: Label of its origin.
        name: Its name in the paths of programs.
        title: Title for people.
    """

    label: str
    name: str
    title: str


class OpenedHolding(NamedTuple):
    """A holding with its index.

    Attributes:
        item: Its names.
        holding: The holding.
        lookup: Finds its captures.
        is_incomplete: Its catalogue, in which the console searches, lacks captures.
    """

    item: ShelfItem
    holding: Holding
    lookup: CaptureIndex
    is_incomplete: bool = False


class Shelf(Protocol):
    """The things that a server shows to a caller."""

    def items(self, identity: Requester) -> list[ShelfItem]:
        """Return what a caller may see."""

    def find(self, name: str, identity: Requester) -> ShelfItem | None:
        """Return an item by its label or name; None if the caller sees none of that name."""

    def open(self, item: ShelfItem) -> OpenedHolding:
        """Open a holding; to be called in a thread.

        Raises:
            NacreError: It cannot be read.
        """


class HoldingCache:
    """Holdings that were opened lately, for several threads.

    Args:
        clock: Returns seconds that only increase.
        is_incomplete: Whether the catalogue of a holding lacks captures.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        is_incomplete: Callable[[Holding], bool] = lambda _: False,
    ) -> None:
        self._clock = clock
        self._is_incomplete = is_incomplete
        self._opened: dict[str, tuple[float, OpenedHolding]] = {}
        self._lock = Lock()

    def open(self, item: ShelfItem, targets: Sequence[str | Path]) -> OpenedHolding:
        """Open a holding, or return one that was opened a moment ago.

        Args:
            item: Its names.
            targets: See `open_holding`.

        Raises:
            NacreError: It cannot be read.
        """
        began, opened = self._opened.get(item.label, (0.0, None))
        if opened is None or self._clock() - began > AGE:
            holding = open_holding(targets)
            index = open_index(holding)
            opened = OpenedHolding(item, holding, index, self._is_incomplete(holding))
            began = self._clock()
        with self._lock:
            # Written again, so that it becomes the last one: the first ones are closed.
            self._opened.pop(item.label, None)
            self._opened[item.label] = began, opened
            while len(self._opened) > _MOST:
                self._opened.pop(next(iter(self._opened)))
        return opened


class LocalShelf:
    """The holding of `nacre replay`.

    Args:
        targets: See `open_holding`.
        holding: The same, opened.
    """

    def __init__(self, targets: Sequence[str | Path], holding: Holding) -> None:
        self._targets = targets
        self._item = ShelfItem(holding.label, holding.name, holding.title)
        self._cache = HoldingCache()

    def items(self, identity: Requester) -> list[ShelfItem]:
        """See `Shelf`."""
        return [self._item] if identity.role else []

    def find(self, name: str, identity: Requester) -> ShelfItem | None:
        """See `Shelf`."""
        is_item = name in (self._item.label, self._item.name)
        return self._item if identity.role and is_item else None

    def open(self, _: ShelfItem) -> OpenedHolding:
        """See `Shelf`."""
        return self._cache.open(self._item, self._targets)


class FleetShelf:
    """The jobs of a console; each caller sees those of their places.

    Args:
        fleet: The jobs.
        title_of: Returns the title that people gave to a job.
    """

    def __init__(self, fleet: Fleet, title_of: Callable[[FoundJob], str]) -> None:
        self._fleet = fleet
        self._title_of = title_of
        self._cache = HoldingCache(is_incomplete=_lacks_captures)

    def items(self, identity: Requester) -> list[ShelfItem]:
        """See `Shelf`."""
        if not identity.role:
            return []
        return [self._item(job) for job in self._fleet.jobs if identity.sees(job.place)]

    def find(self, name: str, identity: Requester) -> ShelfItem | None:
        """See `Shelf`."""
        if not identity.role:
            return None
        jobs = (job for job in self._fleet.jobs if identity.sees(job.place))
        job = next((job for job in jobs if name in (job.id, job_label(job))), None)
        return None if job is None else self._item(job)

    def open(self, item: ShelfItem) -> OpenedHolding:
        """See `Shelf`."""
        return self._cache.open(item, [self._fleet.job(item.name).layout.root])

    def _item(self, job: FoundJob) -> ShelfItem:
        return ShelfItem(job_label(job), job.id, self._title_of(job))


def _lacks_captures(holding: Holding) -> bool:
    """Whether the catalogue of a holding is still being built, or cannot be read."""
    from nacre.catalogue.query import (  # noqa: PLC0415 - `nacre replay` has no search
        open_catalogues,
    )

    try:
        with open_catalogues(holding) as opened:
            return not opened.is_complete
    except StorageError:
        return True


def job_label(job: FoundJob) -> str:
    """Return the label of a job, which is that of its holding."""
    return label_of(str(job.layout.root.absolute()))


def local_audience(key: str) -> ReplayAudience:
    """Return the audience of `nacre replay`: whoever has its key.

    Args:
        key: The key that the command prints.
    """
    user = Requester(LOCAL, Role.VIEWER, "key")
    return ReplayAudience(
        lambda subject: user if subject == LOCAL else NOBODY,
        lambda text: LOCAL if secrets.compare_digest(text.encode(), key.encode()) else "",
    )
