"""The encoding of an HTML document by prescan (html5lib's tests)."""

import base64

from nacre.wire.charset import detect
from nacre.wire.guess import codec_of
from tests.cases.table import Row, Table, json_lines


def check(row: Row) -> str | None:
    """Compare codecs: several labels mean one encoding."""
    encoded = row.get("document_base64")
    data = (
        base64.b64decode(encoded) if encoded else row["document"].encode("utf-8", "surrogatepass")
    )
    codec, source = detect(data, None)
    return None if codec == codec_of(row["expected_encoding"]) else f"{codec} from {source}"


TABLE = Table("html_encoding", json_lines("html_encoding.jsonl"), check)
