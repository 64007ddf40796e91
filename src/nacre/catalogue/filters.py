"""Queries of a catalogue, and their selections: key ranges, and tests of a row (pure)."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import msgspec

from nacre.archive.index_facts import PostQuery
from nacre.catalogue.rows import (
    FAMILIES,
    OFFSET_BITS,
    VERDICT_GROUPS,
    VERDICTS,
    CapturePack,
    host_of_capture,
    media_family,
)
from nacre.errors import ConfigError, Problem, URIError
from nacre.messages import message
from nacre.uri.parse import host, parse
from nacre.uri.surt import index_key
from nacre.uri.typed import is_whole
from nacre.wire.urltext import possible_urls

Order = Literal["", "newest", "oldest", "url"]
LAST: Final = "\U0010ffff"
"""Behind every character of a key."""

_OFFSET_DIGITS: Final = 12
_GREATEST: Final = 1 << 62
"""The greatest number in a cursor; SQLite has none above twice of it."""
_STATUS: Final = re.compile(r"[0-9]{1,3}", re.ASCII)
_CLASS: Final = re.compile(r"([1-5])xx", re.ASCII | re.IGNORECASE)
_SEPARATORS: Final = re.compile(r"[-:T Z]")
_TIME: Final = re.compile(r"[0-9]{4}(?:[0-9]{2}){0,5}", re.ASCII)


class CatalogueQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query of a catalogue. Filters are combined; "" leaves one out.

    Attributes:
        url: Captures of this URL, in all its spellings.
        prefix: URLs that begin with this text.
        host: This host, without a port.
        domain: This host and all hosts below it.
        mime: Media types or their families (`rows.FAMILIES`), separated by commas.
        status: Statuses or their classes, such as `404,5xx`; 0 for none.
        verdict: Verdicts or their groups, separated by commas.
        start: Not before this time: its beginning, such as `2026-11` or 14 digits.
        end: Not after this time; `2026-11` includes the whole month.
        run: Name of a run or a segment.
        method: Method of the request, such as POST.
        ids: Only these captures, `WARC:OFFSET` each; () for all.
        words: Words of the page, as `nacre search` takes them; needs an index of words.
        order: `newest` or `oldest` first, or by `url`; "": by URL for parts of a site, the best
            first for words, else the newest first.
        cursor: `next` of the page before; "" for the first page.
        limit: Captures of a page.
    """

    url: str = ""
    prefix: str = ""
    host: str = ""
    domain: str = ""
    mime: str = ""
    status: str = ""
    verdict: str = ""
    start: str = ""
    end: str = ""
    run: str = ""
    method: str = ""
    ids: tuple[str, ...] = ()
    words: str = ""
    order: Order = ""
    cursor: str = ""
    limit: int = 50


class KeySpan(NamedTuple):
    """Keys from `start` up to `end`, which is not included."""

    start: str
    end: str


