"""A site that ends: sections, lists in pages, articles under months and with numbers."""

import random
from functools import cached_property
from urllib.parse import parse_qs, urlsplit

from bench.worlds.world import Reply, html, words

_PAGE = 10


class Plain:
    """The application.

    Args:
        pages: How many articles there are.
    """

    name = "plain site"
    start = "/"

    def __init__(self, _root: object = None, pages: int = 400) -> None:
        chance = random.Random(4)
        self._texts = [words(chance, chance.randint(2, 120)) for _ in range(pages)]

    @cached_property
    def truth(self) -> frozenset[str]:
        """The articles."""
        return frozenset(self._path(number) for number in range(len(self._texts)))

    def page(self, path: str) -> str:
        """Return an article."""
        return path

    def _path(self, number: int) -> str:
        if number % 3:
            return f"/{2020 + number % 5}/{number % 12 + 1:02d}/{number}.html"
        return f"/show?id={number}"

    def reply(self, path: str) -> Reply:
        """Return a list, an archive, or an article."""
        if path in self.truth:
            number = next(n for n in range(len(self._texts)) if self._path(n) == path)
            near = "".join(
                f'<a href="{self._path((number + more) % len(self._texts))}">see</a> '
                for more in (1, 7)
            )
            return html(f"<title>{number}</title><p>{self._texts[number]}</p>{near}")
        parts = urlsplit(path)
        query = parse_qs(parts.query)
        section = int(query.get("section", ["0"])[0])
        at = int(query.get("page", ["0"])[0])
        if parts.path not in {"/", "/list"}:
            return Reply(404, (("Content-Type", "text/plain"),), b"no such page\n")
        mine = [n for n in range(len(self._texts)) if n % 8 == section]
        listed = mine[at * _PAGE : (at + 1) * _PAGE]
        links = [f'<a href="{self._path(n)}">{self._texts[n][:30]}</a>' for n in listed]
        links += [f'<a href="/list?section={n}">section {n}</a>' for n in range(8)]
        if (at + 1) * _PAGE < len(mine):
            links.append(f'<a href="/list?section={section}&amp;page={at + 1}">next</a>')
        return html(f"<title>List</title><ul>{' '.join(links)}</ul>")
