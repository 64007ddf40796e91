"""Seed lists: plain lines, comments, and `+` / `-` directives. Source: heritrix.md 1.5."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nacre.errors import URIError
from nacre.uri.parse import parse
from nacre.uri.surt import implied_prefix

_SHOWN = 500


class Seed(NamedTuple):
    """One seed.

    Attributes:
        text: The line as typed, which is also its source tag.
        url: What to fetch.
        fallback: Tried when `url` cannot be reached: http where https was a guess; "" for none.
    """

    text: str
    url: str
    fallback: str = ""


class Directive(NamedTuple):
    """A `+` or `-` line: a SURT prefix or URL for the scope."""

    text: str


class BadSeed(NamedTuple):
    """A line that is neither: its number from 1, its text, and why."""

    line: int
    text: str
    why: str


Entry = Seed | Directive | BadSeed


def read_seeds(lines: Iterable[str]) -> Iterator[Entry]:
    """Read a seed list, an entry at a time.

    `#` starts a comment at the start of a line or after a blank. A line that begins with a letter
    or digit is a seed; without a scheme https is tried first, then http. `+` and `-` lines are
    directives for the scope. What is neither is reported with its line number.
    """
    for number, text in _entries(lines):
        try:
            yield _entry(text)
        except URIError as error:
            yield BadSeed(number, text[:_SHOWN], str(error)[:_SHOWN])


def _entry(text: str) -> Entry:
    if text[0] not in "+-":
        return parse_seed(text)
    implied_prefix(text[1:])
    return Directive(text)


def _entries(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("\ufeff")
        if text.startswith("#"):
            continue
        for mark in (" #", "\t#"):
            text = text.partition(mark)[0].rstrip()
        if text:
            yield number, text


def parse_seed(text: str) -> Seed:
    """One seed from its text.

    Raises:
        URIError: It is none.
    """
    if "://" in text.partition("?")[0] or text.startswith("dns:"):
        return Seed(text, parse(text))
    return Seed(text, parse(f"https://{text}"), parse(f"http://{text}"))
