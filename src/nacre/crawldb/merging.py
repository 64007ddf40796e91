"""Merge rows of other crawls into those of this crawl, in SQL.

The state and capture of the newest visit of a URL win; equal rows stay as they are. Sums are those
of the winner, written as differences, so that a repeated merge changes nothing. The first
discovery, the least depth and the last link of all rows win. Metadata are united; those of the
newer row win. Leases and verdicts of rules are not merged: they belong to the other crawl. Source:
Nutch, `CrawlDbMerger` (reference N 1.1, `mergedb`).
"""

from nacre.crawldb.row import (
    ADD_COLUMNS,
    FoldRule,
    Status,
    group_columns,
)

MERGED_GROUPS = ("state", "capture", "duplicate", "purge", "seed")
"""Groups of columns that a merge writes."""

_UNFETCHED = int(Status.UNFETCHED)


def newest_visit(row: str) -> str:
    """Return SQL of the time of the last visit of a row, ms; 0 for none.

    Args:
        row: Name of the table of the row.
    """
    planned = f'{row}.fetch_time - coalesce({row}."interval", 0)::BIGINT * 1000'
    return (
        f"coalesce({row}.last_time // 1000, case when coalesce({row}.status, {_UNFETCHED}) = "
        f"{_UNFETCHED} then 0 else {planned} end, 0)"
    )


def best_rows(imported: str) -> str:
    """Return SQL of the newest imported row of each URL.

    Args:
        imported: A table of their rows, with their `place`: of equal rows the first place wins.
    """
    order = f"{newest_visit('o')} desc, place"
    return (
        f"select o.* from {imported} o "
        f"qualify row_number() over (partition by key order by {order}) = 1"
    )


def winners(best: str, mine: str) -> str:
    """Return SQL of keys: `known`, and `wins` if the imported row is newer.

    Args:
        best: A table of the newest imported rows.
        mine: A table of our rows of the same keys, as files hold them.
    """
    return (
        f"select o.key, o.place, m.key is not null as known, m.key is null or "
        f"{newest_visit('o')} > {newest_visit('m')} as wins "
        f"from {best} o left join {mine} m on m.key = o.key"
    )


def added_rows(imported: str, mine: str, wins: str) -> str:
    """Return SQL of the `add` rows of an import, sorted by key; a key may occur several times.

    Args:
        imported: A table of all imported rows.
        mine: A table of our rows.
        wins: A table of `winners`.
    """
    picks = []
    for column in ADD_COLUMNS:
        name = f'"{column.name}"'
        if column.rule is FoldRule.SUM:
            change = f"o.{name} - coalesce(m.{name}, 0)"
            zero = f"case when w.wins and w.place = o.place then {change} else 0 end"
            picks.append(f"({zero})::{column.type} as {name}")
        elif column.name == "judged":
            picks.append(f"null::{column.type} as {name}")
        else:
            picks.append(f"o.{name}::{column.type} as {name}")
    way = "o.via, o.path, o.source"
    news = (
        "not w.known or (w.wins and w.place = o.place) or o.depth < m.depth or "
        "o.last_inlink > coalesce(m.last_inlink, -1) or o.first_seen < coalesce(m.first_seen, "
        f"{2**62}) or (o.first_seen = m.first_seen and ({way}) is distinct from "
        f"({way.replace('o.', 'm.')}))"
    )
    return (
        f"select {', '.join(picks)} from {imported} o join {wins} w on w.key = o.key "
        f"left join {mine} m on m.key = o.key where {news} order by o.key, o.place"
    )


def set_rows(group: str, best: str, mine: str, wins: str) -> str:
    """Return SQL of the changed rows of a group, sorted by key.

    Args:
        group: One of `MERGED_GROUPS`.
        best: A table of the newest imported rows.
        mine: A table of our rows.
        wins: A table of `winners`.
    """
    source = f"from {best} o join {wins} w on w.key = o.key left join {mine} m on m.key = o.key"
    if group == "seed":
        return _union_sql(source)
    columns = group_columns(group)
    picks = [f'o."{c.name}"::{c.type} as "{c.name}"' for c in columns]
    if group == "purge":
        picks = [f'null::{c.type} as "{c.name}"' for c in columns]
        differs = "m.purged is not null"
    else:
        differs = " or ".join(f'o."{c.name}" is distinct from m."{c.name}"' for c in columns)
    return f"select o.key, {', '.join(picks)} {source} where w.wins and ({differs}) order by o.key"


def _union_sql(source: str) -> str:
    """Return SQL of the metadata of both rows; those of the newer row win."""
    theirs, ours = _metadata("o"), _metadata("m")
    union = (
        f"case when {ours} is null then {theirs} when {theirs} is null then {ours} "
        f"when wins then map_concat({ours}, {theirs}) else map_concat({theirs}, {ours}) end"
    )
    return (
        f"select key, united as seed_md from (select o.key, {union} as united, {ours} as ours, "
        f"w.known, o.seed_md is not null as seeded {source}) where united is not null and "
        "(known or seeded) and "
        "list_sort(map_entries(united)) is distinct from list_sort(map_entries(ours)) order by key"
    )


def _metadata(row: str) -> str:
    """Return SQL of the metadata of a row as readers see them."""
    return (
        f"(case when {row}.seed_md is null then {row}.md when {row}.md is null then {row}.seed_md "
        f"else map_concat({row}.md, {row}.seed_md) end)"
    )
