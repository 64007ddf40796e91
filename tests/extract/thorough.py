"""The reference of the extraction of HTML: every element and every attribute is looked at."""

from collections.abc import Container, Mapping

import pytest

from nacre.extract import html
from nacre.extract.dispatch import extract
from nacre.extract.document import Document, Extraction
from nacre.extract.html_page import Node, Page
from nacre.extract.html_walk import Handler, Walk
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings


class _Nothing(set[str]):
    """A set that nothing is ever in."""

    def __contains__(self, _item: object) -> bool:
        return False


class ThoroughWalk(Walk):
    """A walk that asks the handler of each element, also when it repeats another one."""

    def __init__(
        self, page: Page, links: LinkCollector, handlers: Mapping[str, Handler], text_budget: int
    ) -> None:
        super().__init__(page, links, handlers, text_budget)
        self.pictures = _Nothing()

    def _first_of_each(self, tags: Container[str]) -> list[tuple[Node, str, str | None]]:
        return [(node, node.tag, None) for node in self.page.nodes(tags) if node.tag]


def extract_thoroughly(document: Document, settings: ExtractSettings) -> Extraction:
    """What `extract` finds when it saves itself no work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "Walk", ThoroughWalk)
        patch.setattr(html, "names_to_sweep", lambda _body: None)
        patch.setattr(html, "_has_conditional_comment", lambda body: b"<!--[if" in body)
        return extract(document, settings)
