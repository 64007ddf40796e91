"""Java's syntax of regular expressions, as RE2 and `regex` read it.

Translated: quoting, Java's classes and their algebra, its named classes and escapes, `(?x)`, names
of groups. Look-around, back-references, possessive and atomic forms stay, for `regex`. What is
left is an error that names the construct.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from nacre.scope.java.charset import CharSet, escaped
from nacre.scope.java.classes import read_class
from nacre.scope.java.error import JavaRegexError
from nacre.scope.java.reader import Reader

_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME = re.compile(r"\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_NAMED_AGAIN = re.compile(r"\?P=([A-Za-z_][A-Za-z0-9_]*)\)")
_AGAIN = re.compile(r"k<([A-Za-z_][A-Za-z0-9_]*)>")
_AS_THEY_ARE = ("?:", "?=", "?!", "?<=", "?<!", "?>")
_ENDS = {
    "A": r"\A",
    "b": r"\b",
    "B": r"\B",
    "z": r"\z",
    # A URL has no line end, before which `\Z` would match too, and no match before it.
    "Z": r"\z",
    "G": r"\A",
    "R": "(?:\\r\\n|[\\n-\\r\\x85\u2028\u2029])",
    "X": r"\X",
}
_KEPT_FLAGS = "ims"


class Java(NamedTuple):
    """An expression, rewritten.

    Attributes:
        pattern: For RE2 or `regex`.
        nested: It has sets inside sets or intersections, which RE2 misreads without a word.
    """

    pattern: str
    nested: bool


class _Flags(NamedTuple):
    any_case: bool = False
    spaced: bool = False


@lru_cache(maxsize=4096)
def from_java(pattern: str) -> Java:
    """Rewrite an expression.

    Raises:
        JavaRegexError: With the construct that is not understood.
    """
    return _Translation(pattern).result()


class _Translation:
    def __init__(self, pattern: str) -> None:
        self._reader = Reader(pattern)
        self._out: list[str] = []
        self._flags = _Flags()
        self._outer: list[_Flags] = []
        self._groups = 0
        self._is_flat = True

    def result(self) -> Java:
        reader = self._reader
        while reader.more:
            quoted = reader.quoted()
            if quoted is not None:
                self._out += map(escaped, quoted)
            else:
                self._one(reader.character())
        return Java("".join(self._out), nested=not self._is_flat)

    def _one(self, character: str) -> None:
        match character:
            case "\\":
                self._escape()
            case "[":
                flags = self._flags
                found = read_class(self._reader, any_case=flags.any_case, spaced=flags.spaced)
                self._put(found)
            case "(":
                self._open()
            case ")":
                self._out.append(")")
                self._flags = self._outer.pop() if self._outer else self._flags
            case "{":
                self._reader.at -= 1
                found_quantifier = self._reader.take(_QUANTIFIER)
                self._reader.at += found_quantifier is None
                self._out.append(found_quantifier[0] if found_quantifier else r"\{")
            case "}" | "]":
                self._out.append(f"\\{character}")
            case _:
                self._plain(character)

    def _plain(self, character: str) -> None:
        if not self._flags.spaced:
            self._out.append(character)
        elif character == "#":
            end = self._reader.text.find("\n", self._reader.at)
            self._reader.at = len(self._reader.text) if end < 0 else end
        elif not character.isspace():
            self._out.append(character)

    def _put(self, found: str | CharSet) -> None:
        if isinstance(found, str):
            self._out.append(escaped(found))
            return
        self._is_flat = self._is_flat and not found.nested
        self._out.append(found.text)

    # ---- escapes

    def _escape(self) -> None:
        reader = self._reader
        letter = reader.text[reader.at : reader.at + 1]
        again = reader.take(_AGAIN)
        if again is not None:
            self._out.append(f"(?P={again[1]})")
        elif letter in _ENDS and letter:
            reader.at += 1
            if letter == "b" and reader.sees("{"):
                raise JavaRegexError(r"`\b{…}` is not known here")
            self._out.append(_ENDS[letter])
        elif letter.isdigit() and letter != "0":
            self._out.append(self._back_reference())
        else:
            self._put(reader.escape())

    def _back_reference(self) -> str:
        """As many digits as there are groups so far, as in Java."""
        reader = self._reader
        number = int(reader.character())
        while reader.more and reader.text[reader.at].isdigit():
            longer = number * 10 + int(reader.text[reader.at])
            if longer > self._groups:
                break
            number = longer
            reader.at += 1
        if number > self._groups:
            raise JavaRegexError(rf"`\{number}` refers to a group that is not there")
        return rf"(?:\{number})"

    # ---- groups

    def _open(self) -> None:
        reader = self._reader
        named_again = reader.take(_NAMED_AGAIN)
        if named_again is not None:
            self._out.append(f"(?P={named_again[1]})")
            return
        flags = reader.take(_FLAGS) if not reader.sees("?:") else None
        if flags is not None:
            self._set_flags(flags)
            return
        self._outer.append(self._flags)
        named = reader.take(_NAME)
        self._out.append(self._start(named))

    def _start(self, named: re.Match[str] | None) -> str:
        reader = self._reader
        if named is not None:
            self._groups += 1
            return f"(?P<{named[1]}>"
        for start in sorted(_AS_THEY_ARE, key=len, reverse=True):
            if reader.takes(start):
                return f"({start}"
        if reader.sees("?"):
            construct = reader.text[reader.at : reader.at + 3]
            raise JavaRegexError(f"`({construct}` begins a group that is not known here")
        self._groups += 1
        return "("

    def _set_flags(self, match: re.Match[str]) -> None:
        on, off, end = match[1], match[2] or "", match[3]
        for flag in on + off:
            if flag == "U":
                raise JavaRegexError(
                    r"(?U) (Unicode classes) is not known here; write \p{L} instead"
                )
            if flag not in "idmsux":
                raise JavaRegexError(f"(?{flag}) is no flag")
        inner = _Flags(
            ("i" in on or self._flags.any_case) and "i" not in off,
            ("x" in on or self._flags.spaced) and "x" not in off,
        )
        kept = "".join(flag for flag in _KEPT_FLAGS if flag in on)
        dropped = "".join(flag for flag in _KEPT_FLAGS if flag in off)
        text = kept + (f"-{dropped}" if dropped else "")
        if end == ")":
            self._flags = inner
            self._out.append(f"(?{text})" if text else "")
        else:
            self._outer.append(self._flags)
            self._flags = inner
            self._out.append(f"(?{text}:")
