"""A small archive, and the replay server over it, asked in process."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import httpx

from nacre.catalogue.holdings import open_holding
from nacre.fleet.requester import NOBODY, Requester
from nacre.ops.operation import Role
from nacre.replay_server.access import COOKIE, ReplayAccess, ReplayAudience
from nacre.replay_server.app import ReplayApp
from nacre.replay_server.parts import ReplayParts
from nacre.replay_server.shelf import HoldingCache, OpenedHolding, ShelfItem
from nacre.replay_server.sites import ReplaySite
from tests.replay.archives import Archive, record

FIRST, SECOND = "20261120100000", "20261121100000"
KEY = "key-of-anna"


def reply(body: bytes, media: str = "text/html", status: str = "200 OK", *fields: str) -> bytes:
    """A reply as captured."""
    head = [f"HTTP/1.1 {status}", f"Content-Type: {media}", *fields, f"Content-Length: {len(body)}"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def date_of(timestamp: str) -> str:
    """WARC-Date of 14 digits."""
    t = timestamp
    return f"{t[:4]}-{t[4:6]}-{t[6:8]}T{t[8:10]}:{t[10:12]}:{t[12:]}Z"


def new_archive(root: Path, pages: dict[str, bytes], timestamp: str = FIRST) -> Archive:
    """A job with captures: each URL with its reply."""
    archive = Archive(root)
    archive.add(*(record(block, url=url, date=date_of(timestamp)) for url, block in pages.items()))
    return archive


class Now:
    """A clock that stands."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


class JobShelf:
    """Some jobs, of which each user sees those that are named."""

    def __init__(self, jobs: dict[str, Path], seen: dict[str, set[str]]) -> None:
        self._jobs = jobs
        self._seen = seen
        self._cache = HoldingCache()

    def items(self, identity: Requester) -> list[ShelfItem]:
        holdings = {name: open_holding([root]) for name, root in self._jobs.items()}
        return [
            ShelfItem(holding.label, name, name)
            for name, holding in holdings.items()
            if name in self._seen.get(identity.name, ())
        ]

    def find(self, name: str, identity: Requester) -> ShelfItem | None:
        items = self.items(identity)
        return next((item for item in items if name in (item.label, item.name)), None)

    def open(self, item: ShelfItem) -> OpenedHolding:
        return self._cache.open(item, [self._jobs[item.name]])


class Server:
    """A replay server in process, with users anna and ben."""

    def __init__(
        self, jobs: dict[str, Path], site: ReplaySite | None = None, *, cors: bool = False,
        console: str = "",
    ) -> None:  # fmt: skip
        self.users = {name: Requester(name, Role.VIEWER, "session") for name in ("anna", "ben")}
        self.seen = {"anna": set(jobs), "ben": set(list(jobs)[1:])}
        self.now = Now()
        audience = ReplayAudience(
            lambda subject: self.users.get(subject, NOBODY),
            lambda key: "anna" if key == KEY else "",
        )
        self.access = ReplayAccess(audience, self.now)
        self.site = site or ReplaySite(port=8411)
        shelf = JobShelf(jobs, self.seen)
        parts = ReplayParts(
            self.site, self.access, shelf, console, "crawls/demo", allows_origins=cors
        )
        self.app = ReplayApp(parts)
        self.labels = {name: open_holding([root]).label for name, root in jobs.items()}

    def cookie(self, user: str = "anna", *jobs: str) -> dict[str, str]:
        """The header of a session of some jobs; of all, if none is named."""
        cookie = ""
        for job in jobs or self.labels:
            label = self.labels[job]
            cookie = self.access.trade(self.access.ticket(user, label), label, cookie)
        return {"cookie": f"{COOKIE}={cookie}"}

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {KEY}"}

    def content(self, job: str) -> str:
        """Host of the pages of a job."""
        return f"j{self.labels[job]}.replay.localhost:8411"

    def ask(
        self, host: str, target: str, fields: dict[str, str] | None = None, method: str = "GET",
        content: bytes = b"", more: list[tuple[str, str]] | None = None,
    ) -> httpx.Response:  # fmt: skip
        """Ask it; the target is sent as it is, `more` fields in place of the host."""
        sent = more or [("host", host), *(fields or {}).items()]

        async def one() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport) as client:
                url = httpx.URL("http://replay.test", raw_path=target.encode())
                return await client.request(method, url, headers=sent, content=content)

        # In a thread: the driver of a browser has the event loop of this one.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(anyio.run, one).result()

    def view(self, target: str, fields: dict[str, str] | None = None) -> httpx.Response:
        """Ask the viewer."""
        return self.ask("replay.localhost:8411", target, fields)
