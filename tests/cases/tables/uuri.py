"""URLs as Heritrix normalises them (UsableURIFactory)."""

from nacre.errors import URIError
from nacre.uri.parse import IGNORED_SCHEMES, Resolver, host, parse, scheme
from nacre.uri.surt import surt
from tests.cases.table import Answer, Differs, Row, Table, json_lines

_CODECS = {"windows-1256": "cp1256"}


def normalised(row: Row) -> str | None:
    """What Nacre makes of the row: None for an error."""
    text, base = row["input"], row.get("base")
    try:
        # A link to what cannot be fetched is no outlink: its text is looked at by itself.
        if base is None or scheme(row.get("expected") or "") in IGNORED_SCHEMES:
            return parse(text)
        encoding = _CODECS.get(row.get("charset", ""), "utf-8")
        return Resolver(base, encoding=encoding).resolve(text)
    except URIError:
        return None


def check(row: Row) -> Answer:
    """Compare URL, host and SURT. The answer: all three, or None for an error."""
    url = normalised(row)
    if url is None:
        return None if row.get("error") else Differs(None)
    answer = {"expected": url, "host": host(url), "surt": surt(url).lower()}
    wrong = any(key in row and row[key] != value for key, value in answer.items())
    return Differs(answer) if wrong or row.get("error") else None


TABLE = Table("uuri", json_lines("uuri.jsonl"), check)
