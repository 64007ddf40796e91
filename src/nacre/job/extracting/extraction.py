"""The extraction step: content decoded within its caps, then the extractors."""

from nacre.config.effective import Effective
from nacre.core.charsets import hints_of
from nacre.core.processor import Result, Visit
from nacre.extract.dispatch import extract
from nacre.extract.document import Extraction
from nacre.extract.settings import ExtractSettings
from nacre.job.extracting.charsets import HostCharsets
from nacre.job.extracting.content import document_of
from nacre.job.extracting.parser import ParserProcess
from nacre.job.extracting.turnstile import Turnstile

_PROCEED = Result.PROCEED  # the way to a member of an enumeration is long

LARGE = 1_000_000
"""Documents above this go to the helper process, bytes."""


class Extract:
    """Finds the outlinks of what was fetched."""

    def __init__(self, settings: Effective[ExtractSettings], parser: ParserProcess) -> None:
        self._turnstile = Turnstile()
        self._settings = settings
        self._parser = parser
        self._charsets = HostCharsets()

    def accepts(self, visit: Visit) -> bool:
        """Anything that was received over HTTP, and that nobody claimed."""
        return visit.capture is not None and visit.status > 0 and not visit.extracted

    async def process(self, visit: Visit) -> Result:
        """Extract; a document that takes too much is annotated and has no outlinks."""
        capture = visit.capture
        if capture is None:
            return _PROCEED
        await self._turnstile.enter(capture.body.length)
        settings = self._settings[visit.overlay]
        document = document_of(visit, capture, settings.max_document)
        host = self._charsets.of(visit.uri.url)
        if host:
            document.hints = hints_of(visit.uri, host)
        if len(document.body) > LARGE:
            found = await self._parser.extract(document, settings)
        else:
            found = extract(document, settings)
        self._take(visit, found)
        return _PROCEED

    def _take(self, visit: Visit, found: Extraction) -> None:
        before = visit.outlinks
        visit.outlinks = [*before, *found.outlinks] if before else found.outlinks
        visit.dropped = found.dropped
        visit.charset = found.charset
        if found.charset:
            self._charsets.learn(visit.uri.url, found.charset, found.charset_source)
        visit.robots_meta = found.robots
        visit.extracted = found.claimed
        for annotation in found.annotations:
            visit.annotate(annotation)
        if found.dropped:
            visit.annotate(f"dol:{found.dropped}")
        visit.uri_errors = found.errors
