"""Sitemaps: the pages or sitemaps that are listed, in order, with their dates.

Dates are compared as moments where the row has one; Nacre keeps them as written. What the peer
does not report (images, videos, other languages, further links of a feed) is left out here. A page
that is listed twice is one link.
"""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from nacre.core.crawluri import Outlink
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings
from nacre.extract.sitemap import CONTEXT, extract_sitemap
from nacre.uri.parse import parse
from tests.cases.table import Answer, Differs, Row, Table, json_lines


def listed(row: Row) -> list[Outlink]:
    """What the sitemap of a row lists."""
    encoded = row.get("document_base64")
    body = base64.b64decode(encoded) if encoded else row["document"].encode()
    document = Document(url=row["url"], mime=row["content_type"], body=body, is_sitemap=True)
    links = LinkCollector(document, ExtractSettings())
    extract_sitemap(document, links)
    return [link for link in links.outlinks if link.context == CONTEXT]


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = parsedate_to_datetime(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def check(row: Row) -> Answer:
    """Links as the row has them, with their dates. The answer: (URL, is it a sitemap?, date)."""
    found = listed(row)
    wrong = _compare(row, found)
    return wrong and Differs([(link.url, link.sitemap, link.lastmod) for link in found], wrong)


def _compare(row: Row, found: Sequence[Outlink]) -> str | None:
    expected: dict[str, Row] = {}
    for entry in row.get("expected") or []:
        expected.setdefault(parse(entry["url"]), entry)
    if [link.url for link in found] != list(expected):
        return str([link.url for link in found])
    if any(link.sitemap is not bool(row["is_index"]) for link in found):
        return "sitemap flag"
    for link, entry in zip(found, expected.values(), strict=True):
        if entry["lastmod"] and _moment(link.lastmod) != _moment(entry["lastmod"]):
            return f"{link.url}: {link.lastmod}"
    return None


TABLE = Table("sitemap", json_lines("sitemap.jsonl"), check)
