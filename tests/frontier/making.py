"""Candidates and frontiers for the tests."""

from collections.abc import Mapping
from hashlib import blake2b

from msgspec.structs import replace

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.dispatcher import Placement
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.rows import RowStore
from nacre.frontier.settings import FrontierSettings, PolitenessSettings

NOW = 1_700_000_000.0
QUICK = PolitenessSettings(delay=0)


def candidate(host: str, name: str, **fields: object) -> CrawlURI:
    url = f"http://{host}/{name}"
    key = blake2b(url.encode(), digest_size=16).digest()
    known = {"path": "L", "via": f"http://{host}/", "directive": int(Directive.NORMAL)}
    return CrawlURI(url, key, f"{host},", **(known | fields))  # type: ignore[arg-type]  # any field


def frontier(
    rows: RowStore,
    settings: FrontierSettings | None = None,
    politeness: PolitenessSettings = QUICK,
    now: float = NOW,
    mono: float = 0.0,
    *,
    placement: Placement | None = None,
    max_wait: float = 0.0,
) -> Frontier:
    chosen = fixed(settings or FrontierSettings())
    return Frontier(
        rows, chosen, fixed(politeness), now, mono, placement=placement, max_wait=max_wait
    )


class Moved:
    """A placement that moves every URI to one queue, or says a directive by its URL.

    Args:
        queue: The queue; "" leaves each where it is.
        directives: By the last letter of a URL; the others keep theirs.
    """

    def __init__(self, queue: str = "", directives: Mapping[str, Directive] | None = None) -> None:
        self.queue = queue
        self._directives = directives or {}

    @property
    def moves(self) -> bool:
        return bool(self.queue)

    def queue_of(self, uri: CrawlURI) -> str:
        return self.queue or uri.queue

    def place(self, uri: CrawlURI) -> CrawlURI:
        directive = self._directives.get(uri.url[-1], uri.directive)
        return uri if directive == uri.directive else replace(uri, directive=int(directive))


def drain(front: Frontier, mono: float = 0.0, delay: float = 0.0) -> list[str]:
    """Fetch all with success, waiting as told; the URLs in order."""
    order = []
    while True:
        uri = front.next(NOW + mono, mono)
        if uri is not None:
            order.append(uri.url)
            front.finished(uri, Attempt(200, delay), mono)
            continue
        wait = front.next_wake(mono)
        if wait is None:
            return order
        mono += max(wait, 0.001)
