"""`/api/v1/jobs/J/queues`, `/uris` and `/frontier/…`: what waits, and changes of it."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from nacre.console.background.answers import begin_reading, later, read_or_later
from nacre.console.background.frontier_work import (
    FrontierWish,
    begin_change,
    check_wish,
    import_lines,
)
from nacre.console.call import Call
from nacre.console.cursors import cursor_of, place_of
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.background import PATIENCE, HeldTask
from nacre.ops.fields import Cursor, LineText, RowCount, ShortText, Texts

"""Rows of a page."""


class QueuesQuery(msgspec.Struct, frozen=True):
    """The filters and the order of the queues.

    Attributes:
        sort: `waiting`, `needs`, `delay`, `backoff`, `spent`, `precedence`, `failures` or `name`;
            with `-` before it, the largest first.
        state: Only queues in this state, such as `snoozed`; "" for all.
        re: Expression that is found in the queue key; "" for all.
        after: `next` of the page before; "" for the first.
        before: `previous` of the page behind; "" where `after` says it.
        key: In the order of the names: the page begins with this key, or with the first behind it.
        limit: Queues on a page, 1 to 500.
    """

    sort: ShortText = "-waiting"
    state: ShortText = ""
    re: LineText = ""
    after: Cursor = ""
    before: Cursor = ""
    key: LineText = ""
    limit: RowCount = 50


class QueueItem(msgspec.Struct, frozen=True):
    """A queue.

    Attributes:
        queue: Its key.
        host: Its host, where it is the queue of one.
        state: `ready`, `in_process`, `snoozed`, `inactive`, `ineligible`, `retired`, `exhausted`.
        why: Why it waits; "" where it does not.
        waiting: URIs in it.
        retrying: Of these, those tried before.
        delay: Its last politeness delay, seconds; 0 before the first fetch.
        backoff: Factor of its adaptive backoff; 1 for none.
        alone: Its site asks for a Crawl-delay: one fetch at a time.
        needs: Seconds that it needs at that delay and at its usual latency.
        precedence: Lower ones come first.
        spent: Cost spent.
        budget: Cost allowed; null for no limit.
        successes: URIs fetched with success.
        failures: URIs that failed.
        shares: Addresses of its host, where other queues have them too.
        last: URL handed out last.
        newest: URL put in last.
        trapped: URIs of endless places that were visited.
        endless: URIs of endless places in it.
        as_of: The moment of these data, RFC 3339; "" in a list, which has its own.
    """

    queue: str
    host: str
    state: str
    why: str
    waiting: int
    retrying: int
    delay: float
    backoff: float
    alone: bool
    needs: float
    precedence: int
    spent: int
    budget: int | None
    successes: int
    failures: int
    shares: str
    last: str
    newest: str
    trapped: int
    endless: int
    as_of: str = ""


class QueueList(msgspec.Struct, frozen=True):
    """A page of queues.

    Attributes:
        items: The queues.
        next: The `after` of the next page; null for none.
        previous: The `before` of the page before; null for none.
        as_of: The moment of these data, RFC 3339.
        sorted_as_of: The moment of the numbers that they are sorted by.
        searched: Queues that were looked at; with few items and a `next` the filter goes on there.
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


class UrisQuery(msgspec.Struct, frozen=True):
    """The filters of the URIs that wait.

    Attributes:
        queue: Only this queue; "" for all.
        re: Expression that is found in the URL; "" for all.
        prefix: Beginning of the URL, or of its SURT, such as `http://(com,example,`; "" for all.
        after: `next` of the page before; "" for the first.
        limit: URIs on a page, 1 to 500.
    """

    queue: LineText = ""
    re: LineText = ""
    prefix: LineText = ""
    after: Cursor = ""
    limit: RowCount = 50


class UriItem(msgspec.Struct, frozen=True):
    """A URI that waits.

    Attributes:
        url: The URL.
        queue: Its queue.
        via: The page on which it was found; "" for a seed.
        path: Hop path.
        directive: Its place in the queue: lower ones come first.
        precedence: The same within the directive.
        attempts: How often it was tried.
        last_status: Fetch status of the last try; 0 before.
        due: When it is tried again, frontier time, RFC 3339; "" for when it is its turn.
        is_seed: It is a seed.
    """

    url: str
    queue: str
    via: str
    path: str
    directive: int
    precedence: int
    attempts: int
    last_status: int
    due: str
    is_seed: bool


class UriList(msgspec.Struct, frozen=True):
    """A page of URIs that wait: queue by queue, in their order; then those for a later time.

    Attributes:
        items: The URIs.
        next: The `after` of the next page; null for none.
        as_of: The moment of these data, RFC 3339.
        searched: URIs that were looked at; with few items and a `next` the filter goes on there.
    """

    items: tuple[UriItem, ...]
    next: str | None
    as_of: str
    searched: int


