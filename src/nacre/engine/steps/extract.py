"""The extraction: decodes the fetched content within its limits, and finds its links.

Many replies can be ready at once. If all of them were parsed and stored in one turn of the event
loop, timers, connections and commands would wait for the last. So some visits continue in one turn,
and the others in the next (`Turnstile`). Large documents are parsed in another process.
"""

import asyncio
from collections import OrderedDict, deque
from typing import Literal

import msgspec

from nacre.annotations import PARSER_FAILED, PARSER_TIMEOUT, dropped_outlinks
from nacre.config.effective import Effective
from nacre.core.charsets import COMMON
from nacre.core.processor import Result, Visit
from nacre.engine.chain.entry import LINKS, REPLY, Entry
from nacre.engine.helper_process import HelperFailedError, HelperProcess
from nacre.engine.rights_book import RightsPlan, add_policy_files
from nacre.engine.steps import parser_main
from nacre.engine.steps.parser_main import ParseJob
from nacre.extract.document import Document, Extraction, document_of
from nacre.extract.settings import ExtractSettings
from nacre.uri.parse import authority

_PROCEED = Result.PROCEED  # the way to a member of an enumeration is long

LARGE = 1_000_000
"""Documents above this go to the helper process, bytes."""


class Extract(Entry):
    """Finds the outlinks of fetched documents. Settings: `extract`."""

    heritrix = "ExtractorHTML"
    gives = frozenset((LINKS,))
    needs = frozenset((REPLY,))
    processor: Literal["extract"] = "extract"


ROOM = 300_000
"""Work of one turn, in bytes of documents: about 4 ms, and the rest of the last document."""
VISIT = 30_000
"""Cost of a visit beside its document, in bytes."""


class Turnstile:
    """Lets visits through until a turn of the loop has no room left, first come, first served.

    Who has to wait costs two wake-ups more, 1 % of a visit; so there is room for most.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._whole = room
        self._room = room
        self._armed = False
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()

    async def enter(self, size: int) -> None:
        """Continue at once, or in a later turn; `size` is the size of the document, bytes."""
        if self._room > 0 and not self._waiting:
            self._room -= VISIT + size
            self._arm()
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, size))
        self._arm()
        await future

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Begin a new turn: the next documents may be read."""
        self._armed = False
        self._room = self._whole
        while self._waiting and self._room > 0:
            future, size = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._room -= VISIT + size
        if self._waiting:
            self._arm()


_DECLARED = frozenset(("bom", "header", "meta", "xml"))
_HOSTS = 4096


class HostCharsets:
    """The charsets that the pages of a host declare, for the hosts that were met last."""

    def __init__(self, limit: int = _HOSTS) -> None:
        self._limit = limit
        self._known: OrderedDict[str, str] = OrderedDict()

    def of(self, url: str) -> str:
        """Return the codec that the last page of its host declared; "" if it is a common one."""
        return self._known.get(authority(url), "") if self._known else ""

    def learn(self, url: str, codec: str, source: str) -> None:
        """Record the charset of a page, if the page declares it itself."""
        if source not in _DECLARED or (not self._known and codec in COMMON):
            return
        name = authority(url)
        if codec in COMMON:
            self._known.pop(name, None)
            return
        self._known[name] = codec
        self._known.move_to_end(name)
        if len(self._known) > self._limit:
            self._known.popitem(last=False)


TIME = 30.0
"""Longest time for one document, seconds."""


class ParserProcess:
    """A helper process that parses large documents, so that they stop nothing else.

    The parser holds the interpreter lock: in the process of the crawl, a document of some megabytes
    would stop everything. The helper has limits of memory and time; past them the document is
    annotated.
    """

    def __init__(self, time_limit: float = TIME) -> None:
        self._helper = HelperProcess(parser_main.__name__, time_limit)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Extraction)

    async def extract(self, document: Document, settings: ExtractSettings) -> Extraction:
        """Return the links of a document; none and an annotation when it took too much."""
        job = self._encoder.encode(ParseJob(document, settings.model_dump()))
        try:
            return await self._helper.ask(job, self._decoder.decode)
        except TimeoutError:
            reason = PARSER_TIMEOUT
        except HelperFailedError:
            reason = PARSER_FAILED
        return Extraction(annotations=[reason], claimed=True)

    async def close(self) -> None:
        """End the helper."""
        await self._helper.close()


class DocumentExtractor:
    """Finds the links of documents: of large documents in the helper process.

    Args:
        parser: Parses those that are large.
    """

    def __init__(self, parser: ParserProcess) -> None:
        # Who reads a configuration needs no parsers, which are slow to load.
        from nacre.extract.dispatch import extract, unpacks  # noqa: PLC0415

        self._extract = extract
        self._unpacks = unpacks
        self._parser = parser

    async def extract(self, document: Document, settings: ExtractSettings) -> Extraction:
        """Return the links of a document; none and an annotation when it took too much."""
        if len(document.body) > LARGE or self._unpacks(document, settings):
            return await self._parser.extract(document, settings)
        return self._extract(document, settings)


class ExtractStep:
    """The worker of `Extract`.

    Args:
        settings: What is wanted of documents, under each combination of sheets.
        parser: Parses those that are large.
        plan: Whether the policy files of sites are fetched; None: they are not.
    """

    def __init__(
        self,
        settings: Effective[ExtractSettings],
        parser: ParserProcess,
        plan: Effective[RightsPlan] | None = None,
    ) -> None:
        self._plan = plan
        self._extractor = DocumentExtractor(parser)
        self._turnstile = Turnstile()
        self._settings = settings
        self._charsets = HostCharsets()

    def accepts(self, visit: Visit) -> bool:
        """Replies over HTTP that no extractor has claimed."""
        return visit.capture is not None and visit.status > 0 and not visit.extracted

    async def process(self, visit: Visit) -> Result:
        """Extract; a document that takes too much is annotated and has no outlinks."""
        capture = visit.capture
        if capture is None:
            return _PROCEED
        await self._turnstile.enter(capture.body.length)
        settings = self._settings[visit.overlay]
        host = self._charsets.of(visit.uri.url)
        document = document_of(visit, capture, settings.max_document, host)
        self._take(visit, await self._extractor.extract(document, settings))
        if self._plan is not None and self._plan[visit.overlay].collects:
            add_policy_files(visit, capture, self._plan[visit.overlay])
        return _PROCEED

    def _take(self, visit: Visit, extraction: Extraction) -> None:
        visit.add_outlinks(extraction.outlinks, extraction.dropped)
        visit.parsed(extraction.charset, extraction.robots, extraction.errors)
        if extraction.metas:
            visit.state(extraction.metas)
        if extraction.charset:
            self._charsets.learn(visit.uri.url, extraction.charset, extraction.charset_source)
        if extraction.claimed:
            visit.claim()
        for annotation in extraction.annotations:
            visit.annotate(annotation)
        if extraction.dropped:
            visit.annotate(dropped_outlinks(extraction.dropped))
