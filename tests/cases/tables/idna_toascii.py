"""Host names to A-labels (web-platform-tests)."""

from nacre.errors import URIError
from nacre.uri.parse import host, parse
from tests.cases.table import Row, Table, json_lines


def check(row: Row) -> str | None:
    """The host of a URL with that name; the table gives null where it must fail."""
    try:
        answer: str | None = host(parse(f"https://{row['input']}/x"))
    except URIError:
        answer = None
    return None if answer == row["expected"] else str(answer)


TABLE = Table("idna_toascii", json_lines("idna_toascii.jsonl"), check)
