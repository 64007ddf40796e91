"""Seed lines of a batch crawl: a URL, and behind tabs Nutch's metadata `key=value`.

Source: Nutch, `Injector`. Reserved keys are `nutch.score`, `nutch.fetchInterval` and
`nutch.fetchInterval.fixed`; all others stay with the URL. A line with wrong metadata is refused as
a whole, as in Nutch, and told with its number.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from nacre.engine.seeding.seeds import (
    BadSeed,
    Seed,
    SeedDirective,
    own_scope_words,
    read_seeds,
)

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


InjectEntry = InjectedSeed | SeedDirective | BadSeed


def read_seed_list(lines: Iterable[str], file: str = "") -> Iterator[InjectEntry]:
    """Read a seed list, an entry at a time.

    Args:
        lines: The lines, without their ends.
        file: How the operator named the list; "" when typed.
    """
    for number, line in enumerate(lines, 1):
        text, _, rest = line.strip().partition("\t")
        own = " ".join(own_scope_words(rest))
        for entry in read_seeds([f"{text}\t{own}"], file):
            if isinstance(entry, BadSeed):
                yield entry._replace(line=number)
            elif isinstance(entry, SeedDirective):
                yield entry
            else:
                yield _with_metadata(entry, rest, number, file)


def _with_metadata(seed: Seed, rest: str, number: int, file: str) -> InjectedSeed | BadSeed:
    try:
        return _described(seed, rest)
    except ValueError as error:
        return BadSeed(number, seed.text[:_SHOWN], str(error)[:_SHOWN], file)


def _described(seed: Seed, rest: str) -> InjectedSeed:
    """A seed with what stands behind it.

    Raises:
        ValueError: It is no metadata, or a value is out of bounds.
    """
    if len(rest) > _MOST_METADATA:
        raise ValueError(f"its metadata are longer than {_MOST_METADATA:,} characters")
    found = InjectedSeed(seed)
    metadata: dict[str, str] = {}
    for part in rest.split("\t"):
        pair = part.partition(" #")[0].strip()
        if pair.startswith("#"):
            break
        if not pair:
            continue
        key, is_pair, value = pair.partition("=")
        key, value = key.strip(), value.strip()
        if not is_pair or not key:
            raise ValueError(f"metadata {pair[:40]!r} is not `key=value`")
        if key == SCORE:
            found = found._replace(score=score_of(value))
        elif key in OWN_SCOPE:
            continue
        elif key == INTERVAL:
            found = found._replace(interval=_seconds(key, value))
        elif key == FIXED:
            seconds = _seconds(key, value)
            found = found._replace(interval=seconds, fixed=float(seconds))
        else:
            metadata[key] = value
    return found._replace(metadata=metadata)


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
