"""Replies of services that keep crawlers out, in place of the site. Source: Heritrix 3.17.

`blocking_service` is pure: it decides by status, header fields and the first bytes of a page.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from nacre.annotations import bot_block
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.processor import Processor, Result, Visit
from nacre.engine.chain.entry import REPLY, Entry, Kit
from nacre.extract.document import document_of

_PREFIX: Final = 8_000
"""Bytes of a page that are searched, as in Heritrix."""
_HTML: Final = frozenset(("", "unknown", "text/html", "application/xhtml+xml"))


class BotBlock(Entry):
    """Annotates replies of services that block crawlers: `botblock:SERVICE` in crawl.log.

    The services are Akamai, Anubis, Cloudflare, DataDome and Incapsula.
    """

    heritrix = "BotBlockDetector"
    behind = "fetch-http"
    needs = frozenset((REPLY,))
    processor: Literal["bot-block"] = "bot-block"

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return BotBlockStep()


class BlockEvidence(NamedTuple):
    """Evidence that a reply is of a blocking service.

    Attributes:
        status: Status of the reply.
        header: First value of a field, by its name in lower case; "" if absent.
        page: Whether the beginning of an HTML page contains some bytes.
    """

    status: int
    header: Callable[[bytes], str]
    page: Callable[[bytes], bool]


def blocking_service(reply: BlockEvidence) -> str:
    """Return the service that a reply is of; "" for a reply of the site itself."""
    services = (name for name, is_its in _SERVICES.items() if is_its(reply))
    return next(services, "")


def _is_akamai(reply: BlockEvidence) -> bool:
    return reply.status == 403 and reply.header(b"server") == "AkamaiGHost"


def _is_anubis(reply: BlockEvidence) -> bool:
    if reply.status == 307:
        return "/.within.website/?redir=" in reply.header(b"location")
    cookie = reply.header(b"set-cookie").startswith("techaro.lol-anubis-")
    return reply.status == 200 and cookie and reply.page(b'<script id="anubis_challenge"')


def _is_cloudflare(reply: BlockEvidence) -> bool:
    if reply.header(b"server").lower() != "cloudflare":
        return False
    if reply.header(b"cf-mitigated").lower() == "challenge":
        return True
    return reply.status == 403 and reply.page(b'data-translate="block_headline"')


def _is_datadome(reply: BlockEvidence) -> bool:
    return bool(reply.header(b"x-dd-b")) and reply.header(b"x-datadome").lower() == "protected"


def _is_incapsula(reply: BlockEvidence) -> bool:
    marked = reply.status in {403, 404} and bool(reply.header(b"x-iinfo"))
    return marked and reply.page(b"Incapsula incident ID")


_SERVICES: Final[dict[str, Callable[[BlockEvidence], bool]]] = {
    "akamai": _is_akamai,
    "anubis": _is_anubis,
    "cloudflare": _is_cloudflare,
    "datadome": _is_datadome,
    "incapsula": _is_incapsula,
}


class BotBlockStep:
    """The worker of `BotBlock`."""

    def accepts(self, visit: Visit) -> bool:
        """Replies of HTTP."""
        return visit.capture is not None and visit.status > 0 and visit.uri.url.startswith("http")

    async def process(self, visit: Visit) -> Result:
        """Annotate it."""
        capture = visit.capture
        service = "" if capture is None else blocking_service(_evidence(visit, capture))
        if service:
            visit.annotate(bot_block(service))
        return Result.PROCEED


def _evidence(visit: Visit, capture: Capture) -> BlockEvidence:
    def header(name: bytes) -> str:
        return (capture.header(name) or b"").decode("latin-1").strip()

    def page(words: bytes) -> bool:
        return visit.mime.lower() in _HTML and words in document_of(visit, capture, _PREFIX).body

    return BlockEvidence(visit.status, header, page)
