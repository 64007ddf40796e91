"""Crawler traps by repetition."""

from nacre.scope.rules.url import has_path_loop
from tests.cases.table import Row, Table, json_lines


def _check(row: Row) -> str | None:
    # 0 is no number there: it stands for the default. Here it switches the check off.
    most = row["config"]["max_segment_repetition"] or 3
    threshold = row["config"]["threshold"] or 2
    found = has_path_loop(row["path"], row["search"], most, threshold)
    return None if found is row["expected"] else str(found)


TABLE = Table("path_loop", json_lines("path_loop.jsonl"), _check)
