"""LinkRank in integers: the edges of a graph, and the table of its ranks, as SQL.

Ranks are integers in 2^-32, and the share that a node gives to each of its links is rounded down,
so that a sum is the same in any order; `rank_arrays` has the arithmetic. Source: Nutch, `WebGraph`
and `LinkRank` (reference N 1.11).
"""

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from nacre.crawldb.hosts import host_sql
from nacre.crawldb.row import ONE, bucket_of, bucket_of_host

if TYPE_CHECKING:
    import pyarrow as pa

RankLevel = Literal["host", "domain", "page"]
"""Nodes of a graph: hosts, registered domains, or pages."""

LEVELS: tuple[RankLevel, ...] = ("host", "domain", "page")

EDGES_OF_PART = 4_000_000
"""Edges of a part, so that the names of its nodes fit into the memory of a task."""
_MOST_PARTS = 1024

EDGES_AT_ONCE: dict[RankLevel, int] = {"host": 10**8, "domain": 10**8, "page": 16 * 10**6}
"""Most edges of a task: all edges if there are few nodes."""

MOST_NODES = 2**31 - 1
"""Nodes of a graph at most: an id has 32 bits."""


class RankColumn(NamedTuple):
    """A column of a table of ranks: its name, its type in SQL, its meaning."""

    name: str
    type: str
    doc: str


RANK_TABLE = (
    RankColumn("node", "VARCHAR", "The host, the registered domain, or the key of the page."),
    RankColumn("num_in", "BIGINT", "Nodes that link to it."),
    RankColumn("num_out", "BIGINT", "Nodes that it links to."),
    RankColumn("rank", "BIGINT", "Its rank, in 2^-32."),
)
"""The columns in the order of their files."""


@cache
def rank_schema() -> "pa.Schema":
    """The schema of a table of ranks in Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    kinds = {"VARCHAR": pa.string(), "BIGINT": pa.int64()}
    return pa.schema([pa.field(c.name, kinds[c.type]) for c in RANK_TABLE])


def rank_table(level: str) -> str:
    """The name of the table of a level."""
    return f"rank_{level}"


def rank_bucket(node: str, buckets: int) -> int:
    """The bucket of a node: that of the URLs of its host or domain."""
    return bucket_of(node, buckets) if "://" in node else bucket_of_host(node, buckets)


class Damping(NamedTuple):
    """The numbers of an iteration, in 2^-32.

    Attributes:
        base: The rank of every node without links.
        factor: The weight of a sum, of 2^32.
    """

    base: int
    factor: int

    @classmethod
    def of(cls, damping: float, nodes: int) -> "Damping":
        """Return the numbers for a damping factor: (1 - d) + d ÷ N, and d.

        Args:
            damping: d, 0 to 1.
            nodes: N, number of nodes.
        """
        factor = round(damping * ONE)
        return cls(ONE - factor + factor // max(nodes, 1), factor)


def parts_of(edges: int) -> int:
    """The number of parts that the names of nodes are divided into: 1 for a small graph."""
    return max(1, min(-(-edges // EDGES_OF_PART), _MOST_PARTS))


def part_sql(node: str, parts: int) -> str:
    """SQL of the part of a node."""
    return f"(hash({node}) % {parts})::USMALLINT" if parts > 1 else "0::USMALLINT"


def node_sql(level: RankLevel, page: str, domains: str = "") -> str:
    """Return SQL of the node of a page.

    Args:
        level: The level.
        page: SQL of its key.
        domains: For `domain`: name of its row of hosts with their domains.
    """
    if level == "page":
        return page
    return host_sql(page) if level == "host" else f"{domains}.domain"


def edges_sql(links: str, level: RankLevel, domains: str = "", *, per_domain: bool = False) -> str:
    """Return SQL of the edges of a graph, each once: `s`, `d`.

    Args:
        links: SQL after `from` for folded links: `src`, `dst`.
        level: The level.
        domains: A table of `host` and `domain`, if domains are needed.
        per_domain: Count only the least link of a page to each domain; at level `page`.
    """
    source = f"{links} l"
    if level == "domain" or per_domain:
        source += f" join {domains} t on t.host = {host_sql('l.dst')}"
    if level == "domain":
        source += f" join {domains} f on f.host = {host_sql('l.src')}"
    s, d = node_sql(level, "l.src", "f"), node_sql(level, "l.dst", "t")
    if level == "page" and not per_domain:
        return f"select l.src as s, l.dst as d from {source} where l.src <> l.dst"
    if level == "page":
        best = f"select l.src as s, min(l.dst) as d from {source} where l.src <> l.dst"
        return f"{best} group by l.src, t.domain"
    return f"select distinct s, d from (select {s} as s, {d} as d from {source}) where s <> d"


def score_changes_sql(rows: str, ranks: str, node: str) -> str:
    """Return SQL of rows that set the score of URLs to their rank, sorted by key.

    The columns about the discovery of a URL are repeated, so that they stay.

    Args:
        rows: SQL after `from` for rows of the CrawlDb, as in files.
        ranks: SQL after `from` for ranks: `node`, `rank`; a URL without one gets 0.
        node: The condition that joins them, over `m` and `r`.
    """
    columns = "m.key, m.url, m.via, m.path, m.source, m.md, m.first_seen"
    change = "coalesce(r.rank, 0) - coalesce(m.score, 0)"
    return (
        f"select {columns}, null::BIGINT as judged, ({change})::DECIMAL(38,0) as score, "
        "0::DECIMAL(38,0) as cash, 0::BIGINT as inlinks, null::USMALLINT as depth, "
        f"null::BIGINT as last_inlink from {rows} m left join {ranks} r on {node} "
        f"where {change} <> 0 order by m.key"
    )
