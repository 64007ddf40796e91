"""Queries of CDX servers: their parameters and filters (pure).

Two dialects are read: pywb's, and OutbackCDX's, whose filters are complete regular expressions and
whose JSON is one array. Source: pywb's "CDXJ Server API"; the API documentation of OutbackCDX; for
`resumeKey`, the CDX server of the Internet Archive. Expressions run on RE2, in linear time.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote_plus

import re2

from nacre.archive.delta import MEDIA
from nacre.archive.index_facts import PostQuery
from nacre.catalogue.captures import IndexedCapture, read_position
from nacre.errors import NacreError, URIError
from nacre.messages import message
from nacre.replay.cdx_rows import OUTBACK_NAMES, XmlQuery, cdxj_line
from nacre.uri.surt import index_key

Dialect = Literal["pywb", "outbackcdx"]
Parameters = Mapping[str, Sequence[str]]
"""All values of each parameter, in order."""

MOST = 100_000
"""Captures in an answer, also if no limit is requested."""

_FILTERS = 20
_EXPRESSION = 1000
_RE2_MEMORY = 8 << 20
_EARLIEST, _LATEST = "10000101000000", "29991231235959"
_PYWB_NAMES = {
    "u": "url", "original": "url", "statuscode": "status", "s": "length", "mimetype": "mime",
    "m": "mime", "l": "length", "o": "offset", "d": "digest", "t": "timestamp", "k": "urlkey",
    "f": "filename",
}  # fmt: skip
_FALSE = ("", "0", "false", "f", "off")
_OUTPUTS: dict[Dialect, tuple[str, ...]] = {
    "pywb": ("cdxj", "json", "link", "text"),
    "outbackcdx": ("cdx", "cdxj", "json", "jsondict"),
}
_MATCH_TYPES = ("exact", "prefix", "host", "domain", "range")
_PAGED = ("page", "pageSize", "showNumPages", "showPagedIndex")


class CdxQueryError(NacreError):
    """A query that is malformed, or asks for more than there is; it is answered with status 400."""


class CdxKeys(NamedTuple):
    """The index keys of a query.

    Attributes:
        exact: The only key; "" for several.
        prefixes: Beginnings of keys, in order.
        since: Smaller keys are left out; "" for none.
    """

    exact: str = ""
    prefixes: tuple[str, ...] = ()
    since: str = ""


class CdxFilter(NamedTuple):
    """A condition on the fields of a capture.

    Attributes:
        field: The field; "" for the whole line.
        accepts: Decides on its value.
        is_negated: Captures that it accepts are left out.
    """

    field: str
    accepts: Callable[[str], bool]
    is_negated: bool

    def holds(self, capture: IndexedCapture, row: Mapping[str, str]) -> bool:
        """Whether a capture stays in the answer."""
        value = row.get(self.field, "") if self.field else cdxj_line(capture, row).rstrip("\n")
        return self.accepts(value) != self.is_negated


class Collapse(NamedTuple):
    """A rule by which captures that follow each other count as a single capture.

    Attributes:
        fields: Names, with the number of characters that are compared; 0 for all.
        is_last: The last of them stays, not the first.
    """

    fields: tuple[tuple[str, int], ...]
    is_last: bool = False

    def mark(self, row: Mapping[str, str]) -> tuple[str, ...]:
        """Return the text that is equal for captures that count as one."""
        return tuple(row.get(name, "")[: size or None] for name, size in self.fields)


class CdxQuery(NamedTuple):
    """A query.

    Attributes:
        url: The URL as requested, for TimeMaps; "" if only a key was.
        keys: The index keys.
        start: The earliest timestamp, 14 digits; "" for any.
        end: The latest.
        limit: Captures at most.
        closest: The time by whose distance captures are sorted; "" for none.
        is_reverse: The last captures come first.
        filters: Conditions, which must all hold.
        fields: Fields in the answer; () for all.
        output: Format of the answer.
        collapse: What counts as one; None: nothing.
        resolves: Add the place of the original to each revisit.
        resume: `IndexedCapture.position` behind which the answer begins; "" for its start.
        shows_resume: Add the position at which a limited answer can be resumed.
        has_differences: Include captures that only Nacre can replay (`archive.delta`).
        dialect: Whose rules apply.
    """

    url: str
    keys: CdxKeys
    start: str = ""
    end: str = ""
    limit: int = MOST
    closest: str = ""
    is_reverse: bool = False
    filters: tuple[CdxFilter, ...] = ()
    fields: tuple[str, ...] = ()
    output: str = "cdxj"
    collapse: Collapse | None = None
    resolves: bool = False
    resume: str = ""
    shows_resume: bool = False
    has_differences: bool = False
    dialect: Dialect = "pywb"

    def accepts(self, capture: IndexedCapture, row: Mapping[str, str]) -> bool:
        """Whether a capture is within the time, and all conditions hold."""
        if capture.mime == MEDIA and not self.has_differences:
            return False
        if self.start > capture.timestamp or (self.end and self.end < capture.timestamp):
            return False
        return all(condition.holds(capture, row) for condition in self.filters)


def read_cdx_query(parameters: Parameters, dialect: Dialect = "pywb") -> CdxQuery:
    """Read the parameters of a query.

    Raises:
        CdxQueryError: One of them cannot be used.
    """
    for name in _PAGED:
        if name in parameters:
            raise CdxQueryError(
                message(
                    "replay.cdx-pages",
                    "{name} is not supported: the index has no pages. Use limit and "
                    "showResumeKey=true.",
                    name=name,
                )
            )
    default = "cdxj" if dialect == "pywb" else "cdx"
    sort = _first(parameters, "sort")
    closest = _timestamp(parameters, "closest", _LATEST)
    is_closest = bool(closest) and (dialect == "pywb" or sort == "closest")
    return CdxQuery(
        url=_first(parameters, "url"),
        keys=_keys(parameters, dialect),
        start=_timestamp(parameters, "from", _EARLIEST)
        or _timestamp(parameters, "from_ts", _EARLIEST),
        end=_timestamp(parameters, "to", _LATEST),
        limit=_limit(parameters),
        closest=closest if is_closest else "",
        is_reverse=sort == "reverse" or _is_set(parameters, "reverse"),
        filters=_filters(parameters, dialect),
        fields=_fields(parameters, dialect),
        output=_choice(parameters, "output", _OUTPUTS[dialect], default),
        collapse=_collapse(parameters, dialect),
        resolves=_is_set(parameters, "resolveRevisits"),
        resume=_resume(parameters),
        shows_resume=_is_set(parameters, "showResumeKey"),
        has_differences=_is_set(parameters, "differences"),
        dialect=dialect,
    )


def _keys(parameters: Parameters, dialect: Dialect) -> CdxKeys:
    """Return the keys that `url`, `urlkey` and `matchType` mean."""
    url, match_type = _first(parameters, "url"), _first(parameters, "matchType")
    key = _first(parameters, "urlkey") if dialect == "outbackcdx" else ""
    if not url and not key:
        raise CdxQueryError(message("replay.cdx-url", 'the "url" parameter is missing. Add url=…'))
    if not match_type and url.startswith("*."):
        url, match_type = url[2:], "domain"
    elif not match_type and url.endswith("*"):
        url, match_type = url[:-1], "prefix"
    match_type = match_type or "exact"
    if match_type not in _MATCH_TYPES[: 4 if dialect == "pywb" else 5]:
        raise CdxQueryError(
            message(
                "replay.cdx-match-type",
                "Invalid match_type: {name}. Use exact, prefix, host or domain.",
                name=match_type[:40],
            )
        )
    method = _first(parameters, "method").upper()
    if method in ("POST", "PUT"):
        url = PostQuery(method, _first(parameters, "requestBody")).appended(url)
    try:
        key = key or index_key(url).replace(" ", "%20")
    except URIError as error:
        raise CdxQueryError(
            message("replay.cdx-bad-url", "{url!r} is no URL: {error}", url=url[:99], error=error)
        ) from error
    return _range(url, key, match_type)


def _range(url: str, key: str, match_type: str) -> CdxKeys:
    host = key.partition(")/")[0].removesuffix(")")
    if match_type == "exact":
        return CdxKeys(exact=key)
    if match_type == "host":
        return CdxKeys(prefixes=(f"{host})",))
    if match_type == "domain":
        return CdxKeys(prefixes=(f"{host})", f"{host},") if "," in host else (f"{host},",))
    if match_type == "range":
        return CdxKeys(prefixes=("",), since=key)
    if url.endswith("/") and not key.endswith("/"):
        key += "/"
    if url.endswith("?") and not key.endswith("?"):
        key += "?"
    return CdxKeys(prefixes=(key,))


def _filters(parameters: Parameters, dialect: Dialect) -> tuple[CdxFilter, ...]:
    texts = parameters.get("filter", ())
    if len(texts) > _FILTERS:
        raise CdxQueryError(
            message(
                "replay.cdx-many-filters",
                "there are {count} filters; at most {most} are applied.",
                count=len(texts),
                most=_FILTERS,
            )
        )
    read = _pywb_filter if dialect == "pywb" else _outback_filter
    return tuple(read(text) for text in texts if text)


def _pywb_filter(text: str) -> CdxFilter:
    """Read `[!][=|~][FIELD:]VALUE`: contains, is equal, or begins as an expression."""
    is_negated = text.startswith("!")
    text = text.removeprefix("!")
    mode = text[:1] if text[:1] in ("=", "~") else ""
    name, colon, value = text[len(mode) :].partition(":")
    if not colon:
        name, value = "", name
    name = _PYWB_NAMES.get(name, name)
    if mode == "=":
        return CdxFilter(name, value.__eq__, is_negated)
    if mode == "~":
        expression = _expression(value)
        return CdxFilter(name, lambda field: expression.match(field) is not None, is_negated)
    return CdxFilter(name, lambda field: value in field, is_negated)


_OUTBACK_FILTER = re.compile(r"(~)?(!)?(\w+):(.*)\Z", re.DOTALL)


def _outback_filter(text: str) -> CdxFilter:
    """Read `[~][!]FIELD:VALUE`: contains with `~`, else a whole match of an expression."""
    match = _OUTBACK_FILTER.match(text)
    if match is None:
        raise CdxQueryError(
            message(
                "replay.cdx-filter",
                "Invalid filter: {text}. Write FIELD:EXPRESSION.",
                text=text[:99],
            )
        )
    name, value, is_negated = OUTBACK_NAMES.get(match[3], match[3]), match[4], bool(match[2])
    if match[1]:
        return CdxFilter(name, lambda field: value in field, is_negated)
    expression = _expression(value)
    return CdxFilter(name, lambda field: expression.fullmatch(field) is not None, is_negated)


def _expression(pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors, options.max_mem = False, _RE2_MEMORY
    try:
        if len(pattern) > _EXPRESSION:
            raise re2.error("it is too long")  # noqa: TRY301 - the same answer
        return re2.compile(pattern, options)
    except re2.error as error:
        raise CdxQueryError(
            message(
                "replay.cdx-expression",
                "{pattern!r} cannot be used as a regular expression (RE2): {error}",
                pattern=pattern[:99],
                error=error,
            )
        ) from error


def _fields(parameters: Parameters, dialect: Dialect) -> tuple[str, ...]:
    names = (_first(parameters, "fields") or _first(parameters, "fl")).split(",")
    aliases = _PYWB_NAMES if dialect == "pywb" else {}
    return tuple(aliases.get(name.strip(), name.strip()) for name in names if name.strip())


def _collapse(parameters: Parameters, dialect: Dialect) -> Collapse | None:
    if length := _number(parameters, "collapseTime"):
        return Collapse((("timestamp", length), ("status", 0)))
    names = _PYWB_NAMES if dialect == "pywb" else OUTBACK_NAMES
    for parameter in ("collapseToFirst", "collapse", "collapseToLast"):
        if text := _first(parameters, parameter):
            name, _, size = text.partition(":")
            if size and not size.isdecimal():
                raise _refuse_number(parameter, text)
            field = names.get(name, name), int(size[:9] or 0)
            return Collapse((field,), is_last=parameter == "collapseToLast")
    return None


def _timestamp(parameters: Parameters, name: str, padding: str) -> str:
    text = _first(parameters, name)
    if text and not (text.isascii() and text.isdigit()):
        raise CdxQueryError(
            message(
                "replay.cdx-time",
                "{name}={text!r} is no timestamp. Write up to 14 digits: YYYYMMDDhhmmss.",
                name=name,
                text=text[:40],
            )
        )
    return (text + padding[len(text) :])[:14] if text else ""


def _resume(parameters: Parameters) -> str:
    position = _first(parameters, "resumeKey")
    if position and read_position(position) is None:
        raise CdxQueryError(
            message(
                "replay.cdx-resume",
                "resumeKey={text!r} was not given by this server.",
                text=position[:99],
            )
        )
    return position


def _limit(parameters: Parameters) -> int:
    return min(_number(parameters, "limit") or MOST, MOST)


def _number(parameters: Parameters, name: str) -> int:
    text = _first(parameters, name)
    if text and not (text.isascii() and text.isdigit() and len(text) < 19):
        raise _refuse_number(name, text)
    return int(text or 0)


def _choice(parameters: Parameters, name: str, choices: Sequence[str], default: str) -> str:
    value = _first(parameters, name) or default
    if value not in choices:
        raise CdxQueryError(
            message(
                "replay.cdx-output",
                "output={value} not supported. Use {choices}.",
                value=value[:40],
                choices=", ".join(choices),
            )
        )
    return value


def _is_set(parameters: Parameters, name: str) -> bool:
    return _first(parameters, name).lower() not in _FALSE


def _first(parameters: Parameters, name: str) -> str:
    return next(iter(parameters.get(name, ())), "")


def _refuse_number(name: str, value: str) -> CdxQueryError:
    return CdxQueryError(
        message(
            "replay.cdx-number",
            "{name}={value!r} is not a positive number.",
            name=name,
            value=value[:40],
        )
    )


# ---- The XML of Wayback's remote collections


XML_MOST = 10_000
"""Results in an answer in XML."""


def read_xml_query(parameters: Parameters) -> XmlQuery:
    """Read `q`, in which values are escaped once more, with `count` and `start_page`.

    Raises:
        CdxQueryError: A part cannot be used.
    """
    words = (word.partition(":") for word in _first(parameters, "q").split(" "))
    parts: dict[str, Sequence[str]] = {
        unquote_plus(name): (unquote_plus(value),) for name, _, value in words
    }
    url = _first(parts, "url")
    if not url:
        raise CdxQueryError(
            message("replay.cdx-xml-url", "q has no url. Write q=type:urlquery url:…")
        )
    try:
        key = index_key(url).replace(" ", "%20")
    except URIError as error:
        raise CdxQueryError(
            message("replay.cdx-bad-url", "{url!r} is no URL: {error}", url=url[:99], error=error)
        ) from error
    limit = _number(parameters, "count") or _number(parts, "limit") or XML_MOST
    limit = min(limit, XML_MOST)
    page = max(_number(parameters, "start_page"), 1)
    offset = limit * (page - 1) if "start_page" in parameters else _number(parts, "offset")
    kind = _first(parts, "type").lower() or "urlquery"
    return XmlQuery(kind, key, _timestamp(parts, "date", ""), limit, offset)
