"""The fetch steps of the chain: names by DNS, everything else by HTTP.

The cookie jar in the store: one row per domain, so that it survives a crash.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from nacre.annotations import COOKIE_WALL
from nacre.config.effective import Effective
from nacre.core.capture import LONGEST_TYPE, BytesBody, Capture
from nacre.core.clock import Clock
from nacre.core.processor import Result, Visit
from nacre.core.rendered import BrowserRequest
from nacre.core.status import FetchStatus
from nacre.engine.chain.entry import CHECKS, NAMES, REPLY, Entry
from nacre.engine.limits import Pacer
from nacre.engine.prerequisites import HostAnswers
from nacre.errors import ConfigError
from nacre.fetch.cookie import Cookie
from nacre.fetch.cookie_jar import CookieJar
from nacre.fetch.digest import digest_capture
from nacre.fetch.dns import DnsResolver
from nacre.fetch.http import HttpFetcher
from nacre.fetch.identity import RequestSigner
from nacre.fetch.request import Check, FetchRequest
from nacre.fetch.settings import FetchSettings
from nacre.history.dedup import History
from nacre.machine.clock import machine_clock
from nacre.machine.local_files import close_to_others, read_ordinary
from nacre.scope.scope import Gate
from nacre.scope.subject import head_facts, subject_of_link
from nacre.store.store import Store
from nacre.uri.parse import host, is_ip
from nacre.wire.date import retry_after

_FAMILY = "cookies"
_LONGEST = 64_000_000
"""Bytes of a file of cookies."""


class CookieRows:
    """Keeps the rows of a jar; joins the open commit group."""

    def __init__(self, store: Store, jar: CookieJar) -> None:
        self._store = store
        self._jar = jar

    def load(self, now: float) -> None:
        """Fill the jar from the store."""
        for _, row in self._store.scan(_FAMILY, b""):
            self._jar.load_row(row, now)

    def load_file(self, path: Path, now: float) -> list[str]:
        """Fill the jar from a Netscape file; return the problems, one per invalid line.

        Raises:
            ConfigError: It cannot be read.
        """
        try:
            text = read_ordinary(path, _LONGEST).decode("utf-8", "surrogateescape")
        except OSError as error:
            raise ConfigError(
                f"cookies.load_file: {path} cannot be read: {error.strerror}"
            ) from error
        problems = self._jar.load(text, now)
        self.keep(self._jar)
        return problems

    def save_file(self, path: Path) -> str:
        """Write all cookies to a Netscape file, for its owner only; "" or why it failed."""
        try:
            path.touch(mode=0o600)
            close_to_others(path)
            path.write_text(self._jar.save(), "utf-8", "surrogateescape")
        except OSError as error:
            return f"cookies.save_file: {path} cannot be written: {error.strerror}"
        return ""

    def keep(self, changed: Iterable[Cookie]) -> None:
        """Write the rows of the domains that changed."""
        for domain in {cookie.domain for cookie in changed}:
            row = self._jar.row(domain)
            if row:
                self._store.put(_FAMILY, domain.encode(), row)
            else:
                self._store.delete(_FAMILY, domain.encode())


_PROCEED = Result.PROCEED  # the way to a member of an enumeration is long

UNCONDITIONAL = "_unconditional"
"""Key in a URI's heritable data: it is requested without validators."""


FRESH = "_fresh"
"""Key in a URI's heritable data: number of fetches on separate connections, if it needs one."""


class FetchDns(Entry):
    """Looks up the name of a `dns:` URI. Settings: `dns`."""

    heritrix = "FetchDNS"
    gives = frozenset((NAMES,))
    processor: Literal["fetch-dns"] = "fetch-dns"


