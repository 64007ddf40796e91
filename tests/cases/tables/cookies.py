"""Cookies: what a server sets and what it gets back (abarth/http-state)."""

from urllib.parse import urljoin

from nacre.fetch.cookie_jar import CookieJar
from tests.cases.table import Row, Table, json_lines

NOW = 1_790_000_000.0  # September 2026
NEXT = "/cookie-parser-result"


def check(row: Row) -> str | None:
    """The same pairs in the same order."""
    jar = CookieJar()
    jar.store(row["request_url"], [_bytes(text) for text in row["set_cookie"]], NOW)
    url = urljoin(row["request_url"], row.get("next_url") or NEXT)
    expected = "; ".join(f"{pair['name']}={pair['value']}" for pair in row["sent"])
    answer = jar.header(url, NOW)
    return None if _bytes(answer) == _bytes(expected) else answer


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


TABLE = Table("cookies", json_lines("cookies.jsonl"), check)
