"""The facts of a fetch in files: visits, links, links summed by target, hosts.

A part of a unit has one file of each kind. Every row has the bucket of its key, and a file is
sorted by bucket and key, so that few row groups have the rows of a few buckets. Columns with the
meaning of a column of the CrawlDb (`row.COLUMNS`) have its name.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.crawldb.row import ADD_COLUMNS, arrow_schema, group_columns

if TYPE_CHECKING:
    import pyarrow as pa

    VISITS: pa.Schema
    LINKS: pa.Schema
    ADDS: pa.Schema
    HOSTS: pa.Schema


class FactColumn(NamedTuple):
    """A column.

    Attributes:
        name: Its name.
        type: Its type, by the name of a function of pyarrow; `dict` for few distinct texts.
        doc: Its meaning.
    """

    name: str
    type: str
    doc: str


_BUCKET = FactColumn("bucket", "int32", "Bucket of the key.")

VISIT_COLUMNS = (
    _BUCKET,
    FactColumn("key", "string", "Canonical URL."),
    FactColumn("url", "string", "The URL that was asked for, where it differs."),
    FactColumn("status", "int16", "Fetch status; 0: it was not attempted."),
    FactColumn(
        "reason",
        "dict",
        "Why a URL of the list was not attempted: deadline, blocked, failures, throughput.",
    ),
    FactColumn("via", "string", "The page that it was found on; null for a seed."),
    FactColumn("path", "string", "Hop path from the seed."),
    FactColumn("source", "string", "The seed that it comes from."),
    FactColumn("time", "int64", "When it began, µs since the epoch; the end, without a reply."),
    FactColumn("duration", "int32", "Time to the last byte, ms."),
    FactColumn("first_byte", "int32", "Time to the first byte, ms."),
    FactColumn("size", "int64", "Bytes of payload received."),
    FactColumn("payload_digest", "string", "Payload digest of the reply."),
    FactColumn("modified", "int64", "Last-Modified of the reply, ms since the epoch."),
    FactColumn("signature", "binary", "Signature of the content (`change.signature`)."),
    FactColumn("address", "string", "Address of the server."),
    FactColumn("retry_after", "float64", "Seconds that the server asked for."),
    FactColumn("noindex", "bool_", "Robots directives: in no index."),
    FactColumn("nofollow", "bool_", "Robots directives: follow no link."),
    FactColumn("redirect", "string", "Target of a redirect."),
    FactColumn("new_seed", "bool_", "That target is a seed, because a seed moved there."),
    FactColumn("canonical", "string", "What the page declares as its canonical URL."),
    FactColumn("outlinks", "int32", "Links found."),
    FactColumn("links", "int32", "Of these, targets that the scope accepts, each once."),
    FactColumn("stored", "dict", "What the archive got: novel, duplicate, not-modified, or none."),
    FactColumn("warc_file", "dict", "Name of the WARC."),
    FactColumn("warc_offset", "int64", "Offset of its first record there."),
    FactColumn("attempts", "int16", "Attempts made."),
    FactColumn("error", "string", "Why there was no reply, or the line of robots.txt."),
    FactColumn("soft_404", "bool_", "The page says with status 200 that it is missing."),
    FactColumn("parse_failed", "bool_", "A parser gave the content up."),
    FactColumn("simhash", "int64", "Simhash of the text, where `cycle.dedup.near` asks for it."),
)
"""Columns of a final visit, or of a URL that was not attempted; then those of `capture`."""

LINK_COLUMNS = (
    _BUCKET,
    FactColumn("dst", "string", "Key of the target."),
    FactColumn("src", "string", "Key of the page."),
    FactColumn("hop", "dict", "Letter of the hop."),
    FactColumn("rel", "dict", "`rel` of the element."),
    FactColumn("context", "dict", "Element and attribute."),
    FactColumn("anchor", "string", "Text of the link, at most 100 characters."),
    FactColumn("rank", "int32", "Place among the links of the page."),
    FactColumn("depth", "int16", "Depth of the target by this link."),
    FactColumn("time", "int64", "When the page was fetched, ms since the epoch."),
)
"""Columns of a link that the scope accepts."""

HOST_COLUMNS = (
    _BUCKET,
    FactColumn("host", "string", "The host."),
    FactColumn("visits", "int64", "Final visits."),
    FactColumn("replies", "int64", "Of these, those with a reply below 400."),
    FactColumn("missing", "int64", "Replies 400 to 499."),
    FactColumn("errors", "int64", "Replies of 500 and above."),
    FactColumn("dns_failures", "int64", "Visits that failed for its name."),
    FactColumn("connection_failures", "int64", "Visits without a connection or a whole reply."),
    FactColumn("refused", "int64", "Visits that robots.txt forbids."),
    FactColumn("bytes", "int64", "Bytes of payload received."),
    FactColumn("latency", "float64", "Smoothed time to the first byte, ms; 0: not known."),
    FactColumn("latencies", "list_", "Visits by the power of two of their time in ms, from 1."),
    FactColumn("backoff", "float64", "How many times the usual delay is kept; 1: the usual."),
    FactColumn("delay", "float64", "Last politeness delay, s."),
    FactColumn("robots", "binary", "Rows of robots.txt by origin, in msgpack."),
    FactColumn("answer", "binary", "Its addresses and until when they hold, in msgpack."),
    FactColumn("time", "int64", "Last visit, ms since the epoch."),
)
"""Columns of a host that a unit visited."""

LATENCIES = 20
"""Powers of two by which latencies are counted."""


@cache
def _schemas() -> dict[str, Any]:
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    def fields(columns: tuple[FactColumn, ...]) -> list[Any]:
        special = {
            "dict": pa.dictionary(pa.int32(), pa.string()),
            "list_": pa.list_(pa.int64()),
        }
        return [pa.field(c.name, special.get(c.type) or getattr(pa, c.type)()) for c in columns]

    capture = list(arrow_schema(group_columns("capture")))
    return {
        "VISITS": pa.schema([*fields(VISIT_COLUMNS), *capture]),
        "LINKS": pa.schema(fields(LINK_COLUMNS)),
        "ADDS": pa.schema([*fields((_BUCKET,)), *arrow_schema(ADD_COLUMNS)]),
        "HOSTS": pa.schema(fields(HOST_COLUMNS)),
    }


def __getattr__(name: str) -> Any:  # noqa: ANN401 - one of the schemas
    """Return `VISITS`, `LINKS`, `ADDS` or `HOSTS`, which are made on first use."""
    if name in {"VISITS", "LINKS", "ADDS", "HOSTS"}:
        return _schemas()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
