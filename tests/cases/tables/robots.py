"""Verdicts of robots.txt: Google's own tests, crawler-commons, protego, Heritrix, Nutch."""

import base64
import re

from nacre.errors import URIError
from nacre.scope.robots_txt import AgentRules, RobotsVerdict, normal_path, parse_robots
from nacre.uri.parse import parse, request_target
from tests.cases.table import Answer, Differs, Row, Table, json_lines

_TOKEN = re.compile(r"[A-Za-z_-]+|\*?")


def target_of(url: str) -> str:
    """Path and query, as the request of a crawl would have them."""
    try:
        return request_target(parse(url))
    except URIError:
        return url or "/"


def text_of(row: Row) -> bytes:
    """The bytes of a row's robots.txt."""
    if "robots_base64" in row:
        return base64.b64decode(row["robots_base64"])
    return str(row["robots"]).encode("utf-8", "surrogatepass")


def rules_of(row: Row) -> AgentRules:
    return parse_robots(text_of(row)).for_agent(row["agent"])


def verdict_of(row: Row) -> RobotsVerdict:
    return rules_of(row).verdict(target_of(row["url"]))


def google_is_asked(row: Row) -> bool:
    """Google's matcher has a say: it was given a product token, and a URL as it wants them.

    It compares what it is given byte by byte: escapes must be in normal form already. RFC 9309 says
    itself that robots.txt is always allowed.
    """
    raw = re.sub(r"^\w+://[^/?]*", "", row["url"]) or "/"
    return (
        "google_verdict" in row
        and _TOKEN.fullmatch(row["agent"]) is not None
        and _signs(normal_path(raw)) == _signs(raw.encode())
        and raw != "/robots.txt"
    )


def _signs(path: bytes) -> bytes:
    """`*` and `$` may be written either way."""
    return path.replace(b"%24", b"$").replace(b"%2A", b"*")


def check(row: Row) -> Answer:
    """Compare verdict and delay; the answer is both: (allowed, seconds or None)."""
    verdict, delay = verdict_of(row), rules_of(row).crawl_delay
    answer = (verdict.allowed, delay)
    if verdict.allowed is not row["allowed"]:
        return Differs(answer, f"allowed={verdict.allowed} by {verdict.line!r}")
    if google_is_asked(row) and verdict.allowed is not row["google_verdict"]:
        text = f"allowed={verdict.allowed} by {verdict.line!r}, unlike Google's matcher"
        return Differs(answer, text)
    if "crawl_delay" in row and delay != row["crawl_delay"]:
        return Differs(answer, f"crawl delay {delay}, not {row['crawl_delay']}")
    return None


TABLE = Table("robots", json_lines("robots.jsonl"), check)