class FetchDnsStep:
    """Looks up the name of a `dns:` URI."""

    def __init__(self, resolver: DnsResolver, clock: Clock) -> None:
        self._resolver = resolver
        self._clock = clock

    def accepts(self, visit: Visit) -> bool:
        """Only `dns:` URIs."""
        url = visit.uri.url
        return url.startswith("dns:")

    async def process(self, visit: Visit) -> Result:
        """Resolve the name; an answer of a server is a capture."""
        began, start = self._clock.now(), self._clock.monotonic()
        answer = await self._resolver.lookup(visit.uri.url[4:])
        visit.answered(
            answer.status, answer.error, conclusive=answer.certain, starved=answer.starved
        )
        visit.resolved(tuple(answer.addresses), answer.ttl)
        if answer.status != FetchStatus.DNS_OK:
            return Result.FINISH
        body = BytesBody(answer.text.encode())
        digests = digest_capture(b"", body, (), chunked=False)
        capture = Capture(
            url=visit.uri.url,
            request=b"",
            head=b"",
            body=body,
            status=FetchStatus.DNS_OK,
            payload_length=body.length,
            address=answer.server,
            protocol="dns",
            began=round(began * 1e6),
            duration=round((self._clock.monotonic() - start) * 1000),
            block_digest=digests.block,
            payload_digest=digests.payload,
        )
        visit.received(capture, "text/dns")
        return Result.FINISH


class FetchHttp(Entry):
    """Fetches http and https URIs. Settings: `fetch`, `network`, `cookies`."""

    heritrix = "FetchHTTP"
    gives = frozenset((REPLY,))
    needs = frozenset((CHECKS,))
    processor: Literal["fetch-http"] = "fetch-http"


