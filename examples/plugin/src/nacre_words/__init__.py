"""A rule about URLs with many parameters, a processor that counts words, and lists of URLs."""

import re
from typing import Literal

from nacre.plugin import (
    LINKS,
    REPLY,
    Document,
    Effective,
    Entry,
    Extractor,
    Hop,
    Kit,
    LinkCollector,
    Predicate,
    Predicated,
    Processor,
    Result,
    ScopeState,
    Subject,
    Visit,
    document_of,
    setting,
)

_TAG = re.compile(rb"<[^>]*>")


class ManyParameters(Predicated):
    """The query of the URL has more than `most` parameters."""

    contract = 1
    rule: Literal["many-parameters"] = "many-parameters"
    most: int = setting(5, "Parameters allowed.", unit="parameters", ge=0)

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`: the test, made once for each combination of sheets."""
        most = self.most

        def test(subject: Subject) -> bool:
            query = subject.url.partition("?")[2]
            return bool(query) and query.count("&") + 1 > most

        return test


class CountWords(Entry):
    """Counts the words of a page: annotation `words:N`, and a line in words.log."""

    contract = 1
    behind = "extract"
    needs = frozenset((REPLY, LINKS))
    processor: Literal["count-words"] = "count-words"
    follow_from: int = setting(
        0, "Follow the links of pages with so many words or more; 0: of all.", unit="words", ge=0
    )

    @classmethod
    def make(cls, settings: "Effective[CountWords]", kit: Kit) -> Processor:
        """See `Entry.make`: what does the work, made once when the job begins to run."""
        return WordCounter(settings, kit)


class WordCounter:
    """What does the work of `CountWords`."""

    def __init__(self, settings: Effective[CountWords], kit: Kit) -> None:
        self._settings = settings
        self._kit = kit

    def accepts(self, visit: Visit) -> bool:
        """Pages of HTML that were fetched."""
        return visit.status == 200 and visit.mime == "text/html"

    async def process(self, visit: Visit) -> Result:
        """Count, tell, and drop the links of a page with few words."""
        if visit.capture is None:
            return Result.PROCEED
        body = document_of(visit, visit.capture, 1_000_000).body
        words = len(_TAG.sub(b" ", body).split())
        visit.annotate(f"words:{words}")
        self._kit.line("words.log", f"{words} {visit.uri.url}\n".encode())
        if words < self._settings[visit.overlay].follow_from:
            visit.outlinks = []
        return Result.PROCEED


def read_list(document: Document, links: LinkCollector) -> None:
    """See `Extractor.extract`: each line of such a list is a URL, or a comment (RFC 2483)."""
    for line in document.body.decode(document.charset or "utf-8", "replace").splitlines():
        url = line.strip()
        if url and not url.startswith("#"):
            links.add(url, Hop.LINK, "uri-list")


URI_LIST = Extractor(
    "uri-list", read_list, media_types=frozenset(("text/uri-list",)), is_text=True, contract=1
)
