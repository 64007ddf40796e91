"""Previews of frontier changes: how many URIs or queues a change affects, and samples of them."""

from collections import Counter
from itertools import islice
from typing import Final

import msgspec

from nacre.console.frontier.tree import REPORTED
from nacre.console.frontier.uris import QueueNames, queued_rows
from nacre.core.clock import iso
from nacre.frontier.queue_cache import scan_queues
from nacre.frontier.queues import QueueState, read_totals
from nacre.machine.layout import Layout
from nacre.ops.fields import LineText, ShortText
from nacre.scope.patterns.matching import Matcher, matcher
from nacre.uri.surt import queue_host
from nacre.web.workers.task import PROGRESS, reader_task
from nacre.web.workers.views import ROWS, VIEWS, OpenView

SAMPLES: Final = 20
"""URIs that a preview shows."""


class PreviewWish(msgspec.Struct, frozen=True):
    """A change, and the choice of its URIs, to be counted before it is made.

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
    """The URIs that a change affects.

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


class PreviewCount:
    """Counts the URIs that a change affects, their queues, and collects samples.

    Samples are of as many queues as possible: the first of each queue, and then more.
    """

    def __init__(self) -> None:
        self._number = 0
        self._hosts: Counter[str] = Counter()
        self._first: dict[str, list[str]] = {}

    def add(self, url: str, queue: str) -> None:
        """Count a URI."""
        self._number += 1
        self._hosts[queue] += 1
        urls = self._first.get(queue)
        if urls is None:
            if len(self._first) < SAMPLES:
                self._first[queue] = [url]
        elif len(urls) < SAMPLES:
            urls.append(url)

    def preview(self, as_of: str) -> FrontierPreview:
        """Return the counts, the queues with most, and the samples.

        Args:
            as_of: The moment of the data.
        """
        lists = list(self._first.values())
        rounds = (urls[at] for at in range(SAMPLES) for urls in lists if at < len(urls))
        hosts = tuple(
            PreviewHost(name, queue_host(name), number)
            for name, number in self._hosts.most_common(SAMPLES)
        )
        samples = tuple(islice(rounds, SAMPLES))
        return FrontierPreview(self._number, len(self._hosts), hosts, samples, as_of)


@reader_task("count")
def count_affected(layout: Layout, request: PreviewWish) -> FrontierPreview:
    """Count the URIs or queues that a change affects, to the end of the store.

    Raises:
        ConfigError: An expression cannot be read.
    """
    urls, queues = matcher(request.urls), matcher(request.queues)
    with VIEWS.looking(layout) as view:
        if request.action in {"delete", "exclude", "first"}:
            counted = _count_queued(view, urls, queues)
        elif request.action == "forget":
            counted = _count_finished(view, urls, queues)
        else:
            counted = _count_queues(view, request.action, queues)
        return counted.preview(iso(view.as_of))


class _QueuedUrl(msgspec.Struct, gc=False, rename={"url": "u", "queue": "q", "via": "v"}):
    """The fields of a URI's row that a preview needs."""

    url: str
    queue: str = ""
    via: str = ""


_decode_url = msgspec.msgpack.Decoder(_QueuedUrl).decode


def _count_queued(view: OpenView, urls: Matcher, queues: Matcher) -> PreviewCount:
    counted, names = PreviewCount(), QueueNames(view)
    total = read_totals(view.store).queued
    is_matched: dict[str, bool] = {}
    for number, row in enumerate(queued_rows(view)):
        if not number % REPORTED:
            PROGRESS.tell(number, total)
        uri = _decode_url(row.value)
        name = uri.queue if row.family == "future" else names.name(row.key)
        if name not in is_matched:
            if len(is_matched) > ROWS:
                is_matched.clear()
            is_matched[name] = queues(name)
        if is_matched[name] and urls(uri.url):
            counted.add(uri.url, name)
    return counted


def _count_finished(view: OpenView, urls: Matcher, queues: Matcher) -> PreviewCount:
    from nacre.engine.outcomes import scan_outcomes  # noqa: PLC0415 - rarely needed
    from nacre.uri.surt import surt_authority  # noqa: PLC0415

    counted, total = PreviewCount(), read_totals(view.store).finished
    for number, (_, outcome) in enumerate(scan_outcomes(view.store)):
        if not number % REPORTED:
            PROGRESS.tell(number, total)
        name = surt_authority(outcome.url)
        if urls(outcome.url) and queues(name):
            counted.add(outcome.url, name)
    return counted


def _count_queues(view: OpenView, action: str, queues: Matcher) -> PreviewCount:
    """Count the queues that a change affects; the URL of a queue is the newest one."""
    counted = PreviewCount()
    states = {
        "unretire": {QueueState.RETIRED},
        "wake": {QueueState.SNOOZED},
        "retire": set(QueueState) - {QueueState.RETIRED},
    }.get(action, set(QueueState))
    for row in scan_queues(view.store):
        if row.state in states and queues(row.name):
            counted.add(row.last_queued or row.last_peek or row.name, row.name)
    return counted
