"""Is this script string a URI? Strings stand as in a script, so escapes are resolved first."""

from nacre.extract.likely import is_very_likely_uri
from nacre.extract.script import unescape_js
from tests.cases.table import Answer, Differs, Row, Table, json_lines


def _check(row: Row) -> Answer:
    """The answer is true or false."""
    found = is_very_likely_uri(unescape_js(row["input"]).strip())
    return None if found is row["expected"] else Differs(found)


TABLE = Table("likely_uri", json_lines("likely_uri.jsonl"), _check)
