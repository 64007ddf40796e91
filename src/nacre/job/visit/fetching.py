"""The fetch steps of the chain: names by DNS, everything else by HTTP."""

from collections.abc import Sequence
from functools import lru_cache

from nacre.config.effective import Effective
from nacre.core.capture import LONGEST_TYPE, BytesBody, Capture
from nacre.core.clock import Clock
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.fetch.cookies import CookieJar
from nacre.fetch.digest import digest_capture
from nacre.fetch.dns import DnsResolver
from nacre.fetch.http import HttpFetcher
from nacre.fetch.request import Check, FetchRequest
from nacre.fetch.settings import FetchSettings
from nacre.history.crawldb import History
from nacre.job.admission.cookiewalls import AGAIN
from nacre.job.visit.cookie_rows import CookieRows
from nacre.job.visit.names import HostAnswers
from nacre.job.visit.pacer import Pacer
from nacre.scope.rule import Gate
from nacre.scope.subject import asked_of, head_facts
from nacre.uri.parse import host, is_ip
from nacre.wire.date import retry_after

_PROCEED = Result.PROCEED  # the way to a member of an enumeration is long

UNCONDITIONAL = "_unconditional"
"""Key in a URI's heritable data: it is asked for without validators."""


FRESH = "_fresh"
"""Key in a URI's heritable data: it is asked for on a connection of its own; how often it was."""


class FetchDns:
    """Looks up the name of a `dns:` URI."""

    def __init__(self, resolver: DnsResolver, clock: Clock) -> None:
        self._resolver = resolver
        self._clock = clock

    def accepts(self, visit: Visit) -> bool:
        """Only `dns:` URIs."""
        return visit.uri.url.startswith("dns:")

    async def process(self, visit: Visit) -> Result:
        """Look it up; what a server answered is a capture."""
        began, start = self._clock.now(), self._clock.monotonic()
        answer = await self._resolver.lookup(visit.uri.url[4:])
        visit.status, visit.error = answer.status, answer.error
        visit.conclusive, visit.starved = answer.certain, answer.starved
        visit.addresses, visit.ttl = tuple(answer.addresses), answer.ttl
        if answer.status != FetchStatus.DNS_OK:
            return Result.FINISH
        body = BytesBody(answer.text.encode())
        digests = digest_capture(b"", body, (), chunked=False)
        visit.mime = "text/dns"
        visit.capture = Capture(
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
        return Result.FINISH


class FetchHttp:
    """Fetches http and https URIs: conditional where the URL is known, with cookies and referer."""

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        fetcher: HttpFetcher,
        settings: Effective[FetchSettings],
        *,
        midfetch: Effective[Gate | None],
        keeps_cookies: Effective[bool],
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
        self._answers = answers
        self._history = history
        self._conditional = conditional
        self._cookies = cookies
        self._cookie_rows = cookie_rows
        self._clock = clock
        self._midfetch = midfetch

    def accepts(self, visit: Visit) -> bool:
        """Only http and https URIs."""
        return visit.uri.url.startswith(("http:", "https:"))

    async def process(self, visit: Visit) -> Result:
        """Fetch it; the status says what came of it."""
        now = self._clock.now()
        result = await self._fetcher.fetch(self._request(visit, now), self._settings[visit.overlay])
        visit.status, visit.error = result.status, result.error
        visit.annotations.extend(result.annotations)
        capture = result.capture
        if capture is None:
            visit.starved = result.starved
            return Result.FINISH
        visit.capture = capture
        self._read_head(visit, capture.headers)
        return _PROCEED

    def _request(self, visit: Visit, now: float) -> FetchRequest:
        uri = visit.uri
        name = host(uri.url)
        if is_ip(name):
            addresses: tuple[str, ...] = (name.strip("[]"),)
        else:
            # The preconditions found it valid; its time may have run out since.
            answer = self._answers.latest(name)
            addresses = answer.addresses if answer else ()
        known = None if uri.is_prerequisite else self._history.get(uri.url)
        visit.history = known
        plain = UNCONDITIONAL in uri.heritable or AGAIN in uri.annotations
        last = known if known and known.date and self._conditional and not plain else None
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
        )

    def _check(self, visit: Visit, addresses: Sequence[str]) -> Check | None:
        """What is asked between head and body; None when nothing is."""
        gate, wanted = self._midfetch[visit.overlay], self._checks[visit.overlay]
        if gate is None:
            return wanted
        address = addresses[0] if addresses else ""

        def wants(status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
            if wanted is not None and not wanted(status, headers):
                return False
            return gate.opens(asked_of(visit, head_facts(visit, address, status, headers)))

        return wants

    def _read_head(self, visit: Visit, headers: Sequence[tuple[bytes, bytes]]) -> None:
        set_cookies: list[bytes] = []
        for name, value in headers:
            size = len(name)
            if size == 12 and name.lower() == b"content-type":
                visit.mime = visit.mime or _media_type(value[:LONGEST_TYPE])
            elif size == 10 and name.lower() == b"set-cookie":
                set_cookies.append(value)
            elif size == 11 and name.lower() == b"retry-after":
                visit.retry_after = retry_after(value.decode("latin-1"), self._clock.now())
        if set_cookies and self._keeps_cookies[visit.overlay]:
            now = self._clock.now()
            changed = self._cookies.store(visit.uri.url, set_cookies, now)
            visit.sets_cookies = bool(changed)
            self._cookie_rows.keep(changed)


def _body_check(settings: FetchSettings) -> Check | None:
    """The mid-fetch rule: False abandons a body of a type that is not wanted. None wants all."""
    skipped = tuple(kind.lower() for kind in settings.skip_types)

    def wants_body(_: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        for name, value in headers:
            if name.lower() == b"content-type":
                return not _media_type(value[:LONGEST_TYPE]).startswith(skipped)
        return True

    return wants_body if skipped else None


@lru_cache(maxsize=256)
def _media_type(value: bytes) -> str:
    return value.partition(b";")[0].strip().lower().decode("latin-1")
