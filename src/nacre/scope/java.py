"""Regular expressions as Java writes them, rewritten for RE2 and `regex`.

What both engines read as Java does stays as it is. What they read otherwise is rewritten; what none
can do is an error that names it. Source: java.util.regex.Pattern.
"""

import re
from typing import NamedTuple


class Java(NamedTuple):
    """A pattern, rewritten.

    Attributes:
        pattern: For RE2 or `regex`.
        nested: It has sets inside sets or intersections, which RE2 misreads without a word.
    """

    pattern: str
    nested: bool


_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t-\r",
}
_PERL = {"d": "0-9", "w": "a-zA-Z0-9_", "s": r" \t-\r", "h": r" \t\xa0", "v": r"\n-\r"}
_JAVA = {
    "javaLowerCase": "Ll",
    "javaUpperCase": "Lu",
    "javaAlphabetic": "L",
    "javaLetter": "L",
    "javaDigit": "Nd",
}
_NEEDS_LOOK = re.compile(r"[\\\[\]]|\(\?")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_PROPERTY = re.compile(r"\{\^?(?:Is|In|general_category=|gc=|script=|sc=)?(\w+)\}|([A-Z])")


def from_java(text: str) -> Java:
    """Rewrite a pattern.

    Raises:
        ValueError: It has what no engine here can do; the message names it.
    """
    if not _NEEDS_LOOK.search(text):
        return Java(text, nested=False)
    return _Rewriter(text).run()


_OCTAL = re.compile(r"[0-3]?[0-7]{1,2}")


class _Rewriter:
    """One walk over a pattern."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._nested = False
        self._out: list[str] = []

    def run(self) -> Java:
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == "\\":
                self._escape()
            elif char in "[]" or self._depth:
                self._in_set(char)
            elif char == "(":
                self._group()
            else:
                self._put(char)
        return Java("".join(self._out), self._nested)

    def _put(self, text: str, length: int | None = None) -> None:
        self._out.append(text)
        self._at += len(text) if length is None else length

    def _in_set(self, char: str) -> None:
        if char == "[":
            self._nested = self._nested or self._depth > 0
            self._depth += 1
            caret = self._text[self._at + 1 : self._at + 2] == "^"
            self._put("[^" if caret else "[")
            if self._text[self._at : self._at + 1] == "]" and not self._nested:
                self._put(r"\]", 1)
        elif char == "]" and self._depth:
            self._depth -= 1
            self._put(char)
        elif self._text.startswith("&&", self._at):
            self._nested = True
            self._put("&&")
        elif char in "|~":  # twice in a row it would be an operator to `regex`
            self._put("\\" + char, 1)
        else:
            self._put(char)

    def _group(self) -> None:
        found = _FLAGS.match(self._text, self._at)
        if found is None:
            self._put("(")
            return
        on, off, end = found[1], found[2] or "", found[3]
        for flag in on + off:
            if flag == "U":
                raise ValueError("(?U) (Unicode classes) is not known here; write \\p{L} and so on")
            if flag not in "idmsux":
                raise ValueError(f"(?{flag}) is no flag")
        # Line ends and Unicode case are the same here with or without `d` and `u`.
        on, off = (flags.replace("d", "").replace("u", "") for flags in (on, off))
        minus = f"-{off}" if off else ""
        text = f"(?{on}{minus}{end}"
        self._put("" if text == "(?)" else text, found.end() - found.start())

    def _escape(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if not following:
            raise ValueError("a backslash at the end")
        special = _ESCAPES.get(following)
        if special is not None:
            special(self)
        elif following in _PERL:
            self._class(_PERL[following], negated=False, length=2)
        elif following.lower() in _PERL and following != "H":
            self._class(_PERL[following.lower()], negated=True, length=2)
        else:
            self._put("\\" + following)

    def _class(self, members: str, *, negated: bool, length: int) -> None:
        if not self._depth:
            self._put(f"[{'^' * negated}{members}]", length)
        elif not negated:
            self._put(members, length)
        else:
            self._nested = True
            self._put(f"[^{members}]", length)

    def quoted(self) -> None:
        end = self._text.find("\\E", self._at + 2)
        end = len(self._text) if end < 0 else end
        quoted = self._text[self._at + 2 : end]
        self._put("".join(map(_literal, quoted)), end + 2 - self._at)

    def end_quote(self) -> None:
        self._put("", 2)

    def _code(self, digits: str, base: int, length: int) -> None:
        try:
            char = chr(int(digits, base))
            char.encode()
        except (ValueError, OverflowError):
            raise ValueError(
                f"{self._text[self._at : self._at + length]!r} is no character"
            ) from None
        self._put(_literal(char), length)

    def unicode(self) -> None:
        self._code(f"{self._text[self._at + 2 : self._at + 6]:g<4}", 16, 6)

    def hex(self) -> None:
        if self._text.startswith("{", self._at + 2):
            end = self._text.find("}", self._at)
            self._code(self._text[self._at + 3 : end], 16, end + 1 - self._at)
        else:
            self._code(f"{self._text[self._at + 2 : self._at + 4]:g<2}", 16, 4)

    def octal(self) -> None:
        found = _OCTAL.match(self._text, self._at + 2)
        if found is None:
            raise ValueError("\\0 without octal digits")
        self._code(found[0], 8, 2 + len(found[0]))

    def control(self) -> None:
        char = self._text[self._at + 2 : self._at + 3]
        if not char or not char.isascii():
            raise ValueError("\\c without a letter")
        self._put(f"\\x{ord(char) ^ 64:02x}", 3)

    def escape_char(self) -> None:
        self._put(r"\x1b", 2)

    def start(self) -> None:
        self._put(r"\A", 2)

    def end(self) -> None:
        # A URL has no line end, before which \Z would match too.
        self._put(r"\z", 2)

    def property(self) -> None:
        negated = self._text[self._at + 1] == "P"
        found = _PROPERTY.match(self._text, self._at + 2)
        if found is None:
            raise ValueError("\\p without a property")
        name = found[1] or found[2]
        length = found.end() - self._at
        if name in _POSIX:
            self._class(_POSIX[name], negated=negated, length=length)
        elif name in _JAVA:
            self._put(f"\\{'P' if negated else 'p'}{{{_JAVA[name]}}}", length)
        elif name.startswith("java"):
            raise ValueError(f"\\p{{{name}}} is not known here")
        else:
            self._put(self._text[self._at : found.end()])


_ESCAPES = {
    "Q": _Rewriter.quoted,
    "E": _Rewriter.end_quote,
    "u": _Rewriter.unicode,
    "x": _Rewriter.hex,
    "0": _Rewriter.octal,
    "c": _Rewriter.control,
    "e": _Rewriter.escape_char,
    "G": _Rewriter.start,
    "Z": _Rewriter.end,
    "p": _Rewriter.property,
    "P": _Rewriter.property,
}


def _literal(char: str) -> str:
    if char.isalnum() or ord(char) > 127:
        return char
    return f"\\x{ord(char):02x}"
