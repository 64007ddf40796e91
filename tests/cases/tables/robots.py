"""Verdicts of robots.txt: Google's own tests, crawler-commons, protego, Heritrix, Nutch."""

import base64
from urllib.parse import urlsplit

from nacre.scope.robots import parse_robots
from tests.cases.table import Row, Table, json_lines


def target_of(url: str) -> str:
    """Path and query, as a request has them."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def text_of(row: Row) -> bytes:
    """The bytes of a row's robots.txt."""
    if "robots_base64" in row:
        return base64.b64decode(row["robots_base64"])
    return str(row["robots"]).encode("utf-8", "surrogatepass")


def check(row: Row) -> str | None:
    rules = parse_robots(text_of(row)).for_agent(row["agent"])
    verdict = rules.verdict(target_of(row["url"]))
    if verdict.allowed is not row["allowed"]:
        return f"allowed={verdict.allowed} by {verdict.line!r}"
    if "crawl_delay" in row and rules.crawl_delay != row["crawl_delay"]:
        return f"crawl delay {rules.crawl_delay}, not {row['crawl_delay']}"
    return None


TABLE = Table("robots", json_lines("robots.jsonl"), check)
