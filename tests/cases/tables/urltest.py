"""The URL Standard's tests of parsing (web-platform-tests), special schemes."""

from nacre.errors import URIError
from nacre.uri.parse import IGNORED_SCHEMES, Resolver, parse, scheme, split
from tests.cases.table import Answer, Differs, Row, Table, json_lines


def check(row: Row) -> Answer:
    """Compare the URL without its fragment, and its parts. The answer: the URL and its parts.

    None for an error.
    """
    expected = None if row.get("failure") else row["href"].partition("#")[0]
    base = row["base"]
    try:
        if base in (None, "about:blank") or scheme(expected or "") in IGNORED_SCHEMES:
            url: str | None = parse(row["input"])
        else:
            url = Resolver(base).resolve(row["input"])
    except URIError:
        url = None
    if url is None:
        return None if expected is None else Differs(None)
    answer = {"url": url, **parts_of(url)}
    right = url == expected and all(
        row[name] == value for name, value in answer.items() if name != "url"
    )
    return None if right else Differs(answer)


def parts_of(url: str) -> dict[str, str]:
    """Under the names of the URL Standard."""
    parts = split(url)
    user, _, password = parts.userinfo.partition(":")
    return {
        "protocol": f"{parts.scheme}:",
        "username": user,
        "password": password,
        "hostname": parts.host,
        "port": "" if parts.port is None else str(parts.port),
        "pathname": parts.path,
        "search": f"?{parts.query}" if parts.query else "",
    }


TABLE = Table("urltest", json_lines("urltest.jsonl"), check)
