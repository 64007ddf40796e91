"""Regular expressions as in Java, in the syntax of RE2 and of the module `regex`."""

import re
from functools import lru_cache
from typing import NamedTuple

from nacre.messages import message
from nacre.scope.patterns.java_charset import (
    POSIX,
    SHORTHANDS,
    CharSet,
    JavaRegexError,
    both_cases,
    characters,
    class_named,
    escape,
    intersection,
    negation,
    plain,
    shorthand,
    union,
)

_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_HEX = re.compile(r"x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,8})\}|u([0-9A-Fa-f]{4})")
_OCTAL = re.compile(r"0([0-3][0-7]{2}|[0-7]{1,2})")
_NUMBERED = re.compile(r"[xu](?:\{[^}]*\}|.{0,4})", re.DOTALL)
_PROPERTY = re.compile(r"[pP](?:\{(\^?)([^}]*)\}|([A-Za-z]))")


class Reader:
    """A text and a place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def more(self) -> bool:
        """Whether there is something left."""
        return self.at < len(self.text)

    def sees(self, text: str) -> bool:
        """The next characters are these."""
        return self.text.startswith(text, self.at)

    def takes(self, text: str) -> bool:
        """The next characters are these, and are passed."""
        matches = self.sees(text)
        self.at += len(text) * matches
        return matches

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match an expression at this place; skip the match and return it."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def character(self) -> str:
        """Return the next character; a backslash or bracket at the end is an error."""
        if not self.more:
            raise JavaRegexError(
                message("scope.unfinished-construct", "it ends in the middle of a construct")
            )
        self.at += 1
        return self.text[self.at - 1]

    def quoted(self) -> str | None:
        r"""Return the text of `\Q…\E`, when it begins here; to the end where `\E` is missing."""
        if not self.takes(r"\Q"):
            return None
        end = self.text.find(r"\E", self.at)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at : end]
        self.at = min(end + 2, len(self.text))
        return text

    def skip_line(self) -> None:
        """Skip to the end of this line; the line end is not consumed."""
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def step_back(self) -> None:
        """Go back over the last character."""
        self.at -= 1

    def escape(self) -> str | CharSet:
        """Parse the text after a backslash: one character, or a class.

        Raises:
            JavaRegexError: It is not an escape.
        """
        letter = self.text[self.at : self.at + 1]
        if letter in ("p", "P"):
            return self._property()
        point = self._code_point()
        if point is not None:
            return point
        if not letter:
            raise JavaRegexError(message("scope.backslash-at-end", "a backslash at the end"))
        self.character()
        if letter.lower() in SHORTHANDS:
            return shorthand(letter)
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter == "c":
            if not self.more or not self.text[self.at].isascii():
                raise JavaRegexError(message("scope.c-without-letter", "\\c without a letter"))
            return chr(ord(self.character()) ^ 64)
        if letter.isascii() and letter.isalnum():
            raise JavaRegexError(
                message(
                    "scope.unknown-escape",
                    "`\\{letter}` is not an escape that is known here",
                    letter=letter,
                )
            )
        return letter

    def _property(self) -> CharSet:
        match = self.take(_PROPERTY)
        if match is None:
            raise JavaRegexError(
                message(
                    "scope.without-property", "\\{text} without a property", text=self.text[self.at]
                )
            )
        capital = match[0][0] == "P"
        return class_named(match[2] or match[3] or "", negated=capital is not (match[1] == "^"))

    def _code_point(self) -> str | None:
        if self.sees("0"):
            octal = self.take(_OCTAL)
            if octal is None:
                raise JavaRegexError(
                    message("scope.without-octal-digits", "\\0 without octal digits")
                )
            return chr(int(octal[1], 8))
        numbered = _NUMBERED.match(self.text, self.at)
        if numbered is None:
            return None
        match = self.take(_HEX)
        number = int(match[1] or match[2] or match[3], 16) if match else -1
        if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise JavaRegexError(
                message(
                    "scope.is-not-character",
                    "'\\{numbered}' is not a character",
                    numbered=numbered[0],
                )
            )
        return chr(number)


_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_DEEPEST = 50


def read_class(reader: Reader, *, any_case: bool, spaced: bool, depth: int = 0) -> CharSet:
    """Read a class; the reader is after its opening bracket, then after the closing bracket.

    Args:
        reader: The expression.
        any_case: Case does not matter here.
        spaced: Blanks mean nothing here (`(?x)`).
        depth: The number of classes around it.

    Raises:
        JavaRegexError: It is none.
    """
    if depth > _DEEPEST:
        raise JavaRegexError(
            message(
                "scope.class-depth",
                "more than {deepest} classes within each other",
                deepest=_DEEPEST,
            )
        )
    negated = reader.takes("^")
    result: CharSet | None = None
    while True:
        part = _operand(reader, any_case, spaced, depth, is_first=result is None)
        if part is not None:
            result = part if result is None else intersection(result, part)
        if reader.takes("]"):
            break
        if not reader.takes("&&"):
            raise JavaRegexError(message("scope.open-class", "a class without its closing `]`"))
    result = result or CharSet()
    return negation(result) if negated else result


def _operand(
    reader: Reader,
    any_case: bool,  # noqa: FBT001 - as in `read_class`
    spaced: bool,  # noqa: FBT001 - likewise
    depth: int,
    *,
    is_first: bool,
) -> CharSet | None:
    """Return the part up to the next `&&` or the end; None for nothing."""
    operand: CharSet | None = None
    while reader.more and not reader.sees("&&"):
        if reader.sees("]") and not (is_first and operand is None):
            break
        if spaced and reader.text[reader.at].isspace():
            reader.at += 1
            continue
        item = _item(reader, any_case, spaced, depth)
        item = both_cases(item) if any_case else item
        operand = item if operand is None else union(operand, item)
    return operand


def _item(reader: Reader, any_case: bool, spaced: bool, depth: int) -> CharSet:  # noqa: FBT001 - too
    posix = reader.take(_POSIX)
    if posix is not None:
        return _posix(posix)
    if reader.takes("["):
        return read_class(reader, any_case=any_case, spaced=spaced, depth=depth + 1)
    quoted = reader.quoted()
    if quoted is not None:
        return characters(quoted)
    first = _read_member(reader)
    if isinstance(first, CharSet) or not _is_range(reader):
        return characters(first) if isinstance(first, str) else first
    reader.at += 1
    last = _read_member(reader)
    if isinstance(last, CharSet) or last < first:
        raise JavaRegexError(
            message(
                "scope.reversed-range",
                "a range that ends before it begins, or in a class",
            )
        )
    return plain([(ord(first), ord(last))])


def _is_range(reader: Reader) -> bool:
    next_three = reader.text[reader.at : reader.at + 3]
    return (
        next_three[:1] == "-" and next_three[1:2] not in ("", "]", "[") and next_three[1:] != "&&"
    )


def _read_member(reader: Reader) -> str | CharSet:
    return reader.escape() if reader.takes("\\") else reader.character()


def _posix(match: re.Match[str]) -> CharSet:
    charset = POSIX.get(match[2])
    if charset is None:
        raise JavaRegexError(
            message("scope.is-not-class", "`{match}` is not a class", match=match[0])
        )
    return negation(charset) if match[1] else charset


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
    # `\Z` also matches before a final line end, but a URL has no line ends.
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
                self._out += map(escape, quoted)
            else:
                self._translate(reader.character())
        return Java("".join(self._out), nested=not self._is_flat)

    def _translate(self, character: str) -> None:
        match character:
            case "\\":
                self._escape()
            case "[":
                flags = self._flags
                char_class = read_class(self._reader, any_case=flags.any_case, spaced=flags.spaced)
                self._put(char_class)
            case "(":
                self._open()
            case ")":
                self._out.append(")")
                self._flags = self._outer.pop() if self._outer else self._flags
            case "{":
                self._reader.step_back()
                found_quantifier = self._reader.take(_QUANTIFIER)
                if found_quantifier is None:
                    self._reader.character()
                self._out.append(found_quantifier[0] if found_quantifier else r"\{")
            case "}" | "]":
                self._out.append(f"\\{character}")
            case _:
                self._plain(character)

    def _plain(self, character: str) -> None:
        if not self._flags.spaced:
            self._out.append(character)
        elif character == "#":
            self._reader.skip_line()
        elif not character.isspace():
            self._out.append(character)

    def _put(self, piece: str | CharSet) -> None:
        if isinstance(piece, str):
            self._out.append(escape(piece))
            return
        self._is_flat = self._is_flat and not piece.nested
        self._out.append(piece.text)

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
                raise JavaRegexError(
                    message("scope.unknown-boundary", "`\\b{{…}}` is not known here")
                )
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
            raise JavaRegexError(
                message(
                    "scope.refers-to-group",
                    "`\\{number}` refers to a group that is not there",
                    number=number,
                )
            )
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
            raise JavaRegexError(
                message(
                    "scope.unknown-group",
                    "`({construct}` begins a group that is not known here",
                    construct=construct,
                )
            )
        self._groups += 1
        return "("

    def _set_flags(self, match: re.Match[str]) -> None:
        on, off, end = match[1], match[2] or "", match[3]
        for flag in on + off:
            if flag == "U":
                raise JavaRegexError(
                    message(
                        "scope.u-unicode-classes",
                        "(?U) (Unicode classes) is not known here; write \\p{{L}} instead",
                    )
                )
            if flag not in "idmsux":
                raise JavaRegexError(
                    message("scope.is-not-flag", "(?{flag}) is not a flag", flag=flag)
                )
        inner = _Flags(
            ("i" in on or self._flags.any_case) and "i" not in off,
            ("x" in on or self._flags.spaced) and "x" not in off,
        )
        set_flags = "".join(flag for flag in _KEPT_FLAGS if flag in on)
        dropped = "".join(flag for flag in _KEPT_FLAGS if flag in off)
        text = set_flags + (f"-{dropped}" if dropped else "")
        if end == ")":
            self._flags = inner
            self._out.append(f"(?{text})" if text else "")
        else:
            self._outer.append(self._flags)
            self._flags = inner
            self._out.append(f"(?{text}:")
