"""The language of a search: words, phrases, fields, `OR` and `-`; read into clauses.

All words must be there. `"…"` is a phrase, `-word` must not be there, `a OR b` is either of them,
`field:value` looks in a field. What looks like a field and names none is text, as a URL is.
"""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from nacre.errors import ConfigError, Problem
from nacre.search.analysis import QueryPhrase, query_phrase

TEXT_FIELDS = ("title", "content", "anchor", "url")
"""Fields in which words are searched."""
EXACT_FIELDS = ("site", "host", "type", "lang", "segment", "digest", "id")
"""Fields whose whole values are compared."""
DATE_FIELDS = ("before", "after", "date")
"""Fields of the time at which a page was fetched."""

_HEBREW = "[\u0590-\u05ff]"
_MARK = rf"""(?:(?<={_HEBREW})"(?={_HEBREW}))"""
"""The mark of an abbreviation, as it is typed (UAX 29, WB7b)."""
_TOKEN = re.compile(
    r"""(?P<minus>-)?(?:(?P<field>[A-Za-z]+):)?"""
    rf"""(?:["“”](?P<phrase>(?:[^"“”]|{_MARK})*)["“”]?|(?P<word>(?:[^\s"“”]|{_MARK})+))"""
)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_MOST = 64
"""Clauses of a query."""
LONGEST_QUERY = 4_096


class QueryClause(NamedTuple):
    """A part of a query.

    Attributes:
        kind: `words`: a phrase, in a field or in all of text; `value`: the exact value of a field;
            `time`: a range of times.
        field: The field; "" for all fields of text.
        phrase: Of `words`.
        value: Of `value`; for `words` the typed text.
        since: Of `time`: ms since the epoch, inclusive; None: no bound.
        until: The same, exclusive.
        negative: It must not hold.
    """

    kind: Literal["words", "value", "time"]
    field: str = ""
    phrase: QueryPhrase = QueryPhrase(())
    value: str = ""
    since: int | None = None
    until: int | None = None
    negative: bool = False


class ParsedQuery(NamedTuple):
    """A query: all groups must hold, of each group one clause.

    Attributes:
        groups: The groups.
        text: What was typed.
    """

    groups: tuple[tuple[QueryClause, ...], ...]
    text: str

    @property
    def phrases(self) -> tuple[QueryPhrase, ...]:
        """The phrases that a text is searched for; to mark them in it."""
        return tuple(
            clause.phrase
            for group in self.groups
            for clause in group
            if clause.kind == "words" and not clause.negative
        )


def parse_query(text: str) -> ParsedQuery:
    """Read a query.

    Args:
        text: What was typed.

    Raises:
        ConfigError: The query is empty or too long, or a date is invalid.
    """
    if len(text) > LONGEST_QUERY:
        raise _wrong(f"a query of {len(text):,} characters", f"at most {LONGEST_QUERY:,}")
    groups: list[list[QueryClause]] = []
    either = False
    for match in _TOKEN.finditer(text):
        if match[0] == "OR":
            either = bool(groups)
            continue
        clause = _clause(match)
        if clause is None:
            continue
        if either:
            groups[-1].append(clause)
        else:
            groups.append([clause])
        either = False
    if not groups:
        raise _wrong(f"nothing to look for in {text!r}", "a word", 'nacre search DIR "two words"')
    if sum(map(len, groups)) > _MOST:
        raise _wrong(f"a query of {sum(map(len, groups))} parts", f"at most {_MOST}")
    return ParsedQuery(tuple(map(tuple, groups)), text)


def _clause(match: re.Match[str]) -> QueryClause | None:
    negative = match["minus"] is not None
    words = match["phrase"] if match["phrase"] is not None else match["word"]
    field = (match["field"] or "").lower()
    if field in DATE_FIELDS:
        since, until = _times(field, words)
        return QueryClause("time", field, since=since, until=until, negative=negative)
    if field in EXACT_FIELDS:
        value = words if field in {"id", "digest", "segment"} else words.lower()
        return QueryClause("value", field, value=value, negative=negative) if words else None
    if field not in TEXT_FIELDS:
        words = f"{match['field']}:{words}" if field else words
        field = ""
    phrase = query_phrase(words)
    return QueryClause("words", field, phrase, words, negative=negative) if phrase.terms else None


def _times(field: str, text: str) -> tuple[int | None, int | None]:
    """Return the range of a field of dates, ms."""
    first, dots, last = text.partition("..")
    if field == "before":
        return None, _span(field, text)[0]
    if field == "after":
        return _span(field, text)[1], None
    begin = _span(field, first)[0] if first else None
    if not dots:
        return begin, _span(field, first)[1]
    return begin, _span(field, last)[1] if last else None


def _span(field: str, text: str) -> tuple[int, int]:
    """First and next ms of a year, a month or a day."""
    match = _DATE.fullmatch(text)
    if match is None:
        raise _no_date(field, text)
    try:
        year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
        begin = datetime(year, month, day, tzinfo=UTC)
        if match[3]:
            end = begin + timedelta(days=1)
        elif match[2]:
            end = begin + timedelta(days=monthrange(year, month)[1])
        else:
            end = datetime(year + 1, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        raise _no_date(field, text) from None
    return round(begin.timestamp() * 1000), round(end.timestamp() * 1000)


def _no_date(field: str, text: str) -> ConfigError:
    expected = "a year, a month or a day; with `date:` two of them"
    return _wrong(f"{field}:{text}: no date", expected, "date:2026-01..2026-03")


def _wrong(text: str, expected: str, example: str = "") -> ConfigError:
    return ConfigError([Problem("", text, expected, example)])