class FetchHttpStep:
    """Fetches http and https URIs: conditional where the URL is known, with cookies and referer."""

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        fetcher: HttpFetcher,
        settings: Effective[FetchSettings],
        *,
        midfetch: Effective[Gate | None],
        keeps_cookies: Effective[bool],
        signers: Effective[RequestSigner | None],
        answers: HostAnswers,
        history: History,
        conditional: bool,
        cookies: CookieJar,
        cookie_rows: CookieRows,
        pacer: Pacer,
        clock: Clock,
    ) -> None:
        self._pacer = pacer
        self._fetcher = fetcher
        self._settings = settings
        self._checks = settings.then(_body_check)
        self._keeps_cookies = keeps_cookies
        self._signers = signers
        self._answers = answers
        self._history = history
        self._conditional = conditional
        self._cookies = cookies
        self._cookie_rows = cookie_rows
        self._clock = clock
        self._machine = machine_clock(clock)
        self._midfetch = midfetch

    def accepts(self, visit: Visit) -> bool:
        """Only http and https URIs."""
        url = visit.uri.url
        return url.startswith(("http:", "https:"))

    async def process(self, visit: Visit) -> Result:
        """Fetch it, and set the status of the visit."""
        now = self._clock.now()
        result = await self._fetcher.fetch(self._request(visit, now), self._settings[visit.overlay])
        capture = result.capture
        starved = capture is None and result.starved
        visit.answered(result.status, result.error, starved=starved)
        visit.annotations.extend(result.annotations)
        if capture is None:
            return Result.FINISH
        self._receive(visit, capture)
        return _PROCEED

    def _request(self, visit: Visit, now: float) -> FetchRequest:
        if visit.request is not None:
            return self._browser_request(visit, visit.request)
        uri = visit.uri
        addresses = self._addresses(uri.url)
        history = None if uri.is_prerequisite else self._history.get(uri.url)
        visit.recall(history)
        plain = UNCONDITIONAL in uri.heritable or COOKIE_WALL in uri.annotations
        last = history if history and history.date and self._conditional and not plain else None
        return FetchRequest(
            url=uri.url,
            addresses=addresses,
            method=uri.method,
            body=uri.body,
            headers=uri.headers,
            referer="" if uri.is_prerequisite else uri.via,
            cookie=self._cookies.header(uri.url, now) if self._keeps_cookies[visit.overlay] else "",
            etag=last.etag if last else b"",
            last_modified=last.last_modified if last else b"",
            check=None if uri.is_prerequisite else self._check(visit, addresses),
            host_rate=self._pacer.host_rate(visit.overlay),
            fresh=FRESH in uri.heritable,
            signer=self._signers[visit.overlay],
        )

    def _addresses(self, url: str) -> tuple[str, ...]:
        name = host(url)
        if is_ip(name):
            return (name.strip("[]"),)
        # The preconditions found it valid; its time may have run out since.
        answer = self._answers.latest(name)
        return answer.addresses if answer else ()

    def _browser_request(self, visit: Visit, request: BrowserRequest) -> FetchRequest:
        """Return the request of a browser: its own header lines, cookies too.

        If the archive has a reply for the page (`Visit.stored`), the server is asked whether it is
        current.
        """
        addresses = self._addresses(visit.uri.url)
        history = self._history.latest(visit.uri.url) if request.method == "GET" else None
        visit.recall(history)
        headers = [(_text(name), _text(value)) for name, value in request.headers]
        if visit.stored is not None and history is not None:
            if history.etag:
                headers.append(("If-None-Match", _text(history.etag)))
            if history.last_modified:
                headers.append(("If-Modified-Since", _text(history.last_modified)))
        return FetchRequest(
            url=visit.uri.url,
            addresses=addresses,
            method=request.method,
            body=request.body,
            headers=tuple(headers),
            check=self._check(visit, addresses),
            host_rate=self._pacer.host_rate(visit.overlay),
            tap=visit.reply,
            only_headers=True,
            upgrade="websocket" if request.resource == "websocket" else "",
            # In a recording a person's own browser asks, and not the crawler.
            signer=self._signers[visit.overlay] if visit.page_id else None,
        )

    def _check(self, visit: Visit, addresses: Sequence[str]) -> Check | None:
        """Return the check between head and body; None: there is none."""
        gate, check = self._midfetch[visit.overlay], self._checks[visit.overlay]
        if gate is None:
            return check
        address = addresses[0] if addresses else ""

        def wants(status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
            if check is not None and not check(status, headers):
                return False
            return gate.opens(subject_of_link(visit, head_facts(visit, address, status, headers)))

        return wants

    def _receive(self, visit: Visit, capture: Capture) -> None:
        """Read the head, set the values of the visit from it, and store the cookies."""
        mime, wait, sets_cookies = "", None, False
        set_cookies: list[bytes] = []
        for name, value in capture.headers:
            size = len(name)
            if size == 12 and name.lower() == b"content-type":
                mime = mime or media_type(value[:LONGEST_TYPE])
            elif size == 10 and name.lower() == b"set-cookie":
                set_cookies.append(value)
            elif size == 11 and name.lower() == b"retry-after":
                wait = retry_after(value.decode("latin-1"), self._machine.now())
        if set_cookies and self._keeps_cookies[visit.overlay]:
            now = self._clock.now()
            changed = self._cookies.store(visit.uri.url, set_cookies, now)
            sets_cookies = bool(changed)
            self._cookie_rows.keep(changed)
        visit.received(capture, mime, retry_after=wait, sets_cookies=sets_cookies)


def _text(data: bytes) -> str:
    """Return a part of a header line as text from which the same bytes are made again."""
    return data.decode("utf-8", "surrogateescape")


def _body_check(settings: FetchSettings) -> Check | None:
    """The mid-fetch rule: False abandons a body of a type that is not wanted. None wants all."""
    skipped = tuple(kind.lower() for kind in settings.skip_types)

    def wants_body(_: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        for name, value in headers:
            if name.lower() == b"content-type":
                return not media_type(value[:LONGEST_TYPE]).startswith(skipped)
        return True

    return wants_body if skipped else None


@lru_cache(maxsize=256)
def media_type(value: bytes) -> str:
    """Return the media type in a Content-Type, lower case, without parameters."""
    return value.partition(b";")[0].strip().lower().decode("latin-1")
