"""Seed lines of a batch crawl: a URL, and behind tabs Nutch's metadata `key=value`.

Source: Nutch, `Injector`. Reserved keys are `nutch.score`, `nutch.fetchInterval` and
`nutch.fetchInterval.fixed`; all others stay with the URL. Of a line with wrong metadata
the seed is taken without them, as in Nutch, and they are told with its number.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import NamedTuple, TypeVar

from nacre.engine.seeding.seeds import (
    BadSeed,
    Seed,
    SeedDirective,
    SeedList,
    own_scope_words,
    read_seeds,
)
from nacre.errors import URIError
from nacre.uri.parse import parse

SCORE = "nutch.score"
INTERVAL = "nutch.fetchInterval"
FIXED = "nutch.fetchInterval.fixed"
ONE = 1 << 32
"""The score 1.0: scores are kept in steps of 2^-32."""

OWN_SCOPE = frozenset(("scope", "depth"))
"""Keys that the seed list of a job has too; the scope is given them."""
_MOST_SCORE = Decimal(10) ** 15
_MOST_SECONDS = 2**31 - 1
"""Nutch keeps intervals in 32 bits."""
_MOST_METADATA = 65_536
"""Characters of the metadata of one line."""
_SHOWN = 200
PORTION = 20_000
"""Lines or entries of a list that are held in memory, unless they are long."""
_MOST_CHARACTERS, _STEP = 8_000_000, 500
"""Characters of a portion of long lines, which are counted after so many lines."""
Item = TypeVar("Item")
PLAIN_LINE = r"\Ahttps?://[a-z0-9.-]+/[!-\"$-~]*\z"
"""What `_PLAIN` matches, as RE2 writes it."""
_PLAIN = re.compile(PLAIN_LINE.replace(r"\z", r"\Z"))
"""A URL in ASCII without login, comment and metadata: most lines of long lists."""


class InjectedSeed(NamedTuple):
    """One seed of a list.

    Attributes:
        seed: The seed as the continuous crawler reads it.
        score: Its score in steps of 2^-32; None where the line says none.
        interval: Time between two fetches, s; None where the line says none.
        fixed: Interval that an adaptive schedule obeys, s; None for none.
        metadata: Other keys and values.
    """

    seed: Seed
    score: int | None = None
    interval: int | None = None
    fixed: float | None = None
    metadata: dict[str, str] = {}  # noqa: RUF012 - never changed


class BadMetadata(NamedTuple):
    """Wrong metadata of a seed that is taken without them.

    Attributes:
        line: Number of the line, from 1.
        text: The seed as it is written.
        why: What is wrong.
        file: The list, as the operator named it; "" when typed.
    """

    line: int
    text: str
    why: str
    file: str = ""

    def __str__(self) -> str:
        """`list.txt:3: 'http://a.example/' is taken without wrong metadata: why`."""
        place = f"{self.file}:{self.line}: " if self.file else ""
        return f"{place}{self.text!r} is taken without wrong metadata: {self.why}"


class NumberedLines(NamedTuple):
    """Lines of a list with their numbers.

    Attributes:
        file: The list, as the operator named it; "" when typed.
        lines: Each with its number, from 1.
    """

    file: str
    lines: Iterable[tuple[int, str]]


def portions(items: Iterable[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Part a list into portions of `PORTION` items, less if they are long.

    Args:
        items: Lines or entries.
        size: Returns the characters of an item.
    """
    rest, portion, characters = iter(items), list[Item](), 0
    while part := list(islice(rest, min(_STEP, PORTION))):
        portion += part
        characters += sum(map(size, part))
        if len(portion) >= PORTION or characters >= _MOST_CHARACTERS:
            yield portion
            portion, characters = [], 0
    if portion:
        yield portion


def numbered(lists: Iterable[SeedList]) -> Iterator[NumberedLines]:
    """Return the lines of lists with their numbers."""
    for one in lists:
        yield NumberedLines(one.file, enumerate(one.lines, 1))


InjectEntry = InjectedSeed | SeedDirective | BadSeed | BadMetadata


