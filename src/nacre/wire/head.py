"""The heads of requests and replies: request line, status line and header fields.

A reply's head is read tolerantly. No byte changes: the head is stored verbatim elsewhere, and the
parsed values are an interpretation. Each tolerance leaves an annotation. The fetcher and readers of
archives use the same functions, so that both get the same head, framing and payload. In a request
no value can smuggle a second header line or a second request.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from nacre.annotations import (
    BAD_LENGTH,
    BAD_STATUS_LINE,
    BAD_TRANSFER_ENCODING,
    BARE_LF,
    CHUNKED_IN_HTTP10,
    CONFLICTING_LENGTH,
    FOLDED_HEADER,
    HEADER_WITHOUT_COLON,
    HEADER_WITHOUT_NAME,
    ICY,
    LEADING_BLANK_LINE,
    LENGTH_AND_CHUNKED,
    NO_REASON,
    NUL_IN_HEADER,
    ODD_STATUS,
    ODD_VERSION,
    REPEATED_LENGTH,
    SPACE_BEFORE_COLON,
    UNASKED_101,
)

_SPACE = b" \t"
_BLANK = b" \t\r\n\0\x0b\x0c"
_DIGITS = b"0123456789"
_FRAMING = frozenset({b"content-length", b"transfer-encoding", b"connection", b"proxy-connection"})
_NONE: list[bytes] = []
_FIRST = b"cCtTpP"
_NORMAL_VERSIONS = (b"HTTP/1.1 ", b"HTTP/1.0 ")
_STARTS = (b"HTTP/", b"HTTP ", b"ICY ")
_TLS_RECORDS = (b"\x15\x03", b"\x16\x03")

HEADLESS = -1
"""For `find_start`: the bytes are not a head, but a body (HTTP/0.9) or TLS."""
UNDECIDED = -2
"""For `find_start`: more bytes are needed to decide."""


class StatusLine(NamedTuple):
    """The first line of a reply.

    Attributes:
        protocol: `http/1.1` or `http/1.0`.
        status: Status code, 10 to 999; 200 if there is none, as browsers assume.
        reason: Reason phrase as received.
        oddities: Annotations.
    """

    protocol: str
    status: int
    reason: bytes
    oddities: tuple[str, ...] = ()


class Head(NamedTuple):
    """A parsed head.

    Attributes:
        line: The status line.
        headers: Names and values in order, whitespace trimmed, folds joined by one space; lines
            without a name are left out.
        control: Lower-case name -> values, of the fields that decide on framing and reuse.
        annotations: What was odd, in order of discovery.
    """

    line: StatusLine
    headers: list[tuple[bytes, bytes]]
    control: dict[bytes, list[bytes]]
    annotations: list[str]


def find_start(data: bytes | bytearray, blank: int = 0) -> int:
    """Return the offset of the status line after blank lines, `HEADLESS` or `UNDECIDED`.

    Args:
        data: The bytes received so far.
        blank: Bytes in front that are known to be blank lines.
    """
    if data.startswith(_STARTS):
        return 0
    start = len(data) - len(data[blank:].lstrip(b"\r\n"))
    first = bytes(data[start : start + 5]).upper()
    if first.startswith(_STARTS):
        return start
    starts = (*_STARTS, *_TLS_RECORDS)
    undecided = any(len(first) < len(text) and text.startswith(first) for text in starts)
    return UNDECIDED if undecided else HEADLESS


def blank_line_end(data: bytes | bytearray, begin: int = 0) -> int:
    """End of the first blank line, which is the end of a head; -1 when there is none yet.

    Line ends are CRLF or a bare LF, as servers send them; `begin` is where to look from.
    """
    crlf = data.find(b"\n\r\n", begin)
    bare = data.find(b"\n\n", begin, crlf + 1 if crlf >= 0 else len(data))
    if bare >= 0:
        return bare + 2
    return crlf + 3 if crlf >= 0 else -1


def starts_with_tls(data: bytes) -> bool:
    """Return whether data begins with a TLS record instead of a reply: an alert or a handshake."""
    return data.startswith(_TLS_RECORDS)


def parse_head(raw: bytes) -> Head:
    """Read a head, from its status line to its blank line, either of which may be incomplete.

    Source: RFC 9112 clauses 2.2, 4 and 5; the tolerances are those of browsers and curl.
    """
    lines = raw.split(b"\r\n")
    annotations: list[str] = []
    if raw.count(b"\n") != len(lines) - 1 or b"\0" in raw or not lines[0]:
        lines = _odd_lines(raw, annotations)
    line = parse_status_line(lines[0])
    if line.oddities:
        annotations.extend(line.oddities)
    headers: list[tuple[bytes, bytes]] = []
    control: dict[bytes, list[bytes]] = {}
    odd = False
    for text in lines[1:]:
        name, colon, value = text.partition(b":")
        if not colon or not name or name[0] <= 32 or name[-1] <= 32:
            if text:
                odd = True
                _odd_field(text, headers, annotations)
            continue
        value = value.strip()
        headers.append((name, value))
        if name[0] in _FIRST and (key := name.lower()) in _FRAMING:
            control.setdefault(key, []).append(value)
    if odd:
        headers = [field for field in headers if field[0]]
        control = _control(headers)
    return Head(line, headers, control, annotations)


def _control(headers: list[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
    """Return the fields that decide on framing and reuse."""
    control: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        if (key := name.lower()) in _FRAMING:
            control.setdefault(key, []).append(value)
    return control


def _odd_lines(raw: bytes, annotations: list[str]) -> list[bytes]:
    """Lines of a head with bare LF, NUL, or blank lines in front."""
    body = raw.lstrip(b"\r\n")
    if len(body) != len(raw):
        annotations.append(LEADING_BLANK_LINE)
    if body.count(b"\n") != body.count(b"\r\n"):
        annotations.append(BARE_LF)
    if b"\0" in body:
        annotations.append(NUL_IN_HEADER)
    return [line.removesuffix(b"\r") for line in body.split(b"\n")]


def _odd_field(text: bytes, headers: list[tuple[bytes, bytes]], annotations: list[str]) -> None:
    """Read a non-blank header line that is folded, or has no colon, or a space before it.

    A line without a name is added with the name b"", so that folded lines after it are joined to
    it.
    """
    folded = text[0] in _SPACE
    name, colon, value = text.partition(b":")
    if folded:
        _note(annotations, FOLDED_HEADER)
    if folded and headers:
        last, before = headers[-1]
        headers[-1] = (last, (before + b" " + text.strip()).strip())
    elif not colon:
        _note(annotations, HEADER_WITHOUT_COLON)
        headers.append((b"", text))
    else:
        if name != name.rstrip():
            _note(annotations, SPACE_BEFORE_COLON)
        if not name.strip():
            _note(annotations, HEADER_WITHOUT_NAME)
        headers.append((name.lstrip(_SPACE).rstrip() if name.strip() else b"", value.strip()))


def _note(annotations: list[str], text: str) -> None:
    if text not in annotations:
        annotations.append(text)


def parse_status_line(line: bytes) -> StatusLine:
    """Read a status line; anything that begins with `HTTP` or `ICY` gives a status."""
    code = line[9:12]
    if line.startswith(_NORMAL_VERSIONS) and len(code) == 3 and code.isdigit():
        protocol = "http/1.1" if line[7] == 0x31 else "http/1.0"
        status = int(code)
        if 100 <= status < 600 and line[12:13] == b" ":
            return StatusLine(protocol, status, line[13:])
    return _odd_status_line(line)


def _odd_status_line(line: bytes) -> StatusLine:
    word, _, after_word = line.replace(b"\t", b" ").partition(b" ")
    oddities: list[str] = []
    version = word.upper()
    if version == b"ICY":
        oddities.append(ICY)
    elif version not in (b"HTTP/1.1", b"HTTP/1.0"):
        oddities.append(ODD_VERSION)
    after_word = after_word.lstrip(b" ")
    digits = after_word[: len(after_word) - len(after_word.lstrip(_DIGITS))]
    reason = after_word[len(digits) :]
    status = int(digits) if len(digits) <= 3 and digits else 0
    if status < 10:
        oddities.append(BAD_STATUS_LINE)
        status = 200
    elif not 100 <= status < 600:
        oddities.append(ODD_STATUS)
    if reason and reason[:1] != b" " and BAD_STATUS_LINE not in oddities:
        oddities.append(BAD_STATUS_LINE)
    if not reason:
        oddities.append(NO_REASON)
    modern = version.startswith(b"HTTP/") and version not in (b"HTTP/1.0", b"HTTP/0.9")
    return StatusLine("http/1.1" if modern else "http/1.0", status, reason.strip(), tuple(oddities))


MAX_LENGTH = 2**63 - 1
"""Largest Content-Length or chunk size taken for real."""


class Framing(NamedTuple):
    """The way in which the end of a body is found.

    Attributes:
        kind: `length`, `chunked`, `close` or `none`.
        length: Bytes due, for `length`; else 0.
        sound: False when the head contradicts itself, so that the connection ends with it.
        annotation: What was odd; "" for nothing.
    """

    kind: str
    length: int = 0
    sound: bool = True
    annotation: str = ""


def framing_of(method: str, head: Head) -> Framing:
    """Decide how the body of a final reply ends.

    Where a head contradicts itself the body goes on to the close of the connection, so that no
    byte is lost and none is taken for the next reply. Source: RFC 9112 clause 6.3.
    """
    status = head.line.status
    if method == "HEAD" or status in (204, 304) or (method == "CONNECT" and 200 <= status < 300):
        return Framing("none")
    if status == 101:
        return Framing("none", sound=False, annotation=UNASKED_101)
    control = head.control
    lengths = control.get(b"content-length")
    codings = _codings(control.get(b"transfer-encoding", _NONE))
    if codings:
        return _frame_coded(codings, head.line.protocol, has_length=lengths is not None)
    if lengths is None:
        return Framing("close")
    return _length(lengths)


def _codings(values: list[bytes]) -> list[bytes]:
    """Names of the transfer codings in order, `identity` left out."""
    if not values:
        return []
    names = [part.strip(_BLANK).lower() for part in b",".join(values).split(b",")]
    return [name for name in names if name and name != b"identity"]


def _frame_coded(codings: list[bytes], protocol: str, *, has_length: bool) -> Framing:
    if codings[-1] != b"chunked":
        return Framing("close", annotation=BAD_TRANSFER_ENCODING)
    if any(name == b"chunked" for name in codings[:-1]):
        return Framing("chunked", sound=False, annotation=BAD_TRANSFER_ENCODING)
    if has_length:
        return Framing("chunked", sound=False, annotation=LENGTH_AND_CHUNKED)
    if protocol == "http/1.0":
        return Framing("chunked", sound=False, annotation=CHUNKED_IN_HTTP10)
    return Framing("chunked")


def _length(values: list[bytes]) -> Framing:
    """Content-Length: one decimal number, perhaps repeated; anything else reads to the close."""
    value = values[0]
    if len(values) == 1 and value.isdigit() and len(value) < 19:
        return Framing("length", int(value))
    parts = {part.strip(_BLANK) for part in b",".join(values).split(b",")}
    if len(parts) > 1:
        return Framing("close", annotation=CONFLICTING_LENGTH)
    number = parts.pop()
    digits = number.lstrip(b"0") or b"0"
    if not number.isdigit() or len(digits) > 19 or int(digits) > MAX_LENGTH:
        return Framing("close", annotation=BAD_LENGTH)
    repeated = len(values) > 1 or b"," in value
    return Framing("length", int(digits), annotation=REPEATED_LENGTH if repeated else "")


def is_persistent(head: Head) -> bool:
    """Return whether the head lets the connection be used again. Source: RFC 9112 clause 9.3."""
    control = head.control
    values = control.get(b"connection", _NONE)
    if b"proxy-connection" in control:
        values = values + control[b"proxy-connection"]
    if not values:
        return head.line.protocol == "http/1.1"
    options = [part.strip().lower() for part in b",".join(values).split(b",")]
    if b"close" in options or b"upgrade" in options:
        return False
    return head.line.protocol == "http/1.1" or b"keep-alive" in options


_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_TARGET_BREAKS = frozenset(map(chr, range(33))) | {"\x7f"}


def header_lines(fields: Iterable[tuple[str, str]]) -> bytes:
    """Serialise header fields, each with its CRLF.

    Text outside ASCII goes out in UTF-8.

    Raises:
        ValueError: A name is not a token, or a value holds CR, LF or NUL (RFC 9110 clause 5.5).
    """
    parts: list[str] = []
    for name, value in fields:
        if not _is_token(name):
            raise ValueError(f"not a header name: {name!r}")
        if "\r" in value or "\n" in value or "\0" in value:
            raise ValueError(f"CR, LF or NUL in the value of {name}")
        parts.append(f"{name}: {value}\r\n")
    return "".join(parts).encode("utf-8", "surrogateescape")


def request_head(method: str, target: str, lines: bytes) -> bytes:
    """Serialise a request head.

    Args:
        method: Method.
        target: Request target, in any form of RFC 9112 clause 3.2.
        lines: Header lines made by `header_lines`.

    Raises:
        ValueError: The method is not a token, or the target is empty or holds blanks or controls.
    """
    if not _is_token(method):
        raise ValueError(f"not a method: {method!r}")
    if not _is_target(target):
        raise ValueError(f"not a request target: {target!r}")
    start = f"{method} {target} HTTP/1.1\r\n".encode("utf-8", "surrogateescape")
    return b"%b%b\r\n" % (start, lines)


@lru_cache(maxsize=256)
def _is_token(text: str) -> bool:
    return bool(text) and _TOKEN.issuperset(text)


def _is_target(text: str) -> bool:
    if text.isascii():
        return bool(text) and text.isprintable() and " " not in text
    return _TARGET_BREAKS.isdisjoint(text)
