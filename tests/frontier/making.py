"""Candidates and frontiers for the tests."""

from hashlib import blake2b

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.rows import Rows
from nacre.frontier.settings import FrontierSettings, PolitenessSettings

NOW = 1_700_000_000.0
QUICK = PolitenessSettings(delay=0)


def candidate(host: str, name: str, **fields: object) -> CrawlURI:
    url = f"http://{host}/{name}"
    key = blake2b(url.encode(), digest_size=16).digest()
    known = {"path": "L", "via": f"http://{host}/", "directive": int(Directive.NORMAL)}
    return CrawlURI(url, key, f"{host},", **(known | fields))  # type: ignore[arg-type]  # any field


def frontier(
    rows: Rows,
    settings: FrontierSettings | None = None,
    politeness: PolitenessSettings = QUICK,
    now: float = NOW,
    mono: float = 0.0,
) -> Frontier:
    return Frontier(rows, fixed(settings or FrontierSettings()), fixed(politeness), now, mono)


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
