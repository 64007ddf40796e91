"""The order in which a world is visited, without sockets and store: fast, for measuring orders.

Links are extracted and judged by the crawler's own code (`extract`, `Novelty`); the queue is its
order in one host: directive, then first come, first served.
"""

from collections.abc import Iterator
from hashlib import blake2b
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.worlds.world import Reply, World
from nacre.core.crawluri import Directive, Outlink, extend_path
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.settings import ExtractSettings
from nacre.extract.speculative import HitRates
from nacre.frontier.novelty import AssessedLink, Novelty, Promise, complexity
from nacre.frontier.policy import directive_of
from nacre.frontier.settings import FrontierSettings
from nacre.uri.canonical import Canonicalizer

_ORIGIN = "http://127.0.0.1:8080"
_FRONTIER, _SETTINGS = FrontierSettings(), ExtractSettings()


class Kept:
    """Replies of a world, kept in files: an application takes its time for each.

    Attributes:
        asked: Replies that the application gave just now, since they were not kept.
    """

    def __init__(self, world: World, folder: Path) -> None:
        self._world = world
        self._folder = folder
        self.asked = 0
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, path: str) -> Reply:
        """Return the reply to a path."""
        file = self._folder / blake2b(path.encode(), digest_size=12).hexdigest()
        if file.is_file():
            return msgspec.msgpack.decode(file.read_bytes(), type=Reply)
        self.asked += 1
        reply = self._world.reply(path)
        file.write_bytes(msgspec.msgpack.encode(reply))
        return reply


class _Waiting(NamedTuple):
    """A URL in the queue; the first four say when it has its turn."""

    directive: int
    level: int
    number: int
    url: str
    hops: str
    context: str
    view: bool


class _Replay:
    """One crawl."""

    def __init__(self, replies: Kept, *, learn: bool) -> None:
        self._kept = replies
        self._learn = learn
        self._novelty, self._rates = Novelty(), HitRates()
        self._canonical = Canonicalizer().canonical
        self._seen: set[str] = set()
        self._queue: list[_Waiting] = []

    def enter(self, url: str, hops: str, context: str, link: AssessedLink | None = None) -> bool:
        key = self._canonical(url)
        if key in self._seen:
            return False
        self._seen.add(key)
        place = int(directive_of(_FRONTIER, hops))
        if link is not None and (place == Directive.NORMAL or link.promise >= Promise.POOR):
            place = Directive.NORMAL + link.promise
        level = complexity(url) if self._learn else 0
        view = link is not None and link.view
        heappush(self._queue, _Waiting(place, level, len(self._seen), url, hops, context, view))
        return True

    def visits(self) -> Iterator[str]:
        while self._queue:
            waiting = heappop(self._queue)
            if self._learn:
                promise, view = self._novelty.place(waiting.url, view=waiting.view)
                place = Directive.NORMAL + promise
                if waiting.directive >= Directive.NORMAL and (place, view) != (
                    waiting.directive,
                    waiting.view,
                ):
                    heappush(self._queue, waiting._replace(directive=place, view=view))
                    continue
            if not self._is_hopeless(waiting.hops, waiting.url, waiting.context):
                path = waiting.url.removeprefix(_ORIGIN)
                yield path
                self._visit(waiting, self._kept.get(path))

    def _is_hopeless(self, hops: str, url: str, context: str) -> bool:
        return hops.endswith("X") and not self._rates.worth_trying(url, context)

    def _visit(self, waiting: _Waiting, reply: Reply) -> None:
        if waiting.hops.endswith("X"):
            self._rates.note(waiting.url, waiting.context, hit=200 <= reply.status < 400)
        entered = []
        outlinks, robots = _read(waiting, reply)
        for link in outlinks:
            hops = extend_path(waiting.hops, link.hop)
            inside = link.url.startswith(_ORIGIN + "/")
            is_known = self._canonical(link.url) in self._seen
            if not inside or is_known or self._is_hopeless(hops, link.url, link.context):
                continue
            met = self._novelty.meet(link.url) if self._learn else None
            if self.enter(link.url, hops, link.context, met) and met is not None:
                entered.append(met)
                self._novelty.entered((met,))
        if self._learn and self._novelty.visited(waiting.url, view=waiting.view):
            body = reply.body if 200 <= reply.status < 300 else b""
            noindex = "noindex" in robots or "none" in robots
            self._novelty.learn(waiting.url, body, entered, view=waiting.view, noindex=noindex)


def _read(waiting: _Waiting, reply: Reply) -> tuple[list[Outlink], frozenset[str]]:
    """Return the links of a page, and its robots directives."""
    if not 200 <= reply.status < 400:
        return [], frozenset()
    headers = [
        (name.encode(), value.replace("{origin}", _ORIGIN).encode())
        for name, value in reply.headers
    ]
    types = [value for name, value in reply.headers if name.lower() == "content-type"]
    document = Document(
        waiting.url, mime=types[0].partition(";")[0].strip() if types else "", headers=headers,
        body=reply.body, status=reply.status, path=waiting.hops, context=waiting.context,
    )  # fmt: skip
    extraction = extract(document, _SETTINGS)
    return extraction.outlinks, extraction.robots


def visits(world: World, replies: Kept, *, learn: bool) -> Iterator[str]:
    """The paths in the order in which they are asked for; without end where the world has none."""
    replay = _Replay(replies, learn=learn)
    replay.enter(_ORIGIN + world.start, "", "")
    return replay.visits()
