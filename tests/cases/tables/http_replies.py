"""Raw replies: their bytes are kept exactly, none bleeds into the next reply, nothing hangs."""

import base64
import re

from nacre.fetch.request import FetchResult
from nacre.fetch.settings import FetchSettings
from nacre.wire.http1 import MAX_HEADER, ReplyReader
from tests.cases.table import Answer, Differs, Row, Table, json_lines
from tests.fetch.server import Peer, ask, fetching, run, serving, wire_bytes

PATIENCE = (0.05, 2.0)
"""Seconds of silence that end a reply without an end. Where the first is not enough for a busy
machine, the row is judged by the second."""
NEXT = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"
_START = re.compile(rb"[\r\n]*(?:HTTP[/ ]|ICY )", re.IGNORECASE)
_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"[\r\n]*(?:HTTP\S*|ICY)[ \t]+(\d+)", re.IGNORECASE)
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:((?:[^\n]|\n[ \t])*)", re.IGNORECASE)
_CODING = re.compile(rb"\ntransfer-encoding[ \t]*:((?:[^\n]|\n[ \t])*)", re.IGNORECASE)
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]+)[ \t]*(?:;[^\n]*)?\r?\n")
_LINE_END = re.compile(rb"\r?\n")


def reply_of(row: Row) -> bytes:
    """The bytes of the server."""
    return base64.b64decode(row["reply_base64"])


def method_of(row: Row) -> str:
    """HEAD where curl was told so."""
    return "HEAD" if "-I" in row.get("curl_command", "").split() else "GET"


def due(row: Row) -> bytes:
    """The bytes that belong to the reply, told from the raw bytes alone.

    All of them, but for what follows a reply without a body, the last chunk, or a shorter
    Content-Length; and none where the connection ended within a head.
    """
    reply = reply_of(row)
    start = 0
    while is_interim(reply, start) and (blank := _HEAD_END.search(reply, start)):
        start = blank.end()
    if not _START.match(reply, start):
        return reply if reply[start:] else b""
    first = start + len(reply[start:]) - len(reply[start:].lstrip(b"\r\n"))
    blank = _HEAD_END.search(reply, first)
    if not blank and len(reply) - first <= MAX_HEADER:
        return b""
    end = blank.end() if blank else len(reply)
    if end > MAX_HEADER:
        return reply[:MAX_HEADER]
    limit = row.get("expected", {}).get("limit") or len(reply)
    return reply[: min(body_end(reply, first, end, method_of(row)), end + limit)]


def is_interim(reply: bytes, start: int) -> bool:
    """A head begins there that is not the final one."""
    status = _STATUS.match(reply, start)
    return status is not None and 100 <= int(status[1]) < 200 and int(status[1]) != 101


def body_end(reply: bytes, start: int, end: int, method: str) -> int:
    """Where the body ends that follows the head from `start` to `end`."""
    head = reply[start:end]
    status = _STATUS.match(head)
    if method == "HEAD" or (status and status[1] in (b"101", b"204", b"304")):
        return end
    codings = [part.strip().lower() for part in b",".join(_CODING.findall(head)).split(b",")]
    codings = [coding for coding in codings if coding not in (b"", b"identity")]
    if codings:
        return chunks_end(reply, end) if codings[-1] == b"chunked" else len(reply)
    values = _LENGTH.findall(head)
    lengths = {part.strip(b" \t\r\n\0") for part in b",".join(values).split(b",")}
    if len(lengths) == 1 and (length := lengths.pop()).isdigit():
        return end + int(length)
    return len(reply)


def ends_with_connection(row: Row) -> bool:
    """Nothing in the reply tells where it ends (RFC 9112, 6.3, the last two cases)."""
    reply = reply_of(row)
    longer = {**row, "reply_base64": base64.b64encode(reply + b"x").decode(), "expected": {}}
    return len(due(longer)) > len(reply)


