"""Seed lines of a batch crawl: a URL, and after tabs Nutch's metadata `key=value`.

Source: Nutch, `Injector`. Reserved keys are `nutch.score`, `nutch.fetchInterval` and
`nutch.fetchInterval.fixed`; all others are stored with the URL. If the metadata of a line are
wrong, the seed is used without them, as in Nutch, and they are reported with the line number.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.seeds import FIRST_PREFIX, LISTED, OWN, PAGE, merged_seeds
from nacre.errors import URIError
from nacre.rounds.tables.tables import BucketFiles, TaskWork, local_file
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.seeds import (
    BadSeed,
    Seed,
    SeedDirective,
    SeedList,
    own_scope_words,
    read_seeds,
    seed_as_line,
)
from nacre.uri.parse import parse
from nacre.uri.surt import surt_authority

_PUBLIC = 100
"""Public seeds that a unit gets, so that it requires a contact like the crawl."""
_PREFIXES = f"key >= '{FIRST_PREFIX}' and key < '{PAGE}'"
_SEEDS = f"({_PREFIXES} or starts_with(key, '{OWN}'))"


def injected_lines(work: TaskWork, buckets: Sequence[BucketFiles]) -> Iterator[str]:
    """Yield the lines of rows from outside of the job's own list.

    Args:
        work: The kernel and folder of the command.
        buckets: The buckets of the table of seeds.
    """
    kinds = f"({_SEEDS} or starts_with(key, '+') or starts_with(key, '-'))"
    for bucket in buckets:
        paths = [local_file(work.storage, file, work.scratch) for file in bucket.all]
        where = f"where origin is distinct from {quoted(LISTED)} and {kinds}"
        for batch in work.kernel.batches(f"select * from ({merged_seeds(paths)}) {where}"):
            yield from map(line_of, batch.to_pylist())


def line_of(row: Mapping[str, Any]) -> str:
    """Return the line of a row of a seed or a directive."""
    if not row["key"].startswith(OWN):
        return str(row["text"])
    kind = ScopeKind(row["scope"]) if row["scope"] else None
    owner = row["key"][len(OWN) :]
    text, own = row["text"], SeedOwnScope(kind, row["depth"])
    return seed_as_line(Seed(text, text, own=own, of="" if owner == text else owner))


def guard_lines(work: TaskWork, buckets: Sequence[BucketFiles], mapped: Sequence[str]) -> list[str]:
    """Return lines of the seeds that decide which addresses a unit may connect to.

    These are one for each private host, one for each name with addresses in the settings, and a few
    others.

    Args:
        work: The kernel and folder of the step.
        buckets: The buckets of the table of seeds.
        mapped: Names with addresses in the settings (`dns.hosts`).
    """
    paths = [local_file(work.storage, file, work.scratch) for e in buckets for file in e.all]
    if not paths:
        return []
    columns = "key, text, scope, depth"
    place = "regexp_extract(key, '^[^)]*')"
    queries = [
        f"select {', '.join(f'min_by({e}, text) as {e}' for e in columns.split(', '))} "
        f"from {parquet(paths)} where private and {_SEEDS} "
        f"group by case when starts_with(key, '{OWN}') then key else {place} end",
        f"select {columns} from {parquet(paths)} where not private and {_SEEDS} limit {_PUBLIC}",
    ]
    if mapped:
        starts = [f"http://({surt_authority(f'http://{name}/')}" for name in mapped]
        near = " or ".join(f"starts_with(key, {quoted(e)})" for e in starts)
        queries.append(f"select {columns} from {parquet(paths)} where {near}")
    lines: dict[str, None] = {}
    for query in queries:
        for batch in work.kernel.batches(query):
            lines.update(dict.fromkeys(map(line_of, batch.to_pylist())))
    return sorted(lines)


SCORE = "nutch.score"
INTERVAL = "nutch.fetchInterval"
FIXED = "nutch.fetchInterval.fixed"
ONE = 1 << 32
"""The score 1.0: scores are kept in steps of 2^-32."""

OWN_SCOPE = frozenset(("scope", "depth"))
"""Keys that the seed list of a job has too, for the scope."""
_MOST_SCORE = Decimal(10) ** 15
_MOST_SECONDS = 2**31 - 1
"""Nutch stores intervals in 32 bits."""
_MOST_METADATA = 65_536
"""Characters of the metadata of one line."""
_SHOWN = 200
PORTION = 20_000
"""Lines or entries of a list in memory, unless they are long."""
_MOST_CHARACTERS, _STEP = 8_000_000, 500
"""Characters of a portion of long lines, and the lines between two counts."""
Item = TypeVar("Item")
PLAIN_LINE = r"\Ahttps?://[a-z0-9.-]+/[!-\"$-~]*\z"
"""`_PLAIN` in the syntax of RE2."""
_PLAIN = re.compile(PLAIN_LINE.replace(r"\z", r"\Z"))
"""A URL in ASCII without login, comment and metadata: most lines of long lists."""


class InjectedSeed(NamedTuple):
    """One seed of a list.

    Attributes:
        seed: The seed as the continuous crawler reads it.
        score: Its score in steps of 2^-32; None if the line has none.
        interval: Time between two fetches, s; None if the line has none.
        fixed: Interval that an adaptive schedule uses, s; None for none.
        metadata: Other keys and values.
    """

    seed: Seed
    score: int | None = None
    interval: int | None = None
    fixed: float | None = None
    metadata: dict[str, str] = {}  # noqa: RUF012 - never changed


class BadMetadata(NamedTuple):
    """Wrong metadata of a seed that is used without them.

    Attributes:
        line: Number of the line, from 1.
        text: The seed as it is written.
        reason: The fault.
        file: The list, as the operator named it; "" when typed.
    """

    line: int
    text: str
    reason: str
    file: str = ""

    def __str__(self) -> str:
        """`list.txt:3: 'http://a.example/' is taken without wrong metadata: why`."""
        place = f"{self.file}:{self.line}: " if self.file else ""
        return f"{place}{self.text!r} is taken without wrong metadata: {self.reason}"


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
    iterator, portion, characters = iter(items), list[Item](), 0
    while part := list(islice(iterator, min(_STEP, PORTION))):
        portion += part
        characters += sum(map(size, part))
        if len(portion) >= PORTION or characters >= _MOST_CHARACTERS:
            yield portion
            portion, characters = [], 0
    if portion:
        yield portion


def number_lines(lists: Iterable[SeedList]) -> Iterator[NumberedLines]:
    """Yield the lines of lists with their numbers."""
    for seed_list in lists:
        yield NumberedLines(seed_list.file, enumerate(seed_list.lines, 1))


InjectEntry = InjectedSeed | SeedDirective | BadSeed | BadMetadata


def entry_size(entry: InjectEntry) -> int:
    """Return the size of an entry, in characters."""
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
        text, _, metadata = line.strip().partition("\t")
        own = " ".join(own_scope_words(metadata))
        for entry in read_seeds([f"{text}\t{own}"], file):
            if isinstance(entry, BadSeed):
                yield entry._replace(line=number)
            elif isinstance(entry, SeedDirective):
                yield entry
            else:
                yield from _with_metadata(entry, metadata, number, file)


def _is_normal(text: str) -> bool:
    """Return whether a URL is written in its normal form."""
    try:
        return parse(text) == text
    except URIError:
        return False


def _with_metadata(seed: Seed, metadata: str, number: int, file: str) -> Iterator[InjectEntry]:
    """Yield a seed with its metadata, after a report of wrong metadata."""
    text = seed.text[:_SHOWN]
    if len(metadata) > _MOST_METADATA:
        reason = f"its metadata are longer than {_MOST_METADATA:,} characters"
        yield BadSeed(number, text, reason, file)
        return
    injected, wrong = InjectedSeed(seed, metadata={}), []
    for pair in _pairs(metadata):
        try:
            injected = _with_pair(injected, pair)
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        yield BadMetadata(number, text, "; ".join(wrong)[:_SHOWN], file)
    yield injected


def _pairs(metadata: str) -> Iterator[str]:
    """Yield the texts between tabs, without comments."""
    for part in metadata.split("\t"):
        pair = part.partition(" #")[0].strip()
        if pair.startswith("#"):
            break
        if pair:
            yield pair


def _with_pair(injected: InjectedSeed, pair: str) -> InjectedSeed:
    """Add one `key=value` to a seed.

    Raises:
        ValueError: It is no pair, or the value is out of bounds.
    """
    key, is_pair, value = pair.partition("=")
    key, value = key.strip(), value.strip()
    if not is_pair or not key:
        raise ValueError(f"metadata {pair[:40]!r} is not `key=value`")
    if key == SCORE:
        return injected._replace(score=score_of(value))
    if key == INTERVAL:
        return injected._replace(interval=_seconds(key, value))
    if key == FIXED:
        seconds = _seconds(key, value)
        return injected._replace(interval=seconds, fixed=float(seconds))
    if key not in OWN_SCOPE:
        injected.metadata[key] = value
    return injected


def score_of(text: str) -> int:
    """Parse a score, in steps of 2^-32.

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