def entry_size(entry: InjectEntry) -> int:
    """Return the characters of an entry that a list may have any number of."""
    if not isinstance(entry, InjectedSeed):
        return len(entry.text)
    return len(entry.seed.text) + sum(len(key) + len(entry.metadata[key]) for key in entry.metadata)


def read_seed_list(lines: Iterable[str], file: str = "") -> Iterator[InjectEntry]:
    """Read a seed list, an entry at a time.

    Args:
        lines: The lines, without their ends.
        file: How the operator named the list; "" when typed.
    """
    yield from read_numbered(enumerate(lines, 1), file)


def read_numbered(lines: Iterable[tuple[int, str]], file: str = "") -> Iterator[InjectEntry]:
    """Read lines of a seed list, an entry at a time.

    Args:
        lines: The lines, without their ends, with their numbers.
        file: How the operator named the list; "" when typed.
    """
    for number, line in lines:
        if _PLAIN.match(line) and _is_normal(line):
            yield InjectedSeed(Seed(line, line))
            continue
        text, _, rest = line.strip().partition("\t")
        own = " ".join(own_scope_words(rest))
        for entry in read_seeds([f"{text}\t{own}"], file):
            if isinstance(entry, BadSeed):
                yield entry._replace(line=number)
            elif isinstance(entry, SeedDirective):
                yield entry
            else:
                yield from _with_metadata(entry, rest, number, file)


def _is_normal(text: str) -> bool:
    """True for a URL that is written in its normal form."""
    try:
        return parse(text) == text
    except URIError:
        return False


def _with_metadata(seed: Seed, rest: str, number: int, file: str) -> Iterator[InjectEntry]:
    """A seed with what stands behind it, and before it what is wrong there."""
    text = seed.text[:_SHOWN]
    if len(rest) > _MOST_METADATA:
        why = f"its metadata are longer than {_MOST_METADATA:,} characters"
        yield BadSeed(number, text, why, file)
        return
    found, wrong = InjectedSeed(seed, metadata={}), []
    for pair in _pairs(rest):
        try:
            found = _with_pair(found, pair)
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        yield BadMetadata(number, text, "; ".join(wrong)[:_SHOWN], file)
    yield found


def _pairs(rest: str) -> Iterator[str]:
    """What stands between tabs, without comments."""
    for part in rest.split("\t"):
        pair = part.partition(" #")[0].strip()
        if pair.startswith("#"):
            break
        if pair:
            yield pair


def _with_pair(found: InjectedSeed, pair: str) -> InjectedSeed:
    """A seed with one more `key=value`.

    Raises:
        ValueError: It is none, or the value is out of bounds.
    """
    key, is_pair, value = pair.partition("=")
    key, value = key.strip(), value.strip()
    if not is_pair or not key:
        raise ValueError(f"metadata {pair[:40]!r} is not `key=value`")
    if key == SCORE:
        return found._replace(score=score_of(value))
    if key == INTERVAL:
        return found._replace(interval=_seconds(key, value))
    if key == FIXED:
        seconds = _seconds(key, value)
        return found._replace(interval=seconds, fixed=float(seconds))
    if key not in OWN_SCOPE:
        found.metadata[key] = value
    return found


def score_of(text: str) -> int:
    """A score in steps of 2^-32.

    Raises:
        ValueError: It is not a number from 0 to 10^15.
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{SCORE}={text[:40]!r} is not a number") from None
    if not value.is_finite() or value < 0 or value > _MOST_SCORE:
        raise ValueError(f"{SCORE}={text[:40]} is not a number from 0 to 10^15")
    return int(value * ONE)


def _seconds(key: str, text: str) -> int:
    digits = text.isascii() and text.isdecimal() and len(text) <= len(str(_MOST_SECONDS))
    seconds = int(text) if digits else 0
    if not 0 < seconds <= _MOST_SECONDS:
        raise ValueError(f"{key}={text[:40]!r} is not a number of seconds from 1 to 2^31-1")
    return seconds
