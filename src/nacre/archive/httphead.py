"""What the index says of an HTTP block, read from its first bytes in one place only.

The writer and the rebuilt index both ask here, so that their lines are the same.
"""

import re

from nacre.wire.head import blank_line_end

_PARAMETERS = re.compile(r"[;\s]")

HEAD_LIMIT = 1 << 20
"""Bytes of a head that are looked at; a longer one is cut there."""
START = 1 << 16
"""Bytes of a block of any kind that are looked at."""


def head_end(block: bytes) -> int:
    """Length of the HTTP head with its blank line; -1 when it has no end.

    Line ends are CRLF or a bare LF, as servers send them. A blank line in front is taken for a head
    of its own, as cdxj-indexer does; `wire.head` finds the head of a reply.
    """
    if block.startswith((b"\n", b"\r\n")):
        return block.index(b"\n") + 1
    return blank_line_end(block)


def index_facts(block: bytes) -> tuple[str | None, str | None]:
    """Status and media type, as cdxj-indexer gives them; None for what is absent.

    An empty status is told where any header is, and left out of a head with nothing in it.

    Args:
        block: The first bytes of the block; only its head is read.
    """
    if not block:
        return None, None
    head = block[:HEAD_LIMIT]
    if len(head) > START and (end := head_end(head)) >= 0:
        head = head[:end]
    first = head[: head.find(b"\n") + 1] or head
    line = _text(first).rstrip()
    status = line.partition(" ")[2].strip().partition(" ")[0]
    if not line:
        return None, None
    if not status and b":" not in head[len(first) : head_end(head)]:
        return None, None
    value = header_value(head, b"content-type")
    return status, None if value is None else _media_type(value)


def header_value(head: bytes, name: bytes) -> str | None:
    """First value of a header by lower-case name, folded lines as they are; None when absent."""
    lower = head.lower()
    end = -1
    at = lower.find(b"\n" + name)
    while at >= 0:
        if end < 0:
            end = head_end(head) % (len(head) + 1)
        if at >= end:
            return None
        line_end = head.find(b"\n", at + 1, end)
        line = head[at + 1 : line_end if line_end >= 0 else end]
        found, colon, value = line.partition(b":")
        if colon and len(found.rstrip(b" \t")) == len(name):
            return _text(value).strip() + _text(_folded(head, line_end, end))
        at = lower.find(b"\n" + name, at + 1)
    return None


def _folded(head: bytes, line_end: int, end: int) -> bytes:
    parts = []
    while 0 <= line_end < end - 1 and head[line_end + 1] in b" \t":
        start = line_end + 1
        line_end = head.find(b"\n", start, end)
        parts.append(head[start : line_end if line_end >= 0 else end].rstrip(b"\r"))
    return b"".join(parts)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _media_type(value: str) -> str:
    """What stands before the first `;` or blank, as cdxj-indexer cuts it."""
    return _PARAMETERS.split(value, 1)[0]
