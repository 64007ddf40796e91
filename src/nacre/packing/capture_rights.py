"""The preferences that held for captures when they were made, and selections by them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Final, Literal, Self

from nacre.archive.certificates import CHAIN_URN
from nacre.archive.page_records import urn_parts
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import JOB, Holding
from nacre.engine.rights_book import RightsRows
from nacre.errors import StorageError
from nacre.inspect.stored_job import read_only
from nacre.machine.layout import Layout
from nacre.rights.ledger import HeldPreferences, hold
from nacre.rights.vocabulary import Preference

_LAST_MOMENT: Final = 999_999
"""The index has whole seconds: facts of a second hold for all captures in it."""


class CaptureRights:
    """Looks up the preferences of captures in the ledgers of their jobs.

    Args:
        holding: The captures are in it. Of members that are no jobs, nothing is known.
    """

    def __init__(self, holding: Holding) -> None:
        self._holding = holding
        self._stack = ExitStack()
        self._rows: dict[int, RightsRows | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def of(self, capture: IndexedCapture) -> HeldPreferences:
        """Return what held for a capture; for a picture or text of a page: what held for the page.

        Records of a page in a browser have the date of the page's document (`urn:text:URL`).
        """
        time = capture_time(capture.timestamp)
        _, page = urn_parts(capture.url)
        url = page or capture.url
        rows = self._ledger(capture.member)
        if rows is None:
            return hold(url, time, None, {}, {}, is_collected=False)
        return rows.holding(url, time)

    def _ledger(self, number: int) -> RightsRows | None:
        if number not in self._rows:
            self._rows[number] = self._open(number)
        return self._rows[number]

    def _open(self, number: int) -> RightsRows | None:
        member = self._holding.members[number]
        layout = Layout(member.root)
        if member.kind != JOB or member.is_missing or not layout.has_store:
            return None
        try:
            return RightsRows(self._stack.enter_context(read_only(str(layout.store))))
        except StorageError:
            return None


def capture_time(timestamp: str) -> int:
    """Return the last moment of the second of a capture, µs since the epoch.

    Args:
        timestamp: 14 digits, UTC; 0 for others.
    """
    try:
        moment = datetime.strptime(timestamp[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return 0
    return int(moment.timestamp()) * 1_000_000 + _LAST_MOMENT


class RightsSelection:
    """Leaves out captures for which some preferences hold.

    Args:
        rights: Looks them up.
        without: The preferences.
        unknown: What is done with captures for which one of them might hold.

    Attributes:
        left_out: Captures that were left out since one of them holds.
        unknown: Captures for which one of them might hold.
        unstated: Preferences of `without` whose key no capture has had so far.
    """

    def __init__(
        self,
        rights: CaptureRights,
        without: Sequence[Preference],
        unknown: Literal["keep", "drop"],
    ) -> None:
        self._rights = rights
        self._without = without
        self._drops = unknown == "drop"
        self.left_out = 0
        self.unknown = 0
        self.unstated = list(without)

    def select(self, captures: Iterable[IndexedCapture]) -> Iterator[IndexedCapture]:
        """Yield the captures that are not left out."""
        return filter(self.accepts, captures)

    def accepts(self, capture: IndexedCapture) -> bool:
        """Return whether a capture is not left out, and count it.

        Certificates of servers are no content: no preference is about them.
        """
        if capture.url.startswith(CHAIN_URN):
            return True
        held = self._rights.of(capture)
        if self.unstated:
            keys = {preference.key for preference in held.preferences()}
            self.unstated = [
                preference for preference in self.unstated if preference.key not in keys
            ]
        if any(held.has(preference) for preference in self._without):
            self.left_out += 1
            return False
        if any(held.is_unknown(preference) for preference in self._without):
            self.unknown += 1
            return not self._drops
        return True
