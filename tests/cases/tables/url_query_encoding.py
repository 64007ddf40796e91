"""Queries in the encoding of the document (web-platform-tests)."""

from nacre.uri.parse import Resolver
from nacre.wire.guess import codec_of
from tests.cases.table import Row, Table, json_lines

_BASE = "http://example.com/"


def check(row: Row) -> str | None:
    """Resolve a link with the text as its query, in each encoding."""
    wrong = {}
    for label, expected in row["expected_by_document_encoding"].items():
        resolver = Resolver(_BASE, encoding=codec_of(label) or label)
        url = resolver.resolve(f"?{row['input']}")
        if url != f"{_BASE}?{expected}":
            wrong[label] = url
    return str(wrong) if wrong else None


TABLE = Table("url_query_encoding", json_lines("url_query_encoding.jsonl"), check)
