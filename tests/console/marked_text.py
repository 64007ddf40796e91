"""Texts of a page that are not translated: those without the marks of the pseudo-locale."""

import re
from html.parser import HTMLParser
from typing import Final

from nacre.web.languages import BEGIN, END

_LEFT_OUT: Final = frozenset(("script", "style", "code", "pre", "kbd", "samp", "textarea", "time"))
"""Elements whose text is that of programs, files and people."""
_EMPTY: Final = frozenset(("input", "meta", "link", "br", "img", "hr", "source", "col", "wbr"))
_SAID: Final = frozenset(("title", "aria-label", "placeholder", "alt", "data-head", "data-done"))
"""Attributes that are read by people."""
_MARKED: Final = re.compile(f"{BEGIN}[^{BEGIN}{END}]*{END}")
_WORD: Final = re.compile(r"[A-Za-z]{3,}")
_AROUND: Final = "()[]{}<>.,;:\u00b7\u2013\u2026\"'?!#"


class MarkedText(HTMLParser):
    """Collects the texts of a page, each without what has marks.

    Attributes:
        texts: What is left of each text that people read.
    """

    def __init__(self) -> None:
        super().__init__()
        self._open: list[tuple[str, bool]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        names = given.get("class", "").split()
        inner = (
            tag in _LEFT_OUT
            or "url" in names
            or given.get("translate") == "no"
            or ("lang" in given and tag != "html")
            or (bool(self._open) and self._open[-1][1])
        )
        if not inner:
            self.texts += [value for name, value in given.items() if name in _SAID]
        if tag not in _EMPTY:
            self._open.append((tag, inner))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._open or not self._open[-1][1]:
            self.texts.append(data)


def unmarked(page: str, names: frozenset[str]) -> list[str]:
    """What people read on a page that is not translated.

    Args:
        page: The page in the pseudo-locale.
        names: Words that are names, which no language has of its own.
    """
    parser = MarkedText()
    parser.feed(page)
    found = []
    for text in parser.texts:
        left = text
        while left != (left := _MARKED.sub(" ", left)):
            pass
        # One with a dot, a hyphen or a sign within is no word, but a name of a program.
        tokens = (token.strip(_AROUND) for token in left.split())
        words = [one for one in tokens if _WORD.fullmatch(one) and one not in names]
        if words:
            found.append(" ".join(text.split()))
    return list(dict.fromkeys(found))
