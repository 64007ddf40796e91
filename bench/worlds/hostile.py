"""Hostile families of URLs beside good pages: sessions in paths, and random links.

A family has few texts, and a URL for each of them in each session, or no end of names for one text.
"""

import random
import re
import zlib
from collections.abc import Callable
from functools import cached_property

from bench.worlds.world import Reply, html, words

_FAMILY = re.compile(r"(?:/[sr])?/([^/]+)(?:/page(\d+)\.html)?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
TOKENS: dict[str, Callable[[random.Random], str]] = {
    "hex8": lambda chance: f"{chance.getrandbits(32):08x}",
    "hex12": lambda chance: f"{chance.getrandbits(48):012x}",
    "hex32": lambda chance: f"{chance.getrandbits(128):032x}",
    "uuid": lambda chance: re.sub(
        r"(.{8})(.{4})(.{4})(.{4})(.{12})", r"\1-\2-\3-\4-\5", f"{chance.getrandbits(128):032x}"
    ),
    "base62": lambda chance: "".join(chance.choices(_LETTERS + _LETTERS.upper() + _DIGITS, k=16)),
    "number": lambda chance: str(chance.randrange(10**8, 10**10)),
    "letters": lambda chance: "".join(chance.choices(_LETTERS, k=8)),
}
"""The looks that a session, or a random name, may have."""


class Hostile:
    """The application.

    Args:
        family: `session`: `/s/TOKEN/page3.html`. `first`: `/TOKEN/page3.html`. `random`:
            `/r/TOKEN`.
        token: A name of `TOKENS`.
        fresh: Each link has a different token; else all links of a page have the same.
        echo: Pages show their token, and the texts of links theirs.
        pages: Good pages.
    """

    name = "hostile"
    start = "/"

    def __init__(
        self, family: str, token: str, *, fresh: bool = True, echo: bool = False, pages: int = 60
    ) -> None:
        chance = random.Random(5)
        self._family, self._token = family, TOKENS[token]
        self._fresh, self._echo = fresh, echo
        self._good = {f"/doc/{words(chance, 1)}{n}.html": words(chance, 80) for n in range(pages)}
        self._texts = [words(chance, 60) for _ in range(20)]

    @cached_property
    def truth(self) -> frozenset[str]:
        """The good pages."""
        return frozenset(self._good)

    def page(self, path: str) -> str:
        """Return a good page; "" for one of the family."""
        return path if path in self._good else ""

    def reply(self, path: str) -> Reply:
        """Return a page."""
        chance = random.Random(zlib.crc32(path.encode()))
        if path == "/":
            good = "".join(f'<a href="{link}">{link}</a>' for link in self._good)
            return html(f"<title>Home</title>{good}{self._links(chance)}")
        if path in self._good:
            return html(f"<title>{path}</title><p>{self._good[path]}")
        match = _FAMILY.fullmatch(path)
        if match is None:
            return Reply(404, (("Content-Type", "text/plain"),), b"no such page\n")
        name, number = match[1], int(match[2] or 0)
        echo = f"<h1>Session {name}</h1>" if self._echo else ""
        text = self._texts[number % len(self._texts)]
        return html(f"<title>Page</title>{echo}<p>{text}</p>{self._links(chance)}")

    def _links(self, chance: random.Random) -> str:
        token = self._token(chance)
        links = []
        for _ in range(8):
            token = self._token(chance) if self._fresh or self._family == "random" else token
            page = f"page{chance.randrange(len(self._texts))}.html"
            href = {"session": f"/s/{token}/{page}", "first": f"/{token}/{page}"}.get(
                self._family, f"/r/{token}"
            )
            links.append(f'<a href="{href}">{token if self._echo else "next"}</a> ')
        return "".join(links)
