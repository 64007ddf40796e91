"""Host names to A-labels (web-platform-tests)."""

from nacre.errors import URIError
from nacre.uri.parse import host, parse
from tests.cases.table import Answer, Differs, Row, Table, json_lines


def check(row: Row) -> Answer:
    """The host of a URL with that name; null where it must fail. The answer: a host or None."""
    try:
        answer: str | None = host(parse(f"https://{row['input']}/x"))
    except URIError:
        answer = None
    return None if answer == row["expected"] else Differs(answer)


TABLE = Table("idna_toascii", json_lines("idna_toascii.jsonl"), check)
