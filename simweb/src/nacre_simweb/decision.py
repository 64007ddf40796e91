"""The decision-only mode: a policy on the world's events, without HTTP, bytes and WARCs.

It makes the server's log and the list of captures that the real crawler would leave, some hundred
times faster; a test holds them against each other.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from urllib.parse import urlsplit

from nacre.extract.settings import ExtractSettings
from nacre_simweb.application import API, shown_document
from nacre_simweb.kept import KeptCapture, KeptCaptures
from nacre_simweb.page import SimulatedLink
from nacre_simweb.policy import Policy, VisitOutcome, WantedVisit
from nacre_simweb.reply import SimulatedReply
from nacre_simweb.servelog import Row
from nacre_simweb.validators import Request
from nacre_simweb.world import World

Looks = dict[tuple[str, str, str], tuple[int, tuple[SimulatedLink, ...]]]
"""Length and links of bodies, by URL, kind and mark."""


class Decisions:
    """Visits a world without fetching.

    Args:
        world: The world.
        looks: Lengths and links of bodies, kept for others who visit the same world; None for
            its own.

    Attributes:
        archive: What a crawler would have left.
    """

    def __init__(self, world: World, looks: Looks | None = None) -> None:
        self._world = world
        self._time = 0.0
        self._asked: Counter[str] = Counter()
        self._stamps: dict[str, tuple[str, str]] = {}
        self._stored: set[str] = set()
        self._pages: Looks = {} if looks is None else looks
        self.archive = KeptCaptures([], [], [])

    async def step(self, time: float) -> None:
        """See `Fetcher`."""
        self._time = time

    async def visit(self, visits: Sequence[WantedVisit], policy: Policy) -> list[VisitOutcome]:
        """See `Fetcher`."""
        return [self._visit(wanted, policy) for wanted in visits]

    def _visit(self, wanted: WantedVisit, policy: Policy) -> VisitOutcome:
        url = wanted.url
        asks = policy.conditional and not wanted.fresh
        nonce = self._asked[url]
        self._asked[url] += 1
        etag, modified = self._stamps.get(url, ("", "")) if asks else ("", "")
        reply = self._world.respond(url, self._time, Request(nonce, etag, modified))
        if reply.resource.kind == "shell":
            return self._render(url, reply, nonce, policy)
        length, links = self._look(reply)
        digest = "" if reply.status == 0 else _name(reply)
        resource, same = reply.resource, reply.status == 304
        row = Row(
            self._time,
            reply.url,
            resource.kind,
            reply.status,
            resource.version,
            nonce,
            bool(etag or modified),
            0 if same else length,
            digest,
            self._time,
        )
        self.archive.rows.append(row)
        self._keep(row, reply, policy)
        return VisitOutcome(
            url,
            self._world.epoch(self._time),
            reply.status,
            "" if same else digest,
            resource.mime.partition(";")[0],
            reply.header("ETag"),
            reply.header("Last-Modified"),
            row.length,
            () if same else links,
            partial(_body, reply),
        )

    def _render(self, url: str, shell: SimulatedReply, nonce: int, policy: Policy) -> VisitOutcome:
        """Run a page as a browser does: its shell, a 304 too, then the reply of the API.

        The script is answered from the archive. The row of the page has what the browser shows.
        """
        parts = urlsplit(url)
        api = self._world.respond(
            f"{parts.scheme}://{parts.netloc}{API}{parts.path or '/'}", self._time, Request(nonce)
        )
        length, links = self._look(api)
        resource, name = api.resource, _name(api)
        row = Row(
            *(self._time, shell.url, resource.kind, 200, resource.version, nonce),
            *(False, length, name, self._time),
        )
        request = Row(
            *(self._time, api.url, "embed", api.status, -1, nonce),
            *(False, 0, name, self._time),
        )
        self.archive.rows.extend((row, request))
        self._keep(row, api, policy)
        return VisitOutcome(
            *(url, self._world.epoch(self._time), 200, f"dom:{name}", "text/html"),
            *("", "", length, links, lambda: shown_document(api.text)),
            rendered=True,
        )

    def _look(self, reply: SimulatedReply) -> tuple[int, tuple[SimulatedLink, ...]]:
        """Length and links of the body; remembered where noise does not touch them."""
        resource = reply.resource
        if resource.size >= 0:
            return resource.size, ()
        if not resource.stable:
            return _measured(reply)
        key = (reply.url, resource.kind, resource.mark)
        look = self._pages.get(key)
        if look is None:
            look = self._pages[key] = _measured(reply)
        return look

    def _keep(self, row: Row, reply: SimulatedReply, policy: Policy) -> None:
        """Store a reply as the crawler would, with its history."""
        if row.status in {0, 503, 429}:
            return
        full = row.status != 304
        if row.status == 200 and row.length:
            stamps = reply.header("ETag"), reply.header("Last-Modified")
            self._stamps[row.url] = stamps
            full = not policy.dedup or row.digest not in self._stored
            self._stored.add(row.digest)
        self.archive.kept.append(KeptCapture(row, full, row.length if full else 0))


_BOUNDS = ExtractSettings()


def _measured(reply: SimulatedReply) -> tuple[int, tuple[SimulatedLink, ...]]:
    """Length of the body, and as many of its links as the crawler keeps of one document."""
    links = reply.page.links
    mapped = bool(links) and links[0].hop == "M"
    most = _BOUNDS.max_sitemap_links if mapped else _BOUNDS.max_outlinks
    return len(reply.entity), links[:most]


def _name(reply: SimulatedReply) -> str:
    return blake2b(repr(reply.identity).encode(), digest_size=12).hexdigest()


def _body(reply: SimulatedReply) -> bytes:
    return reply.text
