"""The fetch steps of the chain: names by DNS, everything else by HTTP."""

from nacre.core.capture import BytesBody, Capture
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.fetch.cookies import CookieJar
from nacre.fetch.digest import digest_label
from nacre.fetch.dns import DnsResolver
from nacre.fetch.http import HttpFetcher
from nacre.fetch.request import FetchRequest
from nacre.fetch.settings import FetchSettings
from nacre.job.cookie_rows import CookieRows
from nacre.job.names import HostAnswers
from nacre.core.clock import Clock
from nacre.uri.parse import host, is_ip
from nacre.wire.date import retry_after


class FetchDns:
    """Looks up the name of a `dns:` URI."""

    name = "fetch-dns"

    def __init__(self, resolver: DnsResolver, clock: Clock) -> None:
        self._resolver = resolver
        self._clock = clock

    def accepts(self, visit: Visit) -> bool:
        """Only `dns:` URIs."""
        return visit.uri.url.startswith("dns:")

    async def process(self, visit: Visit) -> Result:
        """Fetch; the answer itself is in `visit.answer`."""
        began = self._clock.now()
        start = self._clock.monotonic()
        answer = await self._resolver.lookup(visit.uri.url[4:])
        visit.status = answer.status
        visit.error = answer.error
        visit.answer = answer
        visit.mime = "text/dns"
        if answer.status == FetchStatus.DNS_OK:
            text = answer.text.encode()
            visit.capture = Capture(
                url=visit.uri.url,
                request=b"",
                head=b"",
                body=BytesBody(text),
                status=FetchStatus.DNS_OK,
                payload_length=len(text),
                address=answer.server,
                protocol="dns",
                began=round(began * 1e6),
                duration=round((self._clock.monotonic() - start) * 1000),
                block_digest=digest_label(text),
            )
        return Result.FINISH
