"""A row of the CrawlDb: its columns, their fold rules, and the bucket of a row.

`COLUMNS` is the single table of columns: the schemas of files, the queries of `fold` and the
reference of columns for `--where` come from it. Codes of a status: Nutch, `CrawlDatum` (reference N
1.3).
"""

from enum import IntEnum, StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.uri.canonical import host_hash
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host

if TYPE_CHECKING:
    import pyarrow as pa

    SCHEMA: pa.Schema
    ADD_SCHEMA: pa.Schema
    GROUPS: dict[str, pa.Schema]

ONE = 2**32
"""A score of 1.0: scores and cash are integers in 2^-32, so that sums are exact."""
GIVEN_UP = "given-up"
"""`last_reason` of a URL whose failure ended it in the continuous crawl that it came from."""


class Status(IntEnum):
    """The status of a URL, by Nutch's codes."""

    UNFETCHED = 1
    FETCHED = 2
    GONE = 3
    REDIR_TEMP = 4
    REDIR_PERM = 5
    NOT_MODIFIED = 6
    DUPLICATE = 7
    ORPHAN = 8
    PARSE_FAILED = 9

    @property
    def label(self) -> str:
        """Its name in Nutch's reports: `db_unfetched`."""
        return _LABELS[self]


_LABELS = {
    Status.UNFETCHED: "db_unfetched",
    Status.FETCHED: "db_fetched",
    Status.GONE: "db_gone",
    Status.REDIR_TEMP: "db_redir_temp",
    Status.REDIR_PERM: "db_redir_perm",
    Status.NOT_MODIFIED: "db_notmodified",
    Status.DUPLICATE: "db_duplicate",
    Status.ORPHAN: "db_orphan",
    Status.PARSE_FAILED: "db_parse_failed",
}


def status_of(label: str) -> Status:
    """Return the status of a name or a number: `db_gone`, `gone` or `3`.

    Raises:
        ValueError: There is no such status.
    """
    for status, name in _LABELS.items():
        if label in (name, name.removeprefix("db_"), str(int(status))):
            return status
    names = ", ".join(f"{name} ({int(status)})" for status, name in _LABELS.items())
    raise ValueError(f"there is no status {label!r}; one of: {names}")


class FoldRule(StrEnum):
    """The way in which the values of a column are folded.

    `SET`: the last value of its group. `FIRST`: the value of the least (first_seen, via). `SUM`,
    `MIN`, `MAX`: in any order.
    """

    KEY = "key"
    SET = "set"
    FIRST = "first"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


class RowColumn(NamedTuple):
    """A column.

    Attributes:
        name: Its name.
        type: Its type in SQL.
        rule: Its fold rule.
        group: The group that sets it; "" for columns of `add` files.
        doc: Its meaning.
    """

    name: str
    type: str
    rule: FoldRule
    group: str
    doc: str


_KEY, _SET, _FIRST = FoldRule.KEY, FoldRule.SET, FoldRule.FIRST
_SUM, _MIN, _MAX = FoldRule.SUM, FoldRule.MIN, FoldRule.MAX
_TEXTS = "MAP(VARCHAR, VARCHAR)"
_SCORE = "DECIMAL(38,0)"

