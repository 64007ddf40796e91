"""The seeds of a job and their outcomes."""

from typing import Final

import msgspec

from nacre.console.frontier.uris import containing
from nacre.console.links import ItemList, cursor_of, place_of
from nacre.core.clock import iso
from nacre.fleet.refusals import RefusedRequestError
from nacre.inspect.reports.seed_outcomes import SeedOutcome, SeedOutcomeView, SeedState
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import Cursor, LineText, RowCount, ShortText
from nacre.scope.patterns.matching import matcher
from nacre.web.workers.task import reader_task
from nacre.web.workers.views import VIEWS, ScanBudget

MOST_WAITING: Final = 5_000
"""Pending URIs that are read for seeds that wait."""
_STATES: Final = frozenset(state.value for state in SeedState)
_NOT_CRAWLED: Final = "not crawled"


class SeedsQuery(msgspec.Struct, frozen=True):
    """The filters of the seeds.

    Attributes:
        state: `got`, `error`, `no reply`, `withheld`, `refused`, `waits`, `not due`;
            `not crawled`: all but the first; "" for all.
        contains: Only seeds whose URL has this text, in letters or with its escapes; "" for all.
        after: `next` of the page before; "" for the first.
        limit: Seeds on a page, 1 to 500.
    """

    state: ShortText = ""
    contains: LineText = ""
    after: Cursor = ""
    limit: RowCount = 50


class SeedItem(msgspec.Struct, frozen=True):
    """A seed.

    Attributes:
        url: The seed.
        state: Its outcome, or that of its redirect's target.
        status: Fetch status of the last try; 0 when it was not tried.
        cause: Why it was not got, in words; "" when it was.
        tries: Tries so far.
        next_try: When it is tried again, RFC 3339; "" when nothing says so.
        target: Where it redirected to; "" for nowhere.
        failed_runs: Runs in a row in which it could not be connected to; from two on it has two
            tries a run.
    """

    url: str
    state: str
    status: int
    cause: str
    tries: int
    next_try: str
    target: str
    failed_runs: int = 0


class SeedOutcomeList(ItemList[SeedItem], frozen=True):
    """A page of seeds, in the order of the list.

    Attributes:
        searched: Seeds that were searched.
        total: All seeds.
    """

    searched: int
    total: int


@reader_task("seeds")
def list_seeds(layout: Layout, query: SeedsQuery) -> SeedOutcomeList:
    """Read a page of seeds, in the order of the list.

    Raises:
        RefusedRequestError: The state or the cursor is unknown (400).
    """
    if query.state not in {"", _NOT_CRAWLED, *_STATES}:
        names = ", ".join((_NOT_CRAWLED, *sorted(_STATES)))
        raise RefusedRequestError(
            400,
            "bad-query",
            message(
                "console.no-seed-state",
                "there is no state {state}; there are {names}",
                state=query.state,
                names=names,
            ),
        )
    first = max(place_of(query.after, int) or 0, 0)
    urls = matcher(containing(query.contains.strip()))
    with VIEWS.looking(layout) as view:
        seeds: SeedOutcomeView = view.once(
            "seeds", lambda: SeedOutcomeView(view.store, view.loaded.settings, MOST_WAITING)
        )
        budget, items, place = ScanBudget(), list[SeedItem](), first
        following = None
        for row in seeds.rows(first):
            if len(items) == query.limit or budget.spent:
                following = cursor_of(place)
                break
            place += 1
            if urls(row.url):
                outcome = seeds.outcome(row)
                if _has_state(outcome, query.state):
                    items.append(_item(outcome))
        return SeedOutcomeList(tuple(items), following, iso(view.as_of), budget.looked, seeds.total)


def _has_state(outcome: SeedOutcome, state: str) -> bool:
    if state == _NOT_CRAWLED:
        return outcome.state is not SeedState.GOT
    return state in {"", outcome.state.value}


def _item(outcome: SeedOutcome) -> SeedItem:
    next_try = iso(outcome.next_try) if outcome.next_try else ""
    fields = {**msgspec.structs.asdict(outcome), "state": outcome.state.value}
    return SeedItem(**{**fields, "next_try": next_try})
