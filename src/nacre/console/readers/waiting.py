"""Tasks of reader processes on the frontier: its queues, its URIs, and what an action would mean.

What a page shows is bounded: a step ends after 10,000 rows or 20 ms, and its answer says where the
next one goes on. What must be counted to its end tells how far it is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from nacre.console.problems import RefusedRequestError, not_found
from nacre.console.readers.progress import PROGRESS
from nacre.console.readers.queue_table import NAME, NUMBERS, QueuePlace, QueueTable
from nacre.console.readers.views import CLOCK, VIEWS, OpenView
from nacre.core.clock import iso
from nacre.core.crawluri import CrawlURI
from nacre.frontier.operator import why_it_waits
from nacre.frontier.pending import Matcher, any_text, matcher
from nacre.frontier.queue_cache import read_queue, scan_queues
from nacre.frontier.queues import QueueRow, QueueState, read_totals
from nacre.frontier.rows import (
    ID_LENGTH,
    after,
    queue_id,
    time_of,
    unpack,
    unpack_future,
)
from nacre.job.crowding import path_branch
from nacre.store.layout import Layout
from nacre.uri.surt import queue_host, surt
from nacre.wire.urltext import spellings

ROWS: Final = 10_000
"""Rows that a page may cost."""
SECONDS: Final = 0.015
"""Seconds that it may take."""
SAMPLES: Final = 20
"""URIs that a preview shows."""
_EACH: Final = 64
_TABLE: Final = 2.0
_TOLD: Final = 1024
_END: Final = b"\xff" * 20


class ScanBudget:
    """The cost that a page may have: rows and time.

    Args:
        rows: Rows.
        seconds: Seconds.

    Attributes:
        looked: Rows that were looked at.
    """

    def __init__(self, rows: int = ROWS, seconds: float = SECONDS) -> None:
        self.looked = 0
        self._rows = rows
        self._until = CLOCK.monotonic() + seconds

    @property
    def spent(self) -> bool:
        """Whether it is used up, after another row."""
        self.looked += 1
        if self.looked >= self._rows:
            return True
        return not self.looked % _EACH and CLOCK.monotonic() > self._until


def _since(arguments: Mapping[str, Any]) -> float:
    return float(arguments.get("since", 0.0))


# ---- queues


def table_of(view: OpenView, since: float = 0.0) -> QueueTable:
    """The queues of a job in order; made anew when they changed, but not at every look.

    The larger it is, the longer it is used: it takes at most a fiftieth of the time.

    Args:
        view: The job.
        since: It must not be older than this, seconds since the epoch.
    """
    known: tuple[object, QueueTable] | None = view.kept.get("queues")
    if known is not None:
        stamp, table = known
        age = CLOCK.now() - table.made
        # A clock that was set back makes it old, not new.
        lasts = 0.0 <= age < max(_TABLE, 50.0 * table.seconds) and table.made >= since
        if stamp == view.stamp or lasts:
            return table
    total = sum(read_totals(view.store).states)
    table = QueueTable(scan_queues(view.store), lambda done: PROGRESS.tell(done, total), CLOCK)
    view.kept["queues"] = (view.stamp, table)
    return table


def list_queues(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A page of queues.

    Args:
        layout: The job.
        arguments: `sort`, `falling`, `state`, `re`, `limit`; `after` and `before` (a place: number
            and name, or None), of which the page begins behind the first, or ends with the second;
            `key`: in the order of the names it begins there.
    """
    sort, falling = str(arguments["sort"]), bool(arguments["falling"])
    if sort != NAME and sort not in NUMBERS:
        names = ", ".join((NAME, *NUMBERS))
        raise RefusedRequestError(400, "bad-query", f"queues are sorted by {names}; not by {sort}")
    state, wanted = _state_named(str(arguments["state"])), matcher(str(arguments["re"]))
    key, back = str(arguments.get("key", "")), bool(arguments.get("before"))
    if key and sort != NAME:
        raise RefusedRequestError(400, "bad-query", f"`key` needs the order by {NAME}")
    with VIEWS.looking(layout, _since(arguments)) as view:
        table = table_of(view, _since(arguments))
        given = arguments["before"] if back else arguments.get("after")
        start = QueuePlace(float(given[0]), str(given[1])) if given else None
        if key and not given:
            start = table.before_name(key, falling=falling)
        found, last, budget, limit = list[str](), start, ScanBudget(), int(arguments["limit"])
        for at, behind in table.walk(sort, start, falling=falling, back=back):
            if len(found) == limit or budget.spent:
                last = behind if back else last
                break
            last = behind
            if state in {None, table.states[at]} and wanted(table.names[at]):
                found.append(table.names[at])
        else:
            last = None
        first, following = (last, start) if back else (start, last)
        totals = read_totals(view.store)
        return {
            "items": list(_queues(view, reversed(found) if back else found)),
            "next": None if following is None else list(following),
            "previous": None if first is None else list(first),
            "searched": budget.looked,
            "queues": len(table.names),
            "states": {one.name.lower(): totals.states[one] for one in QueueState},
            "as_of": iso(view.as_of),
            "sorted_as_of": iso(table.made),
        }


