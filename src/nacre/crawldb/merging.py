"""The merge of rows that other crawls know into those of this one, in SQL.

Of a URL that several know, the state and capture of the newest visit count; equals stay as they
are. Sums are those of the winner, written as differences, so that a merge that is done again
changes nothing. Who found a URL first, the least depth and the last link hold over all. Metadata
are united, those of the newer row over the others. Leases and verdicts of rules are not taken: they
belong to the other crawl. Source: Nutch, `CrawlDbMerger` (reference N 1.1, `mergedb`).
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
    """SQL of the time of the last visit of a row, ms; 0: none.

    Args:
        row: Name of the table of the row.
    """
    planned = f'{row}.fetch_time - coalesce({row}."interval", 0)::BIGINT * 1000'
    return (
        f"coalesce({row}.last_time // 1000, case when coalesce({row}.status, {_UNFETCHED}) = "
        f"{_UNFETCHED} then 0 else {planned} end, 0)"
    )


def best_rows(others: str) -> str:
    """SQL of the newest row of each URL that other crawls know.

    Args:
        others: A table of their rows, with their `place`: of equals the first one counts.
    """
    order = f"{newest_visit('o')} desc, place"
    return (
        f"select o.* from {others} o "
        f"qualify row_number() over (partition by key order by {order}) = 1"
    )


def winners(best: str, mine: str) -> str:
    """SQL of the keys with what is known of both sides: `known`, and `wins` of the other one.

    Args:
        best: A table of the newest rows of others.
        mine: A table of our rows of the same keys, as files hold them.
    """
    return (
        f"select o.key, o.place, m.key is not null as known, m.key is null or "
        f"{newest_visit('o')} > {newest_visit('m')} as wins "
        f"from {best} o left join {mine} m on m.key = o.key"
    )


def added_rows(others: str, mine: str, wins: str) -> str:
    """SQL of what others add, sorted by key; a key may stand more than once.

    Args:
        others: A table of all their rows.
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
        f"select {', '.join(picks)} from {others} o join {wins} w on w.key = o.key "
        f"left join {mine} m on m.key = o.key where {news} order by o.key, o.place"
    )


def set_rows(group: str, best: str, mine: str, wins: str) -> str:
    """SQL of the rows of a group that change, sorted by key.

    Args:
        group: One of `MERGED_GROUPS`.
        best: A table of the newest rows of others.
        mine: A table of our rows.
        wins: A table of `winners`.
    """
    source = f"from {best} o join {wins} w on w.key = o.key left join {mine} m on m.key = o.key"
    if group == "seed":
        return _united(source)
    columns = group_columns(group)
    picks = [f'o."{one.name}"::{one.type} as "{one.name}"' for one in columns]
    if group == "purge":
        picks = [f'null::{one.type} as "{one.name}"' for one in columns]
        differs = "m.purged is not null"
    else:
        differs = " or ".join(f'o."{one.name}" is distinct from m."{one.name}"' for one in columns)
    return f"select o.key, {', '.join(picks)} {source} where w.wins and ({differs}) order by o.key"


def _united(source: str) -> str:
    """The metadata of both, those of the newer row over the others."""
    theirs, ours = _metadata("o"), _metadata("m")
    both = (
        f"case when {ours} is null then {theirs} when {theirs} is null then {ours} "
        f"when wins then map_concat({ours}, {theirs}) else map_concat({theirs}, {ours}) end"
    )
    return (
        f"select key, united as seed_md from (select o.key, {both} as united, {ours} as ours, "
        f"w.known, o.seed_md is not null as seeded {source}) where united is not null and "
        "(known or seeded) and "
        "list_sort(map_entries(united)) is distinct from list_sort(map_entries(ours)) order by key"
    )


def _metadata(row: str) -> str:
    """The metadata of a row as readers see them."""
    return (
        f"(case when {row}.seed_md is null then {row}.md when {row}.md is null then {row}.seed_md "
        f"else map_concat({row}.md, {row}.seed_md) end)"
    )
