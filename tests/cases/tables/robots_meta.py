"""What a robots.txt says besides its rules: delays, sitemaps; and what a failed fetch means."""

from urllib.parse import urljoin

from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings
from nacre.extract.sitemap import robots_sitemaps
from nacre.scope.robots_txt import RobotsState, outcome_of, parse_robots
from tests.cases.table import Answer, Differs, Row, Table, json_lines
from tests.cases.tables.robots import text_of

PROBES = ("/", "/index.html", "/a/b?c=d")


def check(row: Row) -> Answer:
    return _status(row) if "http_status" in row else _file(row)


def _status(row: Row) -> str | None:
    """`defer_visits` and `allow_none`: nothing may be fetched before more is known."""
    outcome = outcome_of(row["http_status"])
    allows, defers = outcome is RobotsState.ALLOW, outcome is not RobotsState.ALLOW
    wanted = (row["allow_all"], row["allow_none"], row["defer_visits"])
    return None if (allows, defers, defers) == wanted else str(outcome)


def _file(row: Row) -> Answer:
    """`allow_all` and `allow_none` are only set where the peer did not keep the rules.

    The answer: delay in seconds or None, sitemaps, whether each of `PROBES` is allowed.
    """
    rules = parse_robots(text_of(row)).for_agent(",".join(row["agents"]))
    delay = None if rules.crawl_delay is None else rules.crawl_delay * 1000
    allowed = tuple(rules.verdict(probe).allowed for probe in PROBES)
    answer = (rules.crawl_delay, tuple(_sitemaps(row)), allowed)
    if delay != row["crawl_delay_ms"]:
        return Differs(answer, f"crawl delay {delay} ms")
    if row["sitemaps"] != _sitemaps(row):
        return Differs(answer, f"sitemaps {_sitemaps(row)}")
    if (row["allow_all"] and False in allowed) or (row["allow_none"] and True in allowed):
        return Differs(answer, f"allowed {allowed}")
    return None


def _sitemaps(row: Row) -> list[str]:
    base = urljoin(row["robots_url"], "/robots.txt")
    base = base if "://" in base else f"http://{row['robots_url']}/robots.txt"
    document = Document(url=base, mime="text/plain", body=text_of(row))
    links = LinkCollector(document, ExtractSettings())
    robots_sitemaps(document, links)
    return [link.url for link in links.outlinks]


TABLE = Table("robots_meta", json_lines("robots_meta.jsonl"), check)
