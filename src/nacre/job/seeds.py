"""Seed lists: plain lines, comments, and `+` / `-` directives. Source: heritrix.md 1.5."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nacre.errors import URIError
from nacre.uri.parse import parse
from nacre.uri.surt import implied_prefix


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


class SeedList(NamedTuple):
    """What a seed list holds: seeds, directives, and lines that are neither."""

    seeds: list[Seed]
    directives: list[str]
    bad: list[tuple[int, str, str]]


def read_seeds(lines: Iterable[str]) -> SeedList:
    """Read a seed list.

    `#` starts a comment at the start of a line or after a blank. A line that begins with a letter
    or digit is a seed; without a scheme https is tried first, then http. `+` and `-` lines are
    directives for the scope. What is neither is reported with its line number.
    """
    result = SeedList([], [], [])
    for number, text in _entries(lines):
        try:
            if text[0] in "+-":
                implied_prefix(text[1:])
                result.directives.append(text)
            else:
                result.seeds.append(parse_seed(text))
        except URIError as error:
            result.bad.append((number, text, str(error)))
    return result


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