def _state_named(name: str) -> int | None:
    if not name:
        return None
    known = {state.name.lower(): state for state in QueueState}
    if name not in known:
        names = ", ".join(known)
        raise RefusedRequestError(400, "bad-query", f"there is no state {name}; there are {names}")
    return known[name]


def _queues(view: OpenView, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    settings = view.loaded.settings.frontier
    for name in names:
        row = read_queue(view.store, queue_id(name))
        if row is not None:
            yield queue_item(row, settings)


def queue_item(row: QueueRow, settings: Any) -> dict[str, Any]:  # noqa: ANN401 - of the frontier
    """A queue as an answer has it."""
    waiting = row.size + row.waiting
    budget = settings.queue_total_budget
    return {
        "queue": row.name,
        "host": queue_host(row.name),
        "state": QueueState(row.state).name.lower(),
        "why": why_it_waits(row, settings),
        "waiting": waiting,
        "retrying": row.retrying,
        "delay": row.delay,
        "backoff": row.backoff,
        "alone": row.alone,
        "needs": waiting * (row.delay + row.latency / 1000),
        "precedence": row.precedence,
        "spent": row.spent,
        "budget": budget if budget >= 0 else None,
        "successes": row.successes,
        "failures": row.errors,
        "shares": row.group,
        "last": row.last_peek,
        "newest": row.last_queued,
        "trapped": row.trapped,
        "endless": row.endless,
    }


def show_queue(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One queue.

    Args:
        layout: The job.
        arguments: `queue`: its key.
    """
    name = str(arguments["queue"])
    with VIEWS.looking(layout, _since(arguments)) as view:
        row = read_queue(view.store, queue_id(name))
        if row is None:
            raise not_found(f"queue {name}")
        return {**queue_item(row, view.loaded.settings.frontier), "as_of": iso(view.as_of)}


# ---- URIs


class WaitingRow(NamedTuple):
    """A URI that waits, and its place in the store.

    Attributes:
        family: `queue` or `future`.
        key: Its key there.
        value: Its row.
    """

    family: str
    key: bytes
    value: bytes


def list_uris(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A page of the URIs that wait: queue by queue, in their order; then those for a later time.

    Args:
        layout: The job.
        arguments: `queue` (a key), `re`, `prefix` (of the URL, or of its SURT), `limit`, `after`
            (family and key, or None).
    """
    queue, urls = str(arguments["queue"]), matcher(str(arguments["re"]))
    begins = prefix_test(str(arguments["prefix"]))
    place, limit = arguments.get("after"), int(arguments["limit"])
    with VIEWS.looking(layout, _since(arguments)) as view:
        names = QueueNames(view)
        budget, found, last = ScanBudget(), list[dict[str, Any]](), None
        for row in waiting_rows(view, queue, (str(place[0]), bytes(place[1])) if place else None):
            if len(found) == limit or budget.spent:
                break
            last = (row.family, row.key)
            uri, due = names.uri(row)
            if (not queue or uri.queue == queue) and urls(uri.url) and begins(uri.url):
                found.append(_uri_item(uri, due))
        else:
            last = None
        return {
            "items": found,
            "next": None if last is None else list(last),
            "searched": budget.looked,
            "as_of": iso(view.as_of),
        }


def waiting_rows(
    view: OpenView, queue: str, place: tuple[str, bytes] | None
) -> Iterator[WaitingRow]:
    """The rows of the URIs that wait, from a place on.

    Args:
        view: The job.
        queue: Key of the only queue whose rows of `queue` are read; "" for all.
        place: Family and key behind which they begin; None for the first.
    """
    identity = queue_id(queue) if queue else b""
    family, key = place or ("queue", b"")
    if family == "queue":
        start = after(key) if key else identity
        stop = identity + _END if queue else None
        for found, value in view.store.scan("queue", start, stop):
            yield WaitingRow("queue", found, value)
        key = b""
    for found, value in view.store.scan("future", after(key) if key else b""):
        yield WaitingRow("future", found, value)


class QueueNames:
    """Reads rows as URIs; a queue's name is in its own row, which is read once.

    Args:
        view: The job.
    """

    def __init__(self, view: OpenView) -> None:
        self._store = view.store
        self._identity = b""
        self._name = ""

    def name(self, key: bytes) -> str:
        """Name of the queue of a row of `queue`."""
        identity = key[:ID_LENGTH]
        if identity != self._identity:
            row = read_queue(self._store, identity)
            self._identity, self._name = identity, row.name if row else identity.hex()
        return self._name

    def uri(self, row: WaitingRow) -> tuple[CrawlURI, float | None]:
        """The URI of a row, and when its time comes; None for when it is its turn."""
        if row.family == "future":
            return unpack_future(row.key, row.value)[0], time_of(row.key)
        return unpack(row.key, row.value, self.name(row.key)), None


def _uri_item(uri: CrawlURI, due: float | None) -> dict[str, Any]:
    return {
        "url": uri.url,
        "queue": uri.queue,
        "via": uri.via,
        "path": uri.path,
        "directive": uri.directive,
        "precedence": uri.precedence,
        "attempts": uri.attempts,
        "last_status": uri.last_status,
        "due": "" if due is None else iso(due),
        "is_seed": uri.is_seed,
    }


def prefix_test(prefix: str) -> Matcher:
    """The test for a beginning: of a SURT where it has a bracket, else of the URL.

    Letters of a URL that are not ASCII mean their escapes in every usual encoding.
    """
    if not prefix:
        return any_text
    if "(" in prefix:
        return lambda url: surt(url).startswith(prefix)
    known = tuple(dict.fromkeys((prefix, *_spelled(prefix))))
    return lambda url: url.startswith(known)


def _spelled(prefix: str) -> Iterator[str]:
    from nacre.wire.urltext import possible_urls  # noqa: PLC0415 - with the parser

    for url in possible_urls(prefix):
        yield url
        yield from spellings(url)


# ---- the tree


def show_tree(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The branches below a prefix, with what waits in each.

    Names of hosts are branches of the queues' names, which are counted anyway. Below a queue, the
    URLs of the queue are looked through: within a page's budget, or to the end.

    Args:
        layout: The job.
        arguments: `prefix`: beginning of the names of queues, or "" for the top; `queue`: key of a
            queue, with `path`: beginning of a path, in place of it; `whole`: look to the end;
            `limit`: most branches.
    """
    with VIEWS.looking(layout, _since(arguments)) as view:
        queue, limit = str(arguments["queue"]), int(arguments["limit"])
        if queue:
            counted = _paths(view, queue, str(arguments["path"]), whole=bool(arguments["whole"]))
            answer = _most_of(counted, queue, limit)
        else:
            prefix, start = str(arguments["prefix"]), str(arguments["after"])
            table = table_of(view, _since(arguments))
            found = list(islice(table.branches(prefix, start), limit + 1))
            answer = {
                "branches": [
                    {
                        "name": one.prefix, "waiting": one.waiting, "queues": one.queues,
                        "queue": one.prefix if one.is_queue else "",
                    }
                    for one in found[:limit]
                ],
                "next": found[limit - 1].prefix if len(found) > limit else None,
                "searched": 0,
                "complete": True,
                "left_out": 0,
                "left_waiting": 0,
            }  # fmt: skip
        return {**answer, "as_of": iso(view.as_of)}


_WHOLE: Final = 50_000_000


class _CountedPaths(NamedTuple):
    """The URIs of a queue by path: how many were looked at, and whether these were all."""

    counts: Counter[str]
    searched: int
    complete: bool


def _most_of(counted: _CountedPaths, queue: str, limit: int) -> dict[str, Any]:
    """The paths with most URIs, and what is left out."""
    order = sorted(counted.counts.items(), key=lambda one: (-one[1], one[0]))
    rest = order[limit:]
    return {
        "branches": [
            {"name": name, "waiting": number, "queues": 0, "queue": queue}
            for name, number in order[:limit]
        ],
        "next": None,
        "searched": counted.searched,
        "complete": counted.complete,
        "left_out": len(rest),
        "left_waiting": sum(number for _, number in rest),
    }


def _paths(view: OpenView, queue: str, path: str, *, whole: bool) -> _CountedPaths:
    row = read_queue(view.store, queue_id(queue))
    if row is None:
        raise not_found(f"queue {queue}")
    total = row.size + row.waiting
    budget = ScanBudget(_WHOLE, 3600.0) if whole else ScanBudget()
    counts: Counter[str] = Counter()
    names, complete = QueueNames(view), True
    for found in waiting_rows(view, queue, None):
        if budget.spent:
            complete = False
            break
        if not budget.looked % _TOLD:
            PROGRESS.tell(budget.looked, total)
        uri, _ = names.uri(found)
        if uri.queue == queue:
            branch = path_branch(uri.url, path)
            if branch:
                counts[branch] += 1
    return _CountedPaths(counts, budget.looked, complete)


# ---- previews


class _WaitingUrl(msgspec.Struct, gc=False, rename={"url": "u", "queue": "q", "via": "v"}):
    """What a preview needs of a URI's row."""

    url: str
    queue: str = ""
    via: str = ""


_decode_url = msgspec.msgpack.Decoder(_WaitingUrl).decode


class PreviewCount:
    """Counts what an action would mean: how many, in which queues, and some samples.

    Samples are of as many queues as possible: the first of each queue, and then more.
    """

    def __init__(self) -> None:
        self.number = 0
        self._hosts: Counter[str] = Counter()
        self._first: dict[str, list[str]] = {}

    def add(self, url: str, queue: str) -> None:
        """Count one."""
        self.number += 1
        self._hosts[queue] += 1
        known = self._first.get(queue)
        if known is None:
            if len(self._first) < SAMPLES:
                self._first[queue] = [url]
        elif len(known) < SAMPLES:
            known.append(url)

    def answer(self) -> dict[str, Any]:
        """The counts, the queues with most, and the samples."""
        lists = list(self._first.values())
        rounds = (one[at] for at in range(SAMPLES) for one in lists if at < len(one))
        hosts = [
            {"queue": name, "host": queue_host(name), "number": number}
            for name, number in self._hosts.most_common(SAMPLES)
        ]
        samples = list(islice(rounds, SAMPLES))
        return {
            "count": self.number, "queues": len(self._hosts), "hosts": hosts, "samples": samples,
        }  # fmt: skip


def count_uris(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Count what an action would mean, to its end.

    Args:
        layout: The job.
        arguments: `action`, `urls` and `queues` (expressions).
    """
    action = str(arguments["action"])
    urls, queues = matcher(str(arguments["urls"])), matcher(str(arguments["queues"]))
    with VIEWS.looking(layout, _since(arguments)) as view:
        if action in {"delete", "exclude", "first"}:
            found = _count_waiting(view, urls, queues)
        elif action == "forget":
            found = _count_finished(view, urls, queues)
        else:
            found = _count_queues(view, action, queues)
        return {**found.answer(), "as_of": iso(view.as_of)}


def _count_waiting(view: OpenView, urls: Matcher, queues: Matcher) -> PreviewCount:
    found, names = PreviewCount(), QueueNames(view)
    total = read_totals(view.store).queued
    meant: dict[str, bool] = {}
    for looked, row in enumerate(waiting_rows(view, "", None)):
        if not looked % _TOLD:
            PROGRESS.tell(looked, total)
        uri = _decode_url(row.value)
        name = uri.queue if row.family == "future" else names.name(row.key)
        if name not in meant:
            if len(meant) > ROWS:
                meant.clear()
            meant[name] = queues(name)
        if meant[name] and urls(uri.url):
            found.add(uri.url, name)
    return found


def _count_finished(view: OpenView, urls: Matcher, queues: Matcher) -> PreviewCount:
    from nacre.engine.outcomes import scan_outcomes  # noqa: PLC0415 - rarely needed
    from nacre.uri.surt import surt_authority  # noqa: PLC0415

    found, total = PreviewCount(), read_totals(view.store).finished
    for looked, (_, outcome) in enumerate(scan_outcomes(view.store)):
        if not looked % _TOLD:
            PROGRESS.tell(looked, total)
        name = surt_authority(outcome.url)
        if urls(outcome.url) and queues(name):
            found.add(outcome.url, name)
    return found


def _count_queues(view: OpenView, action: str, queues: Matcher) -> PreviewCount:
    """Queues that an action would change; the URL that was handed out last stands for each."""
    found = PreviewCount()
    states = {
        "unretire": {QueueState.RETIRED},
        "wake": {QueueState.SNOOZED},
        "retire": set(QueueState) - {QueueState.RETIRED},
    }.get(action, set(QueueState))
    for row in scan_queues(view.store):
        if row.state in states and queues(row.name):
            found.add(row.last_queued or row.last_peek or row.name, row.name)
    return found
