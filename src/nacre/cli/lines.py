"""Filters of lines: URLs come in on stdin, one answer for each goes out, in order, as they come.

LF ends a line; a CR before it is dropped, and so are no other bytes. Text is UTF-8; what is none is
judged with replacement characters and written back as it was. A line over `MAX_LINE` bytes is not
read into memory.
"""

import os
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import BinaryIO

MAX_LINE = 65_536
"""Bytes of the longest line that is judged."""

_CHUNK = 65_536

Reply = Callable[[bytes], bytes]
"""The answer to a line, without its end."""


def answer_stdin(reply: Reply, refuse: bytes, *, echo: bool) -> None:
    """Answer every line of stdin on stdout; quiet when nobody reads on.

    Args:
        reply: Makes the answer to a line.
        refuse: The answer to one that is too long.
        echo: The line itself follows `refuse`.
    """
    source = sys.stdin.buffer
    try:
        for piece in answers(source, reply, refuse, echo=echo):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What is left in the buffer must not be tried again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def answers(
    source: BufferedReader | BinaryIO, reply: Reply, refuse: bytes, *, echo: bool
) -> Iterator[bytes]:
    """The output, in pieces: all that can be said of what has come so far."""
    rest = b""
    too_long = False
    while chunk := _next(source):
        *lines, rest = (rest + chunk).split(b"\n")
        out: list[bytes] = []
        for line in lines:
            if too_long:
                out += (line if echo else b"", b"\n")
                too_long = False
            else:
                out += (_answer(line, reply, refuse, echo=echo), b"\n")
        if too_long or len(rest) > MAX_LINE:
            out.append(b"" if too_long else refuse)
            out.append(rest if echo else b"")
            rest, too_long = b"", True
        yield b"".join(out)
    if too_long:
        yield b"\n"
    elif rest:
        yield _answer(rest, reply, refuse, echo=echo) + b"\n"


def _next(source: BufferedReader | BinaryIO) -> bytes:
    read = source.read1 if isinstance(source, BufferedReader) else source.read
    return read(_CHUNK)


def _answer(line: bytes, reply: Reply, refuse: bytes, *, echo: bool) -> bytes:
    line = line.removesuffix(b"\r")
    if len(line) > MAX_LINE:
        return refuse + (line if echo else b"")
    return reply(line)


def text_of(line: bytes) -> str:
    """A line as text."""
    return line.decode("utf-8", "replace")