class TreeQuery(msgspec.Struct, frozen=True):
    """A place in the tree of what waits.

    Attributes:
        prefix: Beginning of the names of queues, with its last comma; "" for the top.
        queue: A queue, below which there are paths; "" for the names.
        path: Beginning of the paths, with its last slash; "" for all.
        after: `next` of the page before; "" for the first.
        whole: Look at all URIs of the queue, also where that takes long.
        limit: Branches on a page, 1 to 500.
    """

    prefix: LineText = ""
    queue: LineText = ""
    path: LineText = ""
    after: LineText = ""
    whole: bool = False
    limit: RowCount = 100


class BranchItem(msgspec.Struct, frozen=True):
    """A branch of the tree.

    Attributes:
        name: Beginning of the queues' names, or of the paths.
        waiting: URIs that wait below it.
        queues: Queues below it; 0 for a branch of paths.
        queue: The queue that it is, or is in; "" for a branch of several.
    """

    name: str
    waiting: int
    queues: int
    queue: str


class BranchList(msgspec.Struct, frozen=True):
    """The branches of a place.

    Attributes:
        items: They: names in order; paths with most URIs first.
        next: The `after` of the next page; null for none.
        as_of: The moment of these data, RFC 3339.
        searched: URIs that were looked at.
        complete: All were; else the numbers are those of a part, and `whole` counts all.
        left_out: Further paths, with the fewest URIs, which are not among the items.
        left_waiting: URIs that wait below these.
    """

    items: tuple[BranchItem, ...]
    next: str | None
    as_of: str
    searched: int
    complete: bool
    left_out: int = 0
    left_waiting: int = 0


class PreviewWish(msgspec.Struct, frozen=True):
    """An action and the choice of its URIs, to be looked at before it is taken.

    Attributes:
        action: One of `delete`, `exclude`, `retire`, `unretire`, `wake`, `forget`, `reconsider`,
            `first`.
        urls: Expression that is found in the URLs; "" for all.
        queues: Expression that is found in the queue keys; "" for all.
    """

    action: ShortText = "delete"
    urls: LineText = ""
    queues: LineText = ""


class PreviewHost(msgspec.Struct, frozen=True):
    """The part of a preview that is of one queue: its key, its host, and how many URIs it has."""

    queue: str
    host: str
    number: int


class FrontierPreview(msgspec.Struct, frozen=True):
    """The URIs that an action would be done to.

    Attributes:
        count: URIs, or queues.
        queues: Queues that they are in.
        hosts: The queues with most.
        samples: Twenty URLs, of as many queues as there are.
        as_of: The moment of these data, RFC 3339.
    """

    count: int
    queues: int
    hosts: tuple[PreviewHost, ...]
    samples: tuple[str, ...]
    as_of: str


class FrontierChanged(msgspec.Struct, frozen=True):
    """The result of an action.

    Attributes:
        action: It.
        changed: URIs or queues that changed.
        counted: What was counted just before; null where nothing was expected.
        rule: Path of the rule of the scope that `exclude` or `include` changed; "" for none.
        over: Of `include`: the run is over, so that nothing waits again.
    """

    action: str
    changed: int
    counted: int | None
    rule: str = ""
    over: bool = False


def queues_arguments(query: QueuesQuery) -> dict[str, Any]:
    """The arguments of the reader task for a page of queues."""
    return {
        "sort": query.sort.removeprefix("-"),
        "falling": query.sort.startswith("-"),
        "state": query.state,
        "re": query.re,
        "limit": query.limit,
        "after": place_of(query.after, tuple[float, str]),
        "before": place_of(query.before, tuple[float, str]),
        "key": query.key,
    }


def queue_list(found: dict[str, Any]) -> QueueList:
    """A page of queues of what a reader process found."""
    ends = {name: cursor_of(found[name]) if found[name] else None for name in ("next", "previous")}
    return msgspec.convert({**found, **ends}, QueueList)


async def list_queues(call: Call) -> QueueList | Response:
    """A page of queues, sorted and filtered."""
    arguments = queues_arguments(call.query)
    found, held = await read_or_later(call, call.job(), "queues", **arguments)
    return later(held) if held is not None else queue_list(found)


async def get_queue(call: Call) -> QueueItem:
    """One queue."""
    key = str(call.request.path_params["queue"])
    found = await call.services.readers.ask("queue", call.job().layout.root, queue=key)
    return msgspec.convert(found, QueueItem)


def uris_arguments(query: UrisQuery) -> dict[str, Any]:
    """The arguments of the reader task for a page of URIs."""
    return {
        "queue": query.queue,
        "re": query.re,
        "prefix": query.prefix,
        "limit": query.limit,
        "after": place_of(query.after, tuple[str, bytes]),
    }


