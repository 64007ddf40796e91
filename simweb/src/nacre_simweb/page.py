"""Pages under construction: markup, and the links in it."""

from html import escape
from typing import NamedTuple


class SimulatedLink(NamedTuple):
    """One link of a page, as a crawler may see it.

    Attributes:
        url: Absolute URL.
        hop: `L` for a link, `E` for an embed, `R` for a redirect.
        text: Anchor text; "" for embeds.
        lastmod: What a sitemap or feed says of its last change; "" for nothing.
        rel: Its relation, as `next`; "" for none.
    """

    url: str
    hop: str = "L"
    text: str = ""
    lastmod: str = ""
    rel: str = ""


class SimulatedPage(NamedTuple):
    """A body and its links.

    Attributes:
        body: The bytes.
        links: Its links, each target once, in their order.
    """

    body: bytes
    links: tuple[SimulatedLink, ...] = ()


class Builder:
    """Collects markup and links."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._parts: list[str] = []
        self._links: dict[str, SimulatedLink] = {}

    def add(self, *markup: str) -> None:
        """Markup as it is."""
        self._parts += markup

    def link(self, path: str, text: str) -> None:
        """An anchor."""
        self._note(path, "L", text)
        self._parts.append(f'<a href="{escape(path)}">{escape(text)}</a>')

    def embed(self, path: str) -> None:
        """A style sheet, script or image, by its suffix."""
        self._note(path, "E", "")
        name = escape(path)
        if path.endswith(".css"):
            self._parts.append(f'<link rel="stylesheet" href="{name}">')
        elif path.endswith(".js"):
            self._parts.append(f'<script src="{name}"></script>')
        else:
            self._parts.append(f'<img src="{name}" alt="">')

    def _note(self, path: str, hop: str, text: str) -> None:
        url = path if path.startswith("http") else self._origin + path
        if url not in self._links:
            self._links[url] = SimulatedLink(url, hop, text)

    def page(self) -> SimulatedPage:
        """Return the page that was collected."""
        return SimulatedPage("".join(self._parts).encode(), tuple(self._links.values()))
