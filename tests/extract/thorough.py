"""The reference of the extraction of HTML: every element and every attribute is looked at."""

from collections.abc import Container, Mapping

import pytest

from nacre.extract.dispatch import extract
from nacre.extract.document import Document, Extraction
from nacre.extract.html import extractor
from nacre.extract.html.page import HtmlPage, Node
from nacre.extract.html.walk import Handler, Walk
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings


class _Nothing(set[str]):
    """A set that nothing is ever in."""

    def __contains__(self, _item: object) -> bool:
        return False


class ThoroughWalk(Walk):
    """A walk that asks the handler of each element, also when it repeats another one."""

    def __init__(
        self,
        page: HtmlPage,
        links: LinkCollector,
        handlers: Mapping[str, Handler],
        text_budget: int,
    ) -> None:
        super().__init__(page, links, handlers, text_budget)
        self.pictures = _Nothing()

    def _first_of_each(self, tags: Container[str]) -> list[tuple[Node, str, str | None]]:
        return [(node, node.tag, None) for node in self.page.nodes(tags) if node.tag]


def extract_thoroughly(document: Document, settings: ExtractSettings) -> Extraction:
    """What `extract` finds when it saves itself no work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extractor, "Walk", ThoroughWalk)
        patch.setattr(extractor, "names_to_sweep", lambda _body: None)
        patch.setattr(extractor, "_has_conditional_comment", lambda body: b"<!--[if" in body)
        return extract(document, settings)
