r"""Escapes of Java's expressions, the same within a class and outside."""

import re

from nacre.scope.java.charset import CharSet
from nacre.scope.java.error import JavaRegexError
from nacre.scope.java.properties import SHORTHANDS, named, shorthand

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
        found = self.sees(text)
        self.at += len(text) * found
        return found

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What an expression matches here, and pass it."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def character(self) -> str:
        """The next character; a backslash or bracket at the end is an error."""
        if not self.more:
            raise JavaRegexError("it ends in the middle of a construct")
        self.at += 1
        return self.text[self.at - 1]

    def quoted(self) -> str | None:
        r"""The text of `\Q…\E`, when it begins here; to the end where `\E` is missing."""
        if not self.takes(r"\Q"):
            return None
        end = self.text.find(r"\E", self.at)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at : end]
        self.at = min(end + 2, len(self.text))
        return text

    def escape(self) -> str | CharSet:
        """What stands behind a backslash: one character, or a class.

        Raises:
            JavaRegexError: It is no escape.
        """
        letter = self.text[self.at : self.at + 1]
        if letter in ("p", "P"):
            return self._property()
        point = self._code_point()
        if point is not None:
            return point
        if not letter:
            raise JavaRegexError("a backslash at the end")
        self.character()
        if letter.lower() in SHORTHANDS:
            return shorthand(letter)
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter == "c":
            if not self.more or not self.text[self.at].isascii():
                raise JavaRegexError(r"\c without a letter")
            return chr(ord(self.character()) ^ 64)
        if letter.isascii() and letter.isalnum():
            raise JavaRegexError(rf"`\{letter}` is no escape that is known here")
        return letter

    def _property(self) -> CharSet:
        match = self.take(_PROPERTY)
        if match is None:
            raise JavaRegexError(rf"\{self.text[self.at]} without a property")
        capital = match[0][0] == "P"
        return named(match[2] or match[3] or "", negated=capital is not (match[1] == "^"))

    def _code_point(self) -> str | None:
        if self.sees("0"):
            octal = self.take(_OCTAL)
            if octal is None:
                raise JavaRegexError(r"\0 without octal digits")
            return chr(int(octal[1], 8))
        numbered = _NUMBERED.match(self.text, self.at)
        if numbered is None:
            return None
        match = self.take(_HEX)
        number = int(match[1] or match[2] or match[3], 16) if match else -1
        if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise JavaRegexError(rf"'\{numbered[0]}' is no character")
        return chr(number)
