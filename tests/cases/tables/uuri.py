"""URLs as Heritrix normalises them (UsableURIFactory)."""

from nacre.errors import URIError
from nacre.uri.parse import IGNORED_SCHEMES, Resolver, host, parse, scheme
from nacre.uri.surt import surt
from tests.cases.table import Row, Table, json_lines

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


def check(row: Row) -> str | None:
    """Compare URL, host and SURT."""
    url = normalised(row)
    if row.get("error") or url is None:
        return None if row.get("error") and url is None else str(url)
    answer = {"expected": url, "host": host(url), "surt": surt(url).lower()}
    wrong = {key: value for key, value in answer.items() if key in row and row[key] != value}
    return str(wrong) if wrong else None


TABLE = Table("uuri", json_lines("uuri.jsonl"), check)
