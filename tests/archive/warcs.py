"""Small WARCs with a wish: fields changed, left out, or added."""

from pathlib import Path
from typing import Any

from tests.archive.captures import sha1


def make_record(block: bytes, payload: bytes | None = None, **changes: Any) -> bytes:
    """A sound `resource` record, but for the changes; None leaves a field out."""
    fields: dict[str, str | None] = {
        "WARC-Type": "resource",
        "WARC-Record-ID": f"<urn:x:{len(block)}.{sha1(repr(changes).encode())[5:]}>",
        "WARC-Date": "2026-11-20T10:00:00Z",
        "WARC-Target-URI": "http://e.test/",
        "Content-Type": "text/plain",
        "WARC-Block-Digest": sha1(block),
        "Content-Length": str(len(block)),
    }
    if payload is not None:
        fields["WARC-Payload-Digest"] = sha1(payload)
    lines = [f"{k}: {v}\r\n" for k, v in (fields | changes).items() if v is not None]
    return b"WARC/1.1\r\n" + "".join(lines).encode() + b"\r\n" + block + b"\r\n\r\n"


def plain_file(path: Path, records: bytes, start: int = 0) -> int:
    """A plain WARC: warcinfo, the records, one more; the offset of the records."""
    about: dict[str, Any] = {
        "WARC-Type": "warcinfo",
        "WARC-Target-URI": None,
        "Content-Type": "application/warc-fields",
        "WARC-Record-ID": f"<urn:x:info{start}>",
    }
    info = make_record(b"software: x\r\n", **about)
    name: dict[str, Any] = {"WARC-Record-ID": f"<urn:x:last{start}>"}
    last = make_record(b"the last one", **name)
    path.write_bytes(info + records + last)
    return len(info)
