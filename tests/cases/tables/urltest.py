"""The URL Standard's tests of parsing (web-platform-tests), special schemes."""

from nacre.errors import URIError
from nacre.uri.parse import IGNORED_SCHEMES, Resolver, parse, scheme, split
from tests.cases.table import Row, Table, json_lines


def check(row: Row) -> str | None:
    """Compare the URL without its fragment, and its parts."""
    expected = None if row.get("failure") else row["href"].partition("#")[0]
    base = row["base"]
    try:
        if base in (None, "about:blank") or scheme(expected or "") in IGNORED_SCHEMES:
            url: str | None = parse(row["input"])
        else:
            url = Resolver(base).resolve(row["input"])
    except URIError:
        url = None
    if url is None or expected is None or url != expected:
        return None if url == expected else str(url)
    return _wrong_parts(row, url)


def _wrong_parts(row: Row, url: str) -> str | None:
    parts = split(url)
    user, _, password = parts.userinfo.partition(":")
    answer = {
        "protocol": f"{parts.scheme}:",
        "username": user,
        "password": password,
        "hostname": parts.host,
        "port": "" if parts.port is None else str(parts.port),
        "pathname": parts.path,
        "search": f"?{parts.query}" if parts.query else "",
    }
    wrong = {key: value for key, value in answer.items() if row[key] != value}
    return str(wrong) if wrong else None


TABLE = Table("urltest", json_lines("urltest.jsonl"), check)
