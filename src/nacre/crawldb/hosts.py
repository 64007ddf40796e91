"""The table of hosts: its columns, and the changes of rows by visits and counts, in SQL.

A row is replaced as a whole; queries make new rows from old rows and new data. Counts by status
come from `generate`, which reads all rows anyway; facts of a host come from its units. Source:
Nutch's HostDb (reference N 1.16), whose counts per host, percentiles and conditions are wrong
there.
"""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nacre.crawldb.kernels import Kernel, quoted
from nacre.crawldb.row import ONE, Status
from nacre.uri.domain import registered_domain

if TYPE_CHECKING:
    import pyarrow as pa

LATENCIES = 20
"""Powers of two of milliseconds by which latencies are counted, from 1 ms on."""

HOST_PATTERN = r"^[^:]+://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/:?#]*)"
"""The host of a URL, in the syntax of RE2."""


def host_sql(column: str) -> str:
    """Return SQL of the host of a URL, without its port."""
    # Most URLs have only the host there, and a pattern takes seven times as long.
    place = f"split_part({column}, '/', 3)"
    rare = " or ".join(f"contains({place}, '{mark}')" for mark in ":@?#")
    exact = f"regexp_extract({column}, {quoted(HOST_PATTERN)}, 1)"
    return f"(case when {rare} then {exact} else {place} end)"


class HostColumn(NamedTuple):
    """A column of the table of hosts.

    Attributes:
        name: Its name; in conditions `host.NAME`.
        type: Its type in SQL.
        doc: Its meaning.
        source: `count`: by `generate`; `sum`, `last`: facts of units, added up or the last value;
            "" for the name.
    """

    name: str
    type: str
    doc: str
    source: str


HOST_COLUMNS = (
    HostColumn("host", "VARCHAR", "The host, without a port.", ""),
    HostColumn("unfetched", "BIGINT", "URLs that are db_unfetched.", "count"),
    HostColumn("fetched", "BIGINT", "URLs that are db_fetched.", "count"),
    HostColumn("gone", "BIGINT", "URLs that are db_gone.", "count"),
    HostColumn("redir_temp", "BIGINT", "URLs that are db_redir_temp.", "count"),
    HostColumn("redir_perm", "BIGINT", "URLs that are db_redir_perm.", "count"),
    HostColumn("not_modified", "BIGINT", "URLs that are db_notmodified.", "count"),
    HostColumn("duplicate", "BIGINT", "URLs that are db_duplicate.", "count"),
    HostColumn("orphan", "BIGINT", "URLs that are db_orphan.", "count"),
    HostColumn("parse_failed", "BIGINT", "URLs that are db_parse_failed.", "count"),
    HostColumn("homepage", "VARCHAR", "Its page `/`, where that was fetched.", "count"),
    HostColumn("visits", "BIGINT", "Visits in all.", "sum"),
    HostColumn("replies", "BIGINT", "Replies below 400.", "sum"),
    HostColumn("missing", "BIGINT", "Replies 400 to 499.", "sum"),
    HostColumn("errors", "BIGINT", "Replies of 500 and above.", "sum"),
    HostColumn("dns_failures", "BIGINT", "Visits that failed for its name.", "sum"),
    HostColumn("connection_failures", "BIGINT", "Visits without a whole reply.", "sum"),
    HostColumn("refused", "BIGINT", "Visits that robots.txt forbids.", "sum"),
    HostColumn("bytes", "BIGINT", "Bytes of payload received.", "sum"),
    HostColumn("latencies", "BIGINT[]", "Visits by the power of two of their time in ms.", "sum"),
    HostColumn("latency", "DOUBLE", "Smoothed time to the first byte, ms; 0: not known.", "last"),
    HostColumn("backoff", "DOUBLE", "Factor by which the usual delay is longer.", "last"),
    HostColumn("delay", "DOUBLE", "Last politeness delay, s; Crawl-delay is in it.", "last"),
    HostColumn("robots", "BLOB", "Its robots.txt by origin, in msgpack.", "last"),
    HostColumn("answer", "BLOB", "Its addresses and until when they hold, in msgpack.", "last"),
    HostColumn("time", "BIGINT", "Last visit, ms since the epoch.", "last"),
)
"""The columns in the order of their files."""