class CaptureFilter(NamedTuple):
    """The selection of a query: compiled filters and the order of the results.

    Attributes:
        ranges: The key ranges, sorted and disjoint; () for all keys.
        is_exact: Each range is a single key.
        is_by_url: Captures come in the order of their keys.
        is_descending: The newest captures come first.
        span: The first and the last second; None for no limit.
        statuses: The statuses; None for all.
        media: Tests the name of a media type; None for all.
        verdicts: Numbers of verdicts; None for all.
        hosts: Tests a host; None for all.
        run: Name of the run; "" for all.
        method: Method of the request; "" for all.
        records: WARC and offset of each capture; None for all.
    """

    ranges: tuple[KeySpan, ...] = ()
    is_exact: bool = False
    is_by_url: bool = False
    is_descending: bool = True
    span: tuple[int | None, int | None] = (None, None)
    statuses: frozenset[int] | None = None
    media: Callable[[str], bool] | None = None
    verdicts: frozenset[int] | None = None
    hosts: Callable[[str], bool] | None = None
    run: str = ""
    method: str = ""
    records: tuple[tuple[str, int], ...] | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves any capture out."""
        return any(
            (
                self.ranges, self.span != (None, None), self.statuses is not None, self.media,
                self.verdicts is not None, self.run, self.method, self.records is not None,
            )
        )  # fmt: skip


def compile_query(query: CatalogueQuery) -> CaptureFilter:
    """Return what a query selects.

    Raises:
        ConfigError: A part of it has no meaning.
    """
    ranges, is_exact = _ranges(query)
    is_by_url = query.order == "url" or (not query.order and bool(ranges) and not is_exact)
    return CaptureFilter(
        ranges,
        is_exact,
        is_by_url,
        query.order != "oldest",
        (time_of(query.start, "start"), time_of(query.end, "end", is_end=True)),
        _statuses(query.status),
        _media_test(query.mime),
        _verdicts(query.verdict),
        _host_test(query),
        query.run,
        query.method.upper(),
        tuple(map(_record, query.ids)) if query.ids else None,
    )


def _record(name: str) -> tuple[str, int]:
    """Return the WARC and the offset of the name of a capture."""
    warc, _, offset = name.rpartition(":")
    if not warc or not offset.isascii() or not offset.isdigit() or len(offset) > _OFFSET_DIGITS:
        raise _wrong(
            message("catalogue.no-id", "{name!r} is no capture; its id is WARC:OFFSET", name=name)
        )
    return warc, int(offset)


# ---- keys


def _ranges(query: CatalogueQuery) -> tuple[tuple[KeySpan, ...], bool]:
    """Return the key ranges of a query, and whether each is a single key."""
    parts = [name for name in ("url", "prefix", "host", "domain") if getattr(query, name)]
    if not parts:
        return (), False
    name, *more = parts
    if more:
        raise _wrong(
            message(
                "catalogue.two-places",
                "{first} and {second} exclude each other; name one of url, prefix, host and domain",
                first=name,
                second=more[0],
            )
        )
    if name == "url":
        keys = sorted({index_key(url).replace(" ", "%20") for url in _spellings(query.url)})
        return tuple(KeySpan(key, f"{key}\0") for key in keys), True
    if name == "prefix":
        return _prefix_ranges(query.prefix), False
    base = index_key(f"http://{_host_name(getattr(query, name))}/").partition(")")[0]
    ends = (")", ",", ":") if name == "domain" else (")", ":")
    return tuple(KeySpan(base + end, base + end + LAST) for end in ends), False


def _spellings(text: str) -> list[str]:
    """Return the URLs that a text may mean; one without a scheme is of http or https."""
    plain = text.strip()
    return possible_urls(plain if is_whole(plain) else f"http://{plain}")


def _prefix_ranges(prefix: str) -> tuple[KeySpan, ...]:
    """Return the ranges of the URLs that begin with a text.

    A key has no slash at its end: `http://a.test/b/` is the key `test,a)/b` and all keys that begin
    with `test,a)/b/`.
    """
    ranges: set[KeySpan] = set()
    for url in _spellings(prefix):
        key = index_key(url).replace(" ", "%20")
        path = url.partition("?")[0]
        if "?" not in url and path.endswith("/") and path.count("/") > 3:
            ranges |= {KeySpan(key, f"{key}\0"), KeySpan(f"{key}?", f"{key}?{LAST}")}
            key = f"{key}/"
        ranges.add(KeySpan(key, key + LAST))
    return merge_ranges(ranges)


def merge_ranges(ranges: "set[KeySpan]") -> tuple[KeySpan, ...]:
    """Return ranges in order, without parts that two of them share."""
    merged: list[KeySpan] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1].end:
            merged[-1] = KeySpan(merged[-1].start, max(end, merged[-1].end))
        else:
            merged.append(KeySpan(start, end))
    return tuple(merged)


def is_in_ranges(key: str, ranges: Sequence[KeySpan]) -> bool:
    """Whether a key is in one of the ranges."""
    return any(start <= key < end for start, end in ranges)


def _host_name(text: str) -> str:
    try:
        name = host(parse(f"http://{text.strip()}/"))
    except URIError:
        name = ""
    if not name:
        raise _wrong(
            message("catalogue.no-host", "{text!r} is no host; name one as example.org", text=text)
        )
    return name.lower()


def _host_test(query: CatalogueQuery) -> Callable[[str], bool] | None:
    if query.host:
        name = _host_name(query.host)
        return lambda text: text == name
    if query.domain:
        top = _host_name(query.domain)
        return lambda text: text == top or text.endswith(f".{top}")
    return None


def row_key(row: CapturePack) -> str:
    """Return the index key of a row, from its URL and the body of its request."""
    url, posted = row[1], row[8]
    if posted is not None:
        method, _, text = posted.partition(" ")
        if method:
            url = PostQuery(method, text).appended(url)
    return index_key(url).replace(" ", "%20")


# ---- the other filters


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def _statuses(text: str) -> frozenset[int] | None:
    statuses: set[int] = set()
    for word in _words(text):
        if match := _CLASS.fullmatch(word):
            first = int(match[1]) * 100
            statuses.update(range(first, first + 100))
        elif _STATUS.fullmatch(word):
            statuses.add(int(word))
        else:
            raise _wrong(
                message(
                    "catalogue.status-format",
                    "{word!r} is no status; name some as 404,5xx",
                    word=word,
                )
            )
    return frozenset(statuses) if statuses else None


def _media_test(text: str) -> Callable[[str], bool] | None:
    words = {word.lower() for word in _words(text)}
    unknown = sorted(word for word in words if "/" not in word and word not in FAMILIES)
    if unknown:
        raise _wrong(
            message(
                "catalogue.no-media",
                "{word!r} is neither a media type nor a family of them: {names}",
                word=unknown[0],
                names=", ".join(FAMILIES),
            )
        )
    if not words:
        return None
    return lambda name: (
        name.partition(";")[0].strip().lower() in words or media_family(name) in words
    )


def _verdicts(text: str) -> frozenset[int] | None:
    numbers: set[int] = set()
    for word in _words(text):
        names = VERDICT_GROUPS.get(word) or ((word,) if word in VERDICTS else ())
        if not names:
            raise _wrong(
                message(
                    "catalogue.no-verdict",
                    "{word!r} is no verdict; one of: {names}",
                    word=word,
                    names=", ".join(dict.fromkeys((*VERDICT_GROUPS, *filter(None, VERDICTS)))),
                )
            )
        numbers.update(map(VERDICTS.index, names))
    return frozenset(numbers) if numbers else None


def time_of(text: str, name: str, *, is_end: bool = False) -> int | None:
    """Return the first second of a time whose end is left out, such as `2026-11`; None for "".

    Args:
        text: The time.
        name: Name of the field, for the message.
        is_end: Return its last second.

    Raises:
        ConfigError: It is no time.
    """
    if not text:
        return None
    digits = _SEPARATORS.sub("", text.strip())
    starts = (0, *range(4, len(digits), 2))
    parts = (
        [int(digits[start:end]) for start, end in pairwise((*starts, len(digits)))]
        if (_TIME.fullmatch(digits))
        else []
    )
    try:
        first = datetime(*[*parts, 1, 1][: max(len(parts), 3)], tzinfo=UTC)  # type: ignore[misc,arg-type]
        moment = _after(first, len(parts)) - timedelta(seconds=1) if is_end else first
    except (TypeError, ValueError, OverflowError):
        words = message(
            "catalogue.no-time",
            "{text!r} is no time; write it as 2026-11-29, or as up to 14 digits",
            text=text,
        )
        raise ConfigError([Problem(name, words)]) from None
    return int(moment.timestamp())


def _after(first: datetime, parts: int) -> datetime:
    """Return the moment after a time: parts 1 is a year, 2 a month, and so on."""
    if parts == 1:
        return first.replace(year=first.year + 1)
    if parts == 2:
        return (first + timedelta(days=31)).replace(day=1)
    units = {3: "days", 4: "hours", 5: "minutes", 6: "seconds"}
    return first + timedelta(**{units[parts]: 1})


def row_test(
    chosen: CaptureFilter,
    media_name: Callable[[int], str],
    warcs: "frozenset[int] | None",
    *,
    has_keys: bool,
) -> Callable[[CapturePack], bool]:
    """Return the test of a row.

    Args:
        chosen: What the query selects.
        media_name: Returns the name of the media type of a number.
        warcs: Numbers of the WARCs of the run; None for all.
        has_keys: The rows are those of the key ranges already.
    """
    tests: list[Callable[[CapturePack], bool]] = []
    start, end = chosen.span
    if start is not None or end is not None:
        low, high = -(1 << 62) if start is None else start, 1 << 62 if end is None else end
        tests.append(lambda row: low <= row[2] <= high)
    if (statuses := chosen.statuses) is not None:
        tests.append(lambda row: row[4] in statuses)
    if (verdicts := chosen.verdicts) is not None:
        tests.append(lambda row: row[6] in verdicts)
    if (is_media := chosen.media) is not None:
        cache: dict[int, bool] = {}

        def has_media(row: CapturePack) -> bool:
            number = row[5]
            if number not in cache:
                cache[number] = is_media(media_name(number))
            return cache[number]

        tests.append(has_media)
    tests += _place_tests(chosen, warcs, has_keys=has_keys)
    return lambda row: all(test(row) for test in tests)


def _place_tests(
    chosen: CaptureFilter, warcs: "frozenset[int] | None", *, has_keys: bool
) -> list[Callable[[CapturePack], bool]]:
    """Return the tests of a row by its WARC, its request and its URL."""
    tests: list[Callable[[CapturePack], bool]] = []
    if warcs is not None:
        tests.append(lambda row: row[0] >> OFFSET_BITS in warcs)
    if method := chosen.method:
        tests.append(lambda row: ((row[8] or "").partition(" ")[0] or "GET") == method)
    if (is_host := chosen.hosts) is not None:
        tests.append(lambda row: is_host(host_of_capture(row[1])))
    elif chosen.ranges and not has_keys:
        tests.append(lambda row: is_in_ranges(row_key(row), chosen.ranges))
    return tests


# ---- cursors


def write_cursor(place: Sequence[Any]) -> str:
    """Return the text of a place in the results, of letters, digits, `-` and `_`."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).decode().rstrip("=")


def read_cursor(text: str, kind: Any) -> Any:  # noqa: ANN401 - as the type says
    """Return the place of a text of `write_cursor`; None for "".

    Args:
        text: The text; hostile.
        kind: Type of the place.

    Raises:
        ConfigError: It is none.
    """
    if not text:
        return None
    try:
        raw = base64.b64decode(
            (text + "=" * (-len(text) % 4)).encode("ascii"), b"-_", validate=True
        )
        place = msgspec.msgpack.decode(raw, type=kind)
    except (binascii.Error, msgspec.MsgspecError, ValueError):
        place = ()
    if not place or any(isinstance(value, int) and abs(value) > _GREATEST for value in place):
        raise _wrong(
            message(
                "catalogue.no-cursor",
                "the cursor is none of this order: take `next` of the page before",
            )
        )
    return place


def _wrong(text: str) -> ConfigError:
    return ConfigError(text)
