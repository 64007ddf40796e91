import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.cli.lines import MAX_LINE, answers, text_of


class Slow(io.BytesIO):
    """Gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._step)


def answered(data: bytes, step: int = 7, *, echo: bool = True) -> bytes:
    return b"".join(answers(Slow(data, step), lambda line: b"+" + line, b"-", echo=echo))


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (b"a\nb\n", b"+a\n+b\n"),
        (b"a\r\nb\rc\r", b"+a\n+b\rc\n"),
        (b"\n\na", b"+\n+\n+a\n"),
        (b"", b""),
        (b"\x00\xff\n", b"+\x00\xff\n"),
    ],
)
def test_one_answer_for_each_line(data, output):
    assert answered(data) == output


@pytest.mark.parametrize("step", [1000, 65536, 10**6])
def test_lines_too_long_are_refused_and_written_through(step):
    long = b"x" * (MAX_LINE + 1)
    data = b"a\n" + long + b"\nb\n" + long
    assert answered(data, step) == b"+a\n-" + long + b"\n+b\n-" + long + b"\n"
    assert answered(data, step, echo=False) == b"+a\n-\n+b\n-\n"
    assert answered(b"x" * MAX_LINE, step) == b"+" + b"x" * MAX_LINE + b"\n"


def test_an_answer_comes_before_the_next_line_does():
    pieces = answers(Slow(b"a\nb\n", 2), lambda line: line, b"", echo=False)
    assert next(pieces) == b"a\n"


@given(st.lists(st.binary(max_size=9)), st.integers(1, 9))
def test_however_the_bytes_come(lines, step):
    data = b"\n".join(lines)
    assert answered(data, step) == answered(data, 10**6)


def test_text_of_any_bytes():
    assert text_of("é".encode() + b"\xff") == "é\ufffd"
