"""The table of links: the links to a page, with their texts, and first and last times, in SQL.

Its buckets are those of the targets. A link is folded in any order: `first` is the least time at
which it was seen, `last` the greatest, and texts are those of the last time. Links are never
removed: a link that the newest version of its page lacks has an earlier `last`. Source: Nutch's
LinkDb (reference N 1.1, 1.3), which stores neither times nor removed links.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nacre.crawldb.hosts import host_sql
from nacre.crawldb.kernels import parquet
from nacre.crawldb.settings import LinkDbSettings

if TYPE_CHECKING:
    import pyarrow as pa


class LinkColumn(NamedTuple):
    """A column of the table of links: its name, its type in SQL, its meaning."""

    name: str
    type: str
    doc: str


LINK_TABLE = (
    LinkColumn("dst", "VARCHAR", "Key of the target."),
    LinkColumn("src", "VARCHAR", "Key of the page."),
    LinkColumn("anchor", "VARCHAR", "Text of the link."),
    LinkColumn("rel", "VARCHAR", "`rel` of the element."),
    LinkColumn("hop", "VARCHAR", "Letter of the hop."),
    LinkColumn("context", "VARCHAR", "Element and attribute."),
    LinkColumn("score", "BIGINT", "Share of the score of its page, in 2^-32."),
    LinkColumn("first", "BIGINT", "When it was seen first, ms since the epoch."),
    LinkColumn("last", "BIGINT", "When it was seen last, ms since the epoch."),
)
"""The columns in the order of their files; (dst, src) identifies a row."""

_TEXTS = ("anchor", "rel", "hop", "context")
_WORDS = (*_TEXTS, "score")


@cache
def link_schema() -> "pa.Schema":
    """The schema of the table in Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    kinds = {"VARCHAR": pa.string(), "BIGINT": pa.int64()}
    return pa.schema([pa.field(c.name, kinds[c.type]) for c in LINK_TABLE])


def merge_links(base: Sequence[str], adds: Sequence[str]) -> str:
    """Return SQL that folds the files of a bucket of links, sorted by (dst, src).

    Args:
        base: Its base; may be empty.
        adds: Files of adds, in any order.

    Raises:
        ValueError: There is no file.
    """
    paths = [*base, *adds]
    if not paths:
        raise ValueError("a fold needs a file")
    if not adds and len(base) == 1:
        return f"select * from {parquet(base)} order by dst, src"
    return _fold_sql(f"(select * from {parquet(paths)})")


def _fold_sql(rows: str) -> str:
    """Return SQL of one row for each pair of pages; the first texts of the last time win."""
    texts = [f"'{name}': coalesce({name}::VARCHAR, '')" for name in _WORDS]
    fields = [f"'{name}': {name}" for name in _WORDS]
    # The greatest time first, then the least words: one order, whatever the order of the files.
    order = "{'last': -last, " + ", ".join(texts) + "}"
    words = "arg_min({" + ", ".join(fields) + f"}}, {order})"
    picks = ", ".join(f"nullif(w.{name}, '') as {name}" for name in _TEXTS) + ", w.score as score"
    return (
        f"select dst, src, {picks}, first, last from (select dst, src, {words} as w, "
        f"min(first) as first, max(last) as last from {rows} group by dst, src) order by dst, src"
    )


def link_adds(facts: str, settings: LinkDbSettings, domains: str = "") -> str:
    """Return SQL of the rows that the links of a segment add, sorted by (dst, src).

    Args:
        facts: SQL after `from` for links of units: `dst`, `src`, `anchor`, `rel`, `hop`, `context`,
            `score`, `time`.
        settings: `cycle.links`.
        domains: If `ignore_internal` is `domain`: a table of `host` and `domain` by
            `hosts.load_domains`, with the hosts of both ends.
    """
    source, internal, external = _test_sql(facts, settings, domains)
    tests = f"l.dst <> l.src and not {internal} and not {external}"
    anchor = f"left(l.anchor, {settings.max_anchor})" if settings.max_anchor else "null::VARCHAR"
    rows = (
        f"(select l.dst, l.src, {anchor} as anchor, l.rel::VARCHAR as rel, l.hop::VARCHAR as hop, "
        "l.context::VARCHAR as context, l.score::BIGINT as score, l.time::BIGINT as first, "
        f"l.time::BIGINT as last from {source} where {tests})"
    )
    return _fold_sql(rows)


def left_out_links(facts: str, settings: LinkDbSettings, domains: str = "") -> str:
    """Return SQL of the numbers of ignored links: internal links, then external links.

    Args:
        facts: See `link_adds`.
        settings: `cycle.links`.
        domains: See `link_adds`.
    """
    source, internal, external = _test_sql(facts, settings, domains)
    ignored_external = f"count(*) filter ({external} and not {internal})"
    return f"select count(*) filter ({internal}), {ignored_external} from {source}"


def _test_sql(facts: str, settings: LinkDbSettings, domains: str) -> tuple[str, str, str]:
    """Return SQL after `from` for facts `l`, and conditions of internal and external links."""
    source, internal = f"{facts} l", "false"
    if settings.ignore_internal == "domain":
        source += (
            f" left join {domains} s on s.host = {host_sql('l.src')}"
            f" left join {domains} d on d.host = {host_sql('l.dst')}"
        )
        internal = "not coalesce(s.domain <> d.domain, false)"
    elif settings.ignore_internal == "host":
        internal = f"({host_sql('l.dst')} = {host_sql('l.src')})"
    external = f"({host_sql('l.dst')} <> {host_sql('l.src')})"
    return source, internal, external if settings.ignore_external else "false"


def inlinks(rows: str, settings: LinkDbSettings) -> str:
    """Return SQL of the best links to each page, by score, then the newest first.

    Args:
        rows: SQL after `from` for folded links.
        settings: `cycle.links`.
    """
    order = "score desc nulls last, last desc, src"
    return (
        f"select * from {rows} qualify row_number() over (partition by dst order by {order}) "
        f"<= {settings.max} order by dst, {order}"
    )
