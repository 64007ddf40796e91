"""Seeds for Nutch: the URLs of batch rounds as lines that Nutch's `inject` reads.

A line is the URL, and behind TABs `nutch.score`, `nutch.fetchInterval` in seconds, and what a seed
list said of it. Source: Nutch, `Injector` (reference N 1.1).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nacre.crawldb.row import Status
from nacre.rounds.tables.readers import RowFilter, TableView, dump_rows

_LEFT_OUT = frozenset(one.label for one in (Status.GONE, Status.DUPLICATE, Status.ORPHAN))
_RESERVED = "nutch."


def nutch_seed(row: Mapping[str, Any]) -> str:
    """The line of a row, without a line feed; "" for a URL that Nutch would not fetch.

    Args:
        row: The row as readers show it: `key`, `url`, `status`, `score`, `interval`, `seed_md`.
    """
    if row["status"] in _LEFT_OUT:
        return ""
    parts = [row.get("url") or row["key"]]
    score = float(row.get("score") or 0) or float(row.get("cash") or 0)
    if score > 0:
        parts.append(f"nutch.score={score:.9g}")
    if row.get("fixed_interval"):
        parts.append(f"nutch.fetchInterval.fixed={round(row['fixed_interval'])}")
    elif row.get("interval"):
        parts.append(f"nutch.fetchInterval={row['interval']}")
    for name, value in dict(row.get("seed_md") or ()).items():
        plain = "=" not in name and name.isprintable() and value.isprintable()
        if plain and not name.startswith(_RESERVED):
            parts.append(f"{name}={value}")
    return "\t".join(parts)


def nutch_seeds(view: TableView) -> Iterator[str]:
    """The lines of all URLs but those that are gone, or copies of others."""
    for batch in dump_rows(view, RowFilter()):
        for row in batch.to_pylist():
            line = nutch_seed(row)
            if line:
                yield line
