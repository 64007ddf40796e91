"""Memento: times in archive addresses, TimeGates, TimeMaps and Link headers (pure).

Source: RFC 7089; RFC 8288 and RFC 6690 for the syntax of links; addresses with 14 digits and a
modifier as in Wayback machines and pywb.
"""

import re
from calendar import monthrange, timegm
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from nacre.errors import NacreError
from nacre.messages import message
from nacre.wire.date import format_http_date, parse_http_date

PAGE = 1000
"""Mementos in one TimeMap; a URL with more has several, which link to each other."""

LINK_FORMAT = "application/link-format"

MODIFIERS = frozenset(
    ("", "id_", "mp_", "if_", "im_", "js_", "cs_", "fw_", "oe_", "wkr_", "tf_", "uo_", "bn_")
)
"""What may follow the digits: `id_` for the bytes as captured; all others replay the page."""

_PATH = re.compile(r"(?:(\d{1,14})([a-z]{2,3}_)?|([a-z]{2,3}_))/+(.*)\Z", re.DOTALL | re.ASCII)
_TIMEMAP = re.compile(r"timemap/([a-z]+)/(?:(\d{1,9})/)?(.+)\Z", re.DOTALL | re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HOST_PORT = re.compile(r"[^/?#:]+:\d+(?:[/?#]|\Z)", re.ASCII)
_UNSAFE = re.compile(r"[^!#-;=?-\[\]_a-z~]")
_IMF_FIX = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
    r"\d{4} \d{2}:\d{2}:\d{2} GMT",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - all times here are UTC, of any year


class MementoError(NacreError):
    """A request of a Memento client that is malformed; it is answered with status 400."""


def timestamp_seconds(timestamp: str) -> int:
    """Return the seconds since the epoch of a timestamp of up to 14 digits.

    A shorter one is the last second of its year, month and so on, as in pywb; numbers that no
    calendar has are taken to the nearest that it has.
    """
    year = _number(timestamp, 0, 4, 1, 9999, "2999")
    month = _number(timestamp, 4, 6, 1, 12, "12")
    day = _number(timestamp, 6, 8, 1, monthrange(year, month)[1], "31")
    hour = _number(timestamp, 8, 10, 0, 23, "23")
    minute = _number(timestamp, 10, 12, 0, 59, "59")
    second = _number(timestamp, 12, 14, 0, 59, "59")
    return timegm((year, month, day, hour, minute, second))


def _number(text: str, start: int, end: int, least: int, most: int, padding: str) -> int:
    digits = text[start:end]
    digits += padding[len(digits) :]
    return min(max(int(digits), least), most)


def seconds_timestamp(seconds: float) -> str:
    """Return the 14 digits of seconds since the epoch; years 1 to 9999."""
    least, most = timegm((1, 1, 1, 0, 0, 0)), timegm((9999, 12, 31, 23, 59, 59))
    moment = _EPOCH + timedelta(seconds=int(min(max(seconds, least), most)))
    return f"{moment.year:04}" + moment.strftime("%m%d%H%M%S")


def memento_date(timestamp: str) -> str:
    """Return Memento-Datetime of a timestamp: an HTTP date."""
    return format_http_date(timestamp_seconds(timestamp))


def read_accept_datetime(value: str) -> str:
    """Return the 14 digits of an Accept-Datetime header.

    Raises:
        MementoError: It is not a date of RFC 1123, of which clause 2.1.1 wants status 400.
    """
    text = value.strip()
    moment = parse_http_date(text) if _IMF_FIX.fullmatch(text) else None
    if moment is None:
        raise MementoError(
            message(
                "replay.accept-datetime",
                "Accept-Datetime is {value!r}, which is not a date such as "
                "'Thu, 31 May 2007 20:35:00 GMT'. Send a date in that form.",
                value=value[:60],
            )
        )
    return seconds_timestamp(moment)


class ReplayPath(NamedTuple):
    """An address within an archive.

    Attributes:
        timestamp: Up to 14 digits; "" for the TimeGate, or the newest capture.
        modifier: One of `MODIFIERS`.
        url: URL of the original, with a scheme.
    """

    timestamp: str
    modifier: str
    url: str


def read_replay_path(path: str) -> ReplayPath | None:
    """Read `20261120100000id_/http://…`, `2026/…`, `id_/…` or `http://…`; None for other paths.

    Args:
        path: The path after the name of the archive, without a slash in front, with its query.
    """
    match = _PATH.match(path)
    if match is None:
        return ReplayPath("", "", original_url(path)) if _looks_like_url(path) else None
    timestamp, modifier = match[1] or "", match[2] or match[3] or ""
    if modifier not in MODIFIERS or not match[4]:
        return None
    return ReplayPath(timestamp, modifier, original_url(match[4]))


class TimeMapPath(NamedTuple):
    """The address of a TimeMap.

    Attributes:
        form: `link`, `json` or `cdxj`.
        page: Number of the page, from 1.
        url: URL of the original, with a scheme.
    """

    form: str
    page: int
    url: str


def read_timemap_path(path: str) -> TimeMapPath | None:
    """Read `timemap/link/http://…` or `timemap/link/2/http://…`; None for other paths.

    Raises:
        MementoError: It has an unknown form.
    """
    match = _TIMEMAP.match(path)
    if match is None:
        return None
    if match[1] not in ("link", "json", "cdxj"):
        raise MementoError(
            message(
                "replay.timemap-form",
                "there is no TimeMap in the form {form!r}. Ask for link, json or cdxj.",
                form=match[1][:40],
            )
        )
    return TimeMapPath(match[1], max(int(match[2] or 1), 1), original_url(match[3]))


def original_url(text: str) -> str:
    """Return the URL in an address: `http://` in front if it has no scheme.

    Servers and clients make one slash of two; it is put back.
    """
    scheme, slash, after = text.partition(":/")
    if slash and scheme.lower() in ("http", "https", "ftp") and not after.startswith("/"):
        return f"{scheme}://{after}"
    if text.startswith("//"):
        return f"http:{text}"
    if _SCHEME.match(text) and not _HOST_PORT.match(text):
        return text
    return f"http://{text}"


def _looks_like_url(path: str) -> bool:
    has_scheme = _SCHEME.match(path) is not None and not _HOST_PORT.match(path)
    return bool(path) and (has_scheme or "." in path.partition("/")[0])


class MementoPlaces(NamedTuple):
    """Makes the URIs of an archive.

    Attributes:
        base: The archive, with its slash: `http://localhost:8411/demo/`.
        modifier: Modifier of mementos: "" or `mp_`.
    """

    base: str
    modifier: str = ""

    def memento(self, url: str, timestamp: str) -> str:
        """URI-M of a capture."""
        return f"{self.base}{timestamp}{self.modifier}/{url}"

    def timegate(self, url: str) -> str:
        """URI-G of a URL."""
        return f"{self.base}{url}"

    def timemap(self, url: str, form: str = "link", page: int = 1) -> str:
        """URI-T of a URL."""
        number = f"{page}/" if page > 1 else ""
        return f"{self.base}timemap/{form}/{number}{url}"


def memento_links(
    places: MementoPlaces, url: str, timestamps: Sequence[str], current: str = ""
) -> str:
    """Return the Link header of a TimeGate or a memento.

    Args:
        places: Makes the URIs.
        url: URL of the original.
        timestamps: Those of all its captures, in order of time.
        current: The timestamp of the memento that is answered; "" for none.
    """
    links = [
        _link(url, "original"),
        _link(places.timegate(url), "timegate"),
        f'{_link(places.timemap(url), "timemap")}; type="{LINK_FORMAT}"',
    ]
    relations: dict[str, list[str]] = {}
    if timestamps:
        relations[timestamps[0]] = ["first"]
        relations.setdefault(timestamps[-1], []).append("last")
    if current:
        earlier = [stamp for stamp in timestamps if stamp < current]
        later = [stamp for stamp in timestamps if stamp > current]
        if earlier:
            relations.setdefault(earlier[-1], []).append("prev")
        if later:
            relations.setdefault(later[0], []).append("next")
        relations.setdefault(current, [])
    links += [
        _memento_link(places, url, stamp, words) for stamp, words in sorted(relations.items())
    ]
    return ", ".join(links)


def timemap_lines(
    places: MementoPlaces, url: str, timestamps: Sequence[str], page: int = 1, size: int = PAGE
) -> Iterator[str]:
    """Yield the lines of a TimeMap in `application/link-format`.

    Args:
        places: Makes the URIs.
        url: URL of the original.
        timestamps: Those of all its captures, in order of time; at least one.
        page: Number of the page, from 1; one behind the last is the last.
        size: Mementos on a page.

    A TimeMap of several pages links to the others, with the time that each covers (clause 5.3).
    """
    pages = max(-(-len(timestamps) // size), 1)
    page = min(page, pages)
    lines = [
        _link(url, "original"),
        _timemap_link(places, url, timestamps, page, size, "self"),
        _link(places.timegate(url), "timegate"),
    ]
    lines += [
        _timemap_link(places, url, timestamps, number, size, "timemap")
        for number in range(1, pages + 1)
        if number != page
    ]
    start = (page - 1) * size
    last = len(timestamps) - 1
    for number, stamp in enumerate(timestamps[start : start + size], start):
        words = [word for word, at in (("first", 0), ("last", last)) if number == at]
        lines.append(_memento_link(places, url, stamp, words))
    yield from (line + ",\n" for line in lines[:-1])
    yield lines[-1] + "\n"


def _timemap_link(
    places: MementoPlaces, url: str, timestamps: Sequence[str], page: int, size: int, relation: str
) -> str:
    part = timestamps[(page - 1) * size : page * size]
    link = f'{_link(places.timemap(url, page=page), relation)}; type="{LINK_FORMAT}"'
    if not part:
        return link
    return f'{link}; from="{memento_date(part[0])}"; until="{memento_date(part[-1])}"'


def _memento_link(places: MementoPlaces, url: str, timestamp: str, words: Sequence[str]) -> str:
    return memento_entry(places.memento(url, timestamp), timestamp, *words)


def memento_entry(target: str, timestamp: str, *words: str) -> str:
    """Return the link to a memento.

    Args:
        target: URI-M.
        timestamp: Its time, 14 digits.
        words: Relations besides `memento`.
    """
    return f'{_link(target, " ".join((*words, "memento")))}; datetime="{memento_date(timestamp)}"'


def _link(target: str, relation: str) -> str:
    return f'<{_safe(target)}>; rel="{relation}"'


def _safe(target: str) -> str:
    """Return a URI that cannot end its angle brackets, its header or its line."""
    return _UNSAFE.sub(
        lambda match: "".join(f"%{b:02X}" for b in match[0].encode("utf-8", "replace")), target
    )