def chunks_end(reply: bytes, at: int) -> int:
    """Where chunks end; all of the reply when they are broken or cut."""
    while chunk := _CHUNK.match(reply, at):
        at = chunk.end() + int(chunk[1], 16)
        if at == chunk.end():
            blank = _HEAD_END.search(reply, at - 1)
            return blank.end() if blank else len(reply)
        line = _LINE_END.match(reply, at)
        if not line:
            break
        at = line.end()
    return len(reply)


def splits(data: bytes) -> list[list[bytes]]:
    """Ways to split: whole, single bytes, every two pieces of short replies, and coarse steps."""
    ways = [[data], [data[at : at + 61] for at in range(0, len(data), 61)]]
    if len(data) < 2000:
        ways.append([data[at : at + 1] for at in range(len(data))])
        ways += [[data[:at], data[at:]] for at in range(1, len(data))]
    return ways


def read(row: Row, pieces: list[bytes]) -> bytes:
    """What a reader keeps of a reply that comes in pieces; nothing when it is none."""
    limit = row.get("expected", {}).get("limit", 0)
    reader = ReplyReader(method_of(row), max_body=limit)
    body = b"".join([reader.feed(piece) for piece in pieces]) + reader.eof()
    return b"" if reader.failure else reader.interim + reader.head + body


async def fetch_twice(row: Row, silence: float, *, hold: bool) -> tuple[FetchResult, FetchResult]:
    """Fetch the reply, then another from the same server, over sockets."""
    reply = reply_of(row)
    limit = row.get("expected", {}).get("limit", 0)
    settings = FetchSettings(silence_timeout=silence, timeout=30, max_length=limit)

    async def handler(peer: Peer) -> None:
        while request := await peer.request():
            if b" /next " in request:
                await peer.send(NEXT)
                continue
            third = len(reply) // 3
            await peer.send(reply[:third], reply[third : 2 * third], reply[2 * third :])
            if not hold:
                return

    async with serving(handler) as server, fetching() as fetcher:
        first = await fetcher.fetch(ask(server.url("/first"), method=method_of(row)), settings)
        second = await fetcher.fetch(ask(server.url("/next")), settings)
    return first, second


def check(row: Row) -> Answer:
    """Compare bytes, never headers."""
    expected = due(row)
    for pieces in splits(reply_of(row)):
        kept = read(row, pieces)
        if kept != expected:
            return f"keeps {len(kept)} bytes of {len(expected)} in {len(pieces)} pieces"
    quick, patient = PATIENCE
    return check_fetches(row, expected, quick) and check_fetches(row, expected, patient)


def check_fetches(row: Row, expected: bytes, silence: float) -> Answer:
    """With a server that closes, and one that does not.

    A reply that only its connection ends is not at its end before: where it counts whether it was
    cut, its server must close.
    """
    wrong = check_fetch(row, expected, silence, hold=False)
    must_close = "limit" in row.get("expected", {}) and ends_with_connection(row)
    return wrong or (None if must_close else check_fetch(row, expected, silence, hold=True))


def check_fetch(row: Row, expected: bytes, silence: float, *, hold: bool) -> Answer:
    """Over sockets: the same bytes, and the next reply untouched by them."""
    first, second = run(fetch_twice(row, silence, hold=hold))
    kept = wire_bytes(first.capture) if first.capture else b""
    if kept != expected:
        return f"captures {len(kept)} bytes of {len(expected)}: {first}"
    if not second.capture or wire_bytes(second.capture) != NEXT:
        return f"the next reply is {second}"
    return check_limit(row, first) if "limit" in row.get("expected", {}) else None


def check_limit(row: Row, result: FetchResult) -> Answer:
    """Where a limit is given: the length stored, and whether it is marked as cut (the answer)."""
    if result.capture is None:
        return "no capture"
    expected = row["expected"]
    found = (result.capture.body.length, result.capture.truncated or None)
    wanted = (expected["stored_length"], expected["truncated_reason"])
    return None if found == wanted else Differs(found, f"stored {found}, expected {wanted}")


TABLE = Table("http_replies", json_lines("http_replies.jsonl"), check)
