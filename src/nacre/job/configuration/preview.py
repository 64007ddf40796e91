"""How many queued URIs a change of settings or sheets touches, before it is made."""

from collections.abc import Iterator

import msgspec

from nacre.config.sheet import Overlays
from nacre.frontier.listing import pending
from nacre.frontier.rows import Rows
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheet_list import SheetList
from nacre.job.configuration.sheets import Sheets
from nacre.scope.state import ScopeState

STEP = 1000
"""URIs between two chances for other work."""


class Touched(msgspec.Struct):
    """What a change touches.

    Attributes:
        urls: Queued URIs for which a setting would be another.
        queues: Queues that hold such URIs.
        pending: All queued URIs.
        examples: The first of those URLs.
    """

    urls: int = 0
    queues: int = 0
    pending: int = 0
    examples: list[str] = []


def make_sheets(settings: JobSettings, found: SheetList, state: ScopeState) -> Sheets:
    """Sheets and associations as they would be."""
    sheets = Sheets(Overlays(settings, found.sheets), state)
    sheets.associate(found.associations)
    return sheets


def touched(rows: Rows, now: Sheets, then: Sheets, most: int = 5) -> Iterator[Touched]:
    """Count; yields what is known after every thousand URIs, and at last the whole.

    Args:
        rows: The store.
        now: What applies.
        then: What would apply.
        most: Examples kept.
    """
    result = Touched()
    queues: set[str] = set()
    differs: dict[tuple[int, int], bool] = {}
    for entry in pending(rows):
        uri = entry.uri
        pair = now.of(uri), then.of(uri)
        if pair not in differs:
            differs[pair] = _without_sheets(now, pair[0]) != _without_sheets(then, pair[1])
        result.pending += 1
        if differs[pair]:
            result.urls += 1
            queues.add(uri.queue)
            result.queues = len(queues)
            if len(result.examples) < most:
                result.examples.append(uri.url)
        if result.pending % STEP == 0:
            yield result
    yield result


def _without_sheets(sheets: Sheets, overlay: int) -> JobSettings:
    """What holds under a combination; the list of all sheets itself touches no URI."""
    none: dict[str, object] = {"sheets": {}, "sheet_associations": ()}
    return sheets.overlays.settings[overlay].model_copy(update=none)
