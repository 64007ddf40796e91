"""Texts, links and requests that a page has in a browser alone (pure)."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from nacre.extract.pageview import page_view
from nacre.extract.shell import text_width

_MOST_TEXTS: Final = 5_000
_TEXTS: Final = frozenset(("text", "heading"))
"""Kinds of pieces that are text; menus count as links."""
_SHARE: Final = 0.2
_LEAST_TEXT: Final = 100
_LEAST_LINKS: Final = 3


class ContentParts(NamedTuple):
    """The content of a page, before or after its scripts ran.

    Attributes:
        texts: Width of each visible text, by the text.
        links: URLs that it leads to.
        requests: URLs of content that it loads: data, frames and pictures.
    """

    texts: Mapping[str, int]
    links: frozenset[str]
    requests: frozenset[str] = frozenset()


def page_texts(text: str) -> dict[str, int]:
    """Return the visible texts of a decoded page, block by block, with the width of each.

    Blocks that are little but links are left out: their links count.
    """
    pieces = page_view(text, max_pieces=_MOST_TEXTS).pieces
    return {piece.text: text_width(piece.text) for piece in pieces if piece.kind in _TEXTS}


class BrowserGain(NamedTuple):
    """The parts of a page that only a browser showed.

    Attributes:
        texts: Width of each text.
        links: URLs.
        requests: URLs.
        text_before: Width of the text without a browser.
        links_before: Links without a browser.
    """

    texts: Mapping[str, int]
    links: frozenset[str]
    requests: frozenset[str]
    text_before: int = 0
    links_before: int = 0

    @property
    def parts(self) -> list[str]:
        """All of them, in an order that is always the same."""
        return [*self.texts, *sorted(self.links), *sorted(self.requests)]

    def is_worth(self, common: Callable[[str], bool] | None = None) -> bool:
        """Return whether it is a fifth more text or links, or a request that was not named.

        Args:
            common: Whether an earlier page of the template had a part too: menus and counters that
                scripts add to each page are no reason to run all. None for the first page, whose
                requests may be such too.
        """
        is_new = _is_any if common is None else lambda part: not common(part)
        text = sum(width for part, width in self.texts.items() if is_new(part))
        links = sum(map(is_new, self.links))
        return (
            text >= max(_SHARE * self.text_before, _LEAST_TEXT)
            or links >= max(_SHARE * self.links_before, _LEAST_LINKS)
            or (common is not None and any(map(is_new, self.requests)))
        )

    def with_links(self, links: frozenset[str]) -> "BrowserGain":
        """Return the gain with other links: those that the crawl did not have yet."""
        return self._replace(links=links)


def _is_any(_: str) -> bool:
    return True


def find_gain(static: ContentParts, rendered: ContentParts) -> BrowserGain:
    """Return what a browser added to a page."""
    return BrowserGain(
        {part: width for part, width in rendered.texts.items() if part not in static.texts},
        rendered.links - static.links,
        rendered.requests - static.requests - static.links,
        sum(static.texts.values()),
        len(static.links),
    )