def uri_list(found: dict[str, Any]) -> UriList:
    """A page of URIs of what a reader process found."""
    following = cursor_of(found["next"]) if found["next"] else None
    return msgspec.convert({**found, "next": following}, UriList)


async def list_uris(call: Call) -> UriList:
    """A page of the URIs that wait."""
    root, arguments = call.job().layout.root, uris_arguments(call.query)
    return uri_list(await call.services.readers.ask("uris", root, **arguments))


def branch_list(found: dict[str, Any]) -> BranchList:
    """The branches of what a reader process found."""
    items = found.pop("branches")
    return msgspec.convert({**found, "items": items}, BranchList)


def tree_arguments(query: TreeQuery) -> dict[str, Any]:
    """The arguments of the reader task for a place in the tree."""
    return dict(msgspec.to_builtins(query))


async def show_tree(call: Call) -> BranchList | Response:
    """The tree of what waits: domains, hosts, paths, with counts."""
    found, held = await read_or_later(call, call.job(), "tree", **tree_arguments(call.query))
    return later(held) if held is not None else branch_list(found)


async def count(call: Call) -> FrontierPreview | Response:
    """Count what an action would be done to, with samples; it changes nothing."""
    wish: PreviewWish = call.body
    _check_preview(wish)
    arguments = msgspec.to_builtins(wish)
    found, held = await read_or_later(call, call.job(), "count", **arguments)
    return later(held) if held is not None else msgspec.convert(found, FrontierPreview)


def _check_preview(wish: PreviewWish) -> None:
    """Refuse a preview that there is not.

    Raises:
        RefusedRequestError: What comes back by `include` is seen when it is done (422).
    """
    check_wish(wish.action, FrontierWish(wish.urls, wish.queues, everything=True))
    if wish.action == "include":
        raise RefusedRequestError(422, "no-preview", "there is no preview of `include`")


async def change(call: Call) -> FrontierChanged | Response:
    """Do something to the URIs or queues that expressions choose."""
    held = begin_change(call, call.job(), str(call.request.path_params["action"]), call.body)
    found = await held.outcome(PATIENCE)
    return msgspec.convert(found, FrontierChanged) if held.ended else later(held)


def begin_count(call: Call, wish: PreviewWish) -> HeldTask:
    """Begin a preview for a page."""
    _check_preview(wish)
    return begin_reading(call, call.job(), "count", **msgspec.to_builtins(wish))


class ExportQuery(msgspec.Struct, frozen=True):
    """The filters of an export.

    Attributes:
        urls: Expression that is found in the URLs; "" for all.
        queues: Expression that is found in the queue keys; "" for all.
    """

    urls: LineText = ""
    queues: LineText = ""


async def export(call: Call) -> Response:
    """The URIs that wait as a recovery journal, which `import` takes; read as it is sent."""
    query: ExportQuery = call.query
    job, readers = call.job(), call.services.readers
    check_wish("delete", FrontierWish(query.urls, query.queues, everything=True))
    arguments: dict[str, Any] = {"urls": query.urls, "queues": query.queues}
    first = await readers.ask("export-part", job.layout.root, **arguments, after=None)

    async def parts() -> AsyncIterator[bytes]:
        part = first
        while True:
            yield part["text"].encode("utf-8", "backslashreplace")
            if part["next"] is None:
                return
            part = await readers.ask(
                "export-part", job.layout.root, **arguments, after=part["next"]
            )

    place = {"content-disposition": f'attachment; filename="{job.name}-frontier.recover"'}
    return StreamingResponse(parts(), headers=place, media_type="text/plain; charset=utf-8")


class ImportWish(msgspec.Struct, frozen=True):
    """Lines for the frontier.

    Attributes:
        lines: They: URLs, or lines of a journal, of a crawl.log or of a seed list.
        mode: `import`, `recover`, `crawl-log` or `seeds`.
        scoped: Only what is in scope.
        force: Also what was done or deleted before.
    """

    lines: Texts
    mode: ShortText = "import"
    scoped: bool = False
    force: bool = False


class ImportedLines(msgspec.Struct, frozen=True):
    """The result of an import.

    Attributes:
        changed: URIs that were scheduled.
        tally: Counts of the lines.
        rejected: The first of those that were not taken, each with `number`, `text`, `why`.
    """

    changed: int
    tally: dict[str, int]
    rejected: tuple[dict[str, Any], ...]


async def take_lines(call: Call) -> ImportedLines | Response:
    """Take lines into the frontier; a job that never ran begins its first run."""
    wish: ImportWish = call.body
    text = "\n".join(wish.lines) + "\n"
    held = import_lines(call, call.job(), text, wish.mode, scoped=wish.scoped, force=wish.force)
    root = call.job().layout.root
    found = await held.outcome(call.services.readers.patience("import-uris", root))
    return msgspec.convert(found, ImportedLines) if held.ended else later(held)
