"""The queues of a frontier: a page of them in an order, and a single queue."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from nacre.console.links import cursor_of, place_of
from nacre.core.clock import iso
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import Cursor, LineText, PathPart, RowCount, ShortText
from nacre.ops.queues import (
    NAME,
    NUMBERS,
    STATES,
    QueueItem,
    QueuePlace,
    QueueTable,
    count_states,
    read_queue_item,
    read_table,
)
from nacre.scope.patterns.matching import matcher
from nacre.web.workers.task import PROGRESS, reader_task
from nacre.web.workers.views import CLOCK, VIEWS, OpenView, ScanBudget

_TABLE: Final = 2.0


class QueuesQuery(msgspec.Struct, frozen=True):
    """The filters and the order of the queues.

    Attributes:
        sort: `waiting`, `needs`, `delay`, `backoff`, `spent`, `precedence`, `failures` or `name`;
            with a leading `-`, in descending order.
        state: Only queues in this state, such as `snoozed`; "" for all.
        re: Expression that is found in the queue key; "" for all.
        after: `next` of the previous page; "" for the first.
        before: `previous` of the next page; "" if `after` selects the page.
        key: The page begins with this key, or with the next key, in the order of the names.
        limit: Queues on a page, 1 to 500.
    """

    sort: ShortText = "-waiting"
    state: ShortText = ""
    re: LineText = ""
    after: Cursor = ""
    before: Cursor = ""
    key: LineText = ""
    limit: RowCount = 50


class QueueList(msgspec.Struct, frozen=True):
    """A page of queues.

    Attributes:
        items: The queues.
        next: The `after` of the next page; null for none.
        previous: The `before` of the previous page; null for none.
        as_of: The moment of these data, RFC 3339.
        sorted_as_of: The moment of the numbers that they are sorted by.
        searched: Queues that were read; with few items and a `next` the filter resumes there.
        queues: Number of all queues.
        states: Number of queues by state.
    """

    items: tuple[QueueItem, ...]
    next: str | None
    previous: str | None
    as_of: str
    sorted_as_of: str
    searched: int
    queues: int
    states: dict[str, int]


class QueueKey(msgspec.Struct, frozen=True):
    """The key of a queue."""

    queue: PathPart


def table_of(view: OpenView) -> QueueTable:
    """Return the queues of a job in order, from a table that is made again when they changed.

    The larger the table is, the longer it is used: making it takes at most a fiftieth of the time.
    """
    last: tuple[object, QueueTable] | None = view.kept.get("queues")
    if last is not None:
        stamp, table = last
        age = CLOCK.now() - table.made
        # A clock that was set back makes the table old, not new.
        lasts = 0.0 <= age < max(_TABLE, 50.0 * table.seconds) and table.made >= VIEWS.since
        if stamp == view.stamp or lasts:
            return table
    table = read_table(view.store, PROGRESS.tell, CLOCK)
    view.kept["queues"] = (view.stamp, table)
    return table


@reader_task("queues")
def list_queues(layout: Layout, query: QueuesQuery) -> QueueList:
    """Read a page of queues.

    Raises:
        RefusedRequestError: The order, the state or the cursor is unknown (400).
    """
    sort, falling = query.sort.removeprefix("-"), query.sort.startswith("-")
    if query.key and sort != NAME:
        sort, falling = NAME, False  # keys have a place in that order alone
    if sort != NAME and sort not in NUMBERS:
        names = ", ".join((NAME, *NUMBERS))
        raise RefusedRequestError(
            400,
            "bad-query",
            message(
                "console.queue-order",
                "queues are sorted by {names}; not by {sort}",
                names=names,
                sort=sort,
            ),
        )
    state, is_matched, back = _state_number(query.state), matcher(query.re), bool(query.before)
    start = place_of(query.before or query.after, QueuePlace)
    with VIEWS.looking(layout) as view:
        table = table_of(view)
        if query.key and start is None:
            start = table.before_name(query.key, falling=falling)
        matching, last, budget = list[str](), start, ScanBudget()
        for at, place in table.walk(sort, start, falling=falling, back=back):
            if len(matching) == query.limit or budget.spent:
                last = place if back else last
                break
            last = place
            if state in {None, table.states[at]} and is_matched(table.names[at]):
                matching.append(table.names[at])
        else:
            last = None
        first, following = (last, start) if back else (start, last)
        return QueueList(
            tuple(_items(view, reversed(matching) if back else matching)),
            None if following is None else cursor_of(following),
            None if first is None else cursor_of(first),
            iso(view.as_of),
            iso(table.made),
            budget.looked,
            len(table.names),
            count_states(view.store),
        )


def _state_number(name: str) -> int | None:
    if not name:
        return None
    if name not in STATES:
        names = ", ".join(STATES)
        raise RefusedRequestError(
            400,
            "bad-query",
            message(
                "console.no-queue-state",
                "there is no state {name}; there are {names}",
                name=name,
                names=names,
            ),
        )
    return STATES[name]


def _items(view: OpenView, names: Iterable[str]) -> Iterator[QueueItem]:
    settings = view.loaded.settings.frontier
    for name in names:
        item = read_queue_item(view.store, name, settings)
        if item is not None:
            yield item


@reader_task("queue")
def show_queue(layout: Layout, request: QueueKey) -> QueueItem:
    """Read a queue.

    Raises:
        RefusedRequestError: There is no such queue (404).
    """
    with VIEWS.looking(layout) as view:
        settings = view.loaded.settings.frontier
        item = read_queue_item(view.store, request.queue, settings, iso(view.as_of))
        if item is None:
            raise not_found("queue", request.queue)
        return item
