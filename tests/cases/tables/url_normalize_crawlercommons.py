"""The normalizer of crawler-commons: `basic` and `clean-query`; and its resolving of links."""

from nacre.errors import URIError
from nacre.scope.normalize.basic import BasicNormalizer, QueryNormalizer
from nacre.uri.parse import Resolver, parse
from tests.cases.table import Answer, Differs, Row, Table, json_lines

_BASIC = BasicNormalizer(idn="ascii", idna2008=False, trim_trailing_dot=True, default_scheme="http")
_CLEAN = QueryNormalizer()


def _normalize(text: str) -> str | None:
    try:
        return _CLEAN.normalize(_BASIC.normalize(text, "default"), "default")
    except URIError:
        return None


def _check(row: Row) -> Answer:
    expected = row["expected"]
    if row["normalizer"] == "resolve-only":
        # As it is requested: escaped, and without the fragment, which no server sees.
        base = row["base"]
        answer = Resolver(base).resolve(row["input"]) if base else parse(row["input"])
        expected = parse(expected)
    else:
        answer = _normalize(row["input"])
    return None if answer == expected else Differs(answer)


TABLE = Table(
    "url_normalize_crawlercommons", json_lines("url_normalize_crawlercommons.jsonl"), _check
)