COLUMNS = (
    RowColumn("key", "VARCHAR", _KEY, "", "Canonical URL."),
    RowColumn("url", "VARCHAR", _FIRST, "", "The URL as it is asked for, where it differs."),
    RowColumn("status", "UTINYINT", _SET, "state", "Nutch's code, 1 to 9."),
    RowColumn("fetch_time", "BIGINT", _SET, "state", "Next fetch, ms since the epoch."),
    RowColumn("interval", "INTEGER", _SET, "state", "Time between fetches, s."),
    RowColumn("fixed_interval", "DOUBLE", _SET, "state", "Interval that no schedule changes, s."),
    RowColumn("retries", "UTINYINT", _SET, "state", "Failures in a row, at most 255."),
    RowColumn("modified", "BIGINT", _SET, "state", "Last modification, ms; 0: not known."),
    RowColumn("signature", "BLOB", _SET, "state", "Signature of the content."),
    RowColumn("last_status", "SMALLINT", _SET, "state", "Fetch status of the last try."),
    RowColumn("last_time", "BIGINT", _SET, "state", "Time of the last try, µs since the epoch."),
    RowColumn(
        "last_reason", "VARCHAR", _SET, "state", "Why it was not tried, though listed; or given-up."
    ),
    RowColumn("evidence", "BLOB", _SET, "state", "Of `worth`: likelihood of rates of change."),
    RowColumn("digest", "VARCHAR", _SET, "capture", "Payload digest of the last capture."),
    RowColumn("framing", "VARCHAR", _SET, "capture", "Its transfer framing: `chunked` or empty."),
    RowColumn("record_id", "VARCHAR", _SET, "capture", "Its WARC-Record-ID."),
    RowColumn("warc_date", "BIGINT", _SET, "capture", "Its WARC-Date, µs since the epoch."),
    RowColumn("etag", "BLOB", _SET, "capture", "Its ETag."),
    RowColumn("last_modified", "BLOB", _SET, "capture", "Its Last-Modified."),
    RowColumn("length", "BIGINT", _SET, "capture", "Its payload length in bytes."),
    RowColumn("mime", "VARCHAR", _SET, "capture", "Its media type."),
    RowColumn("lang", "VARCHAR", _SET, "capture", "Its language."),
    RowColumn("rules", "BIGINT", _SET, "admission", "Hash of the rules that judged it last."),
    RowColumn("excluded", "VARCHAR", _SET, "admission", "File and line that refuse it; none."),
    RowColumn("leased", "VARCHAR", _SET, "lease", "Segment whose list holds it."),
    RowColumn("leased_until", "BIGINT", _SET, "lease", "Until when, ms since the epoch."),
    RowColumn("dup_of", "VARCHAR", _SET, "duplicate", "Key of the page that it is a copy of."),
    RowColumn("purged", "BIGINT", _SET, "purge", "When it was purged, ms; a later link undoes it."),
    RowColumn("seed_md", _TEXTS, _SET, "seed", "Metadata that a seed gave it; `md` has it too."),
    RowColumn("via", "VARCHAR", _FIRST, "", "The page that named it first."),
    RowColumn("path", "VARCHAR", _FIRST, "", "Its hop path from the seed."),
    RowColumn("source", "VARCHAR", _FIRST, "", "The seed that it comes from."),
    RowColumn("md", _TEXTS, _FIRST, "", "Metadata."),
    RowColumn("judged", "BIGINT", _MAX, "", "Hash of the rules that let a link to it in."),
    RowColumn("score", _SCORE, _SUM, "", "Score in 2^-32; under `opic` the history of its cash."),
    RowColumn("cash", _SCORE, _SUM, "", "Cash of `opic` in 2^-32."),
    RowColumn("inlinks", "BIGINT", _SUM, "", "Links to it."),
    RowColumn("depth", "USMALLINT", _MIN, "", "Least number of links from a seed; a seed has 1."),
    RowColumn("first_seen", "BIGINT", _MIN, "", "When it was first found, ms since the epoch."),
    RowColumn("last_inlink", "BIGINT", _MAX, "", "When a link to it was last seen, ms."),
)
"""The columns of the CrawlDb in the order of its files."""

GROUP_NAMES = tuple(dict.fromkeys(column.group for column in COLUMNS if column.group))
"""The groups: a row of a `set` file replaces all columns of one group."""


@cache
def group_columns(group: str) -> tuple[RowColumn, ...]:
    """Return the columns of a group, without the key.

    Raises:
        ValueError: There is no such group.
    """
    columns = tuple(column for column in COLUMNS if column.group == group)
    if not group or not columns:
        raise ValueError(f"there is no group {group!r}; one of: {', '.join(GROUP_NAMES)}")
    return columns


ADD_COLUMNS = tuple(column for column in COLUMNS if column.rule is not FoldRule.SET)
"""The columns of an `add` file, the key first."""


def bucket_of(url: str, buckets: int) -> int:
    """Return the bucket of a URL: the top bits of the hash of its registered domain.

    Args:
        url: A normalised URL.
        buckets: Number of buckets, a power of two up to 2^32.
    """
    return bucket_of_host(host(url), buckets)


def bucket_of_host(name: str, buckets: int) -> int:
    """Return the bucket of a host: all hosts of a registered domain share a bucket.

    Args:
        name: The host, lower case, without a port.
        buckets: Number of buckets, a power of two up to 2^32.
    """
    return bucket_of_domain(registered_domain(name), buckets)


def bucket_of_domain(domain: str, buckets: int) -> int:
    """Return the bucket of a registered domain; see `bucket_of_host`."""
    return int.from_bytes(host_hash(domain), "big") >> (33 - buckets.bit_length())


# ---- Arrow

_ARROW = {
    "VARCHAR": "string",
    "BLOB": "binary",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "DOUBLE": "float64",
}


def arrow_schema(columns: tuple[RowColumn, ...]) -> "pa.Schema":
    """Return the schema of columns in Arrow; the key is never null."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    types = {name: getattr(pa, kind)() for name, kind in _ARROW.items()}
    types[_TEXTS] = pa.map_(pa.string(), pa.string())
    types[_SCORE] = pa.decimal128(38, 0)
    return pa.schema(
        [
            pa.field(column.name, types[column.type], nullable=column.rule is not _KEY)
            for column in columns
        ]
    )


@cache
def _schemas() -> dict[str, Any]:
    key = COLUMNS[:1]
    groups = {name: arrow_schema(key + group_columns(name)) for name in GROUP_NAMES}
    return {
        "SCHEMA": arrow_schema(COLUMNS),
        "ADD_SCHEMA": arrow_schema(ADD_COLUMNS),
        "GROUPS": groups,
    }


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a schema, or those of the groups
    """Return `SCHEMA`, `ADD_SCHEMA` or `GROUPS`, made on first use, as importing Arrow is slow."""
    if name in {"SCHEMA", "ADD_SCHEMA", "GROUPS"}:
        return _schemas()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