RANK = HostColumn(
    "rank", "DOUBLE", "Its rank, as `rank --level host` computed it last; null: none.", ""
)
"""A further column of conditions, from the table of ranks."""

GONE_HOST_COLUMNS = ("leased", "leased_until")
"""Columns of files of earlier versions, which were always null."""

_COUNTED = {
    "unfetched": Status.UNFETCHED,
    "fetched": Status.FETCHED,
    "gone": Status.GONE,
    "redir_temp": Status.REDIR_TEMP,
    "redir_perm": Status.REDIR_PERM,
    "not_modified": Status.NOT_MODIFIED,
    "duplicate": Status.DUPLICATE,
    "orphan": Status.ORPHAN,
    "parse_failed": Status.PARSE_FAILED,
}

_PACE = frozenset(("delay", "latency"))
"""Columns that only an answer of the host can change."""


@cache
def host_schema() -> "pa.Schema":
    """The schema of the table in Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    kinds = {
        "VARCHAR": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BLOB": pa.binary(),
        "BIGINT[]": pa.list_(pa.int64()),
    }
    return pa.schema([pa.field(column.name, kinds[column.type]) for column in HOST_COLUMNS])


def no_hosts() -> str:
    """SQL of a table of hosts without rows."""
    columns = ", ".join(f'null::{column.type} as "{column.name}"' for column in HOST_COLUMNS)
    return f"select {columns} limit 0"


def visited_hosts(old: str, facts: str) -> str:
    """Return SQL of the new rows of the hosts that units visited; the newest facts win.

    Args:
        old: SQL after `from` for the rows so far.
        facts: SQL after `from` for facts of units: the columns of `facts.HOST_COLUMNS`; a host may
            occur several times.
    """
    sums = [c.name for c in HOST_COLUMNS if c.source == "sum" and c.name != "latencies"]
    lasts = [c.name for c in HOST_COLUMNS if c.source == "last" and c.name != "time"]
    picks = [f'sum("{name}") as "{name}"' for name in sums]
    # A unit without an answer of a host, as robots.txt forbade all, learned no pace.
    answered = "filter (replies + missing + errors > 0)"
    picks += [
        f'arg_max("{name}", time) {answered if name in _PACE else ""} as "{name}"' for name in lasts
    ]
    bins = ", ".join(f"sum(latencies[{number}])" for number in range(1, LATENCIES + 1))
    latest = (
        f"select host, {', '.join(picks)}, max(time) as time, [{bins}] as latencies "
        f"from {facts} group by host"
    )
    new = {name: f'coalesce(o."{name}", 0) + coalesce(n."{name}", 0)' for name in sums}
    new |= {name: f'coalesce(n."{name}", o."{name}")' for name in lasts}
    new["time"] = "greatest(o.time, n.time)"
    new["latencies"] = (
        f"list_transform(range(1, {LATENCIES + 1}), lambda i: "
        "coalesce(o.latencies[i], 0) + coalesce(n.latencies[i], 0))"
    )
    return _rows(new, f"({latest}) n left join {old} o on o.host = n.host", "n.host")


def counted_hosts(old: str, rows: str, *, changed: bool = False) -> str:
    """Return SQL of the new rows of all hosts that have URLs, with their counts by status.

    Args:
        old: SQL after `from` for the rows so far.
        rows: SQL after `from` for rows of the CrawlDb, as readers see them: `key`, `status`.
        changed: Only hosts whose counts differ from those of their old rows.
    """
    return summed_hosts(old, f"({host_tallies(rows)})", changed=changed)


def host_tallies(rows: str) -> str:
    """Return SQL of the counts by status of the hosts of some rows.

    Args:
        rows: See `counted_hosts`.
    """
    # Few groups first: nine filters, and a pattern, for each row take three times as long.
    there = f"status in ({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)})"
    home = f"{there} and ends_with(key, '/') and regexp_matches(key, '^https?://[^/]+/$')"
    grouped = (
        f"select {host_sql('key')} as host, status, count(*) as n, "
        f"min(key) filter ({home}) as home from {rows} group by 1, 2"
    )
    counts = ", ".join(
        f"coalesce(sum(n) filter (status = {int(status)}), 0) as {name}"
        for name, status in _COUNTED.items()
    )
    return f"select host, {counts}, min(home) as homepage from ({grouped}) group by 1"


def summed_hosts(old: str, tallies: str, *, changed: bool = False) -> str:
    """Return SQL of the new rows of hosts from the counts of several parts of their URLs.

    Args:
        old: See `counted_hosts`.
        tallies: SQL after `from` for the rows of `host_tallies` of all parts.
        changed: See `counted_hosts`.
    """
    sums = ", ".join(f"sum({name}) as {name}" for name in _COUNTED)
    latest = f"select host, {sums}, min(homepage) as homepage from {tallies} group by 1"
    new = {name: f'n."{name}"' for name in (*_COUNTED, "homepage")}
    source = f"({latest}) n left join {old} o on o.host = n.host"
    if changed:
        differ = " or ".join(f'o."{name}" is distinct from n."{name}"' for name in new)
        source = f"{source} where {differ}"
    return _rows(new, source, "n.host")


def _rows(new: dict[str, str], source: str, host: str) -> str:
    picks = [f"{host} as host"]
    for column in HOST_COLUMNS[1:]:
        value = new.get(column.name, f'o."{column.name}"')
        picks.append(f'({value})::{column.type} as "{column.name}"')
    return f"select {', '.join(picks)} from {source} order by host"


def ranked_hosts(hosts: str, ranks: str, *, add_hosts: bool = True) -> str:
    """Return SQL of host rows with their ranks.

    Args:
        hosts: SQL after `from` for the host rows.
        ranks: SQL after `from` for ranks: `node`, `rank` in 2^-32.
        add_hosts: Add a row for each host that has a rank and no row.
    """
    columns = ", ".join(f'h."{column.name}"' for column in HOST_COLUMNS[1:])
    return (
        f"select coalesce(h.host, r.node) as host, {columns}, "
        f'(r.rank / {ONE}.0)::{RANK.type} as "{RANK.name}" '
        f"from {hosts} h {'full' if add_hosts else 'left'} join {ranks} r on r.node = h.host"
    )


def add_functions(kernel: Kernel) -> None:
    """Let queries of users call `latency_percentile(latencies, SHARE)`, as in `readhosts`."""
    body = latency_percentile("share", "counts")
    kernel.execute(f"create or replace temp macro latency_percentile(counts, share) as ({body})")


def latency_percentile(share: float | str, column: str = "latencies") -> str:
    """Return SQL of a percentile of the latencies of a host, ms: the upper end of its power of two.

    Args:
        share: The share of visits that are no slower, 0 to 1, or SQL of this number.
        column: The column of counts.
    """
    total = f"list_sum({column})"
    reached = (
        f"list_filter(range(1, {LATENCIES + 1}), lambda i: "
        f"list_sum({column}[1:i]) >= {share} * {total})"
    )
    return f"case when {total} > 0 then pow(2, {reached}[1]) end"


def load_domains(kernel: Kernel, name: str, hosts: Iterable[str]) -> None:
    """Make a table of hosts with their registered domains: `host`, `domain`.

    Args:
        kernel: The kernel.
        name: Name of the table.
        hosts: The hosts.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    listed = list(hosts)
    domains = [registered_domain(n) if n else n for n in listed]
    types = [pa.array(listed, pa.string()), pa.array(domains, pa.string())]
    kernel.load(name, pa.table(types, names=["host", "domain"]))
