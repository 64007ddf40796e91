"""Crawler traps by repetition."""

from nacre.scope.loops import has_path_loop
from tests.cases.table import Row, Table, json_lines


def _check(row: Row) -> str | None:
    config = row["config"]
    found = has_path_loop(
        row["path"], row["search"], config["max_segment_repetition"], config["threshold"]
    )
    return None if found is row["expected"] else str(found)


TABLE = Table("path_loop", json_lines("path_loop.jsonl"), _check)
