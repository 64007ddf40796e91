"""Structured field values of HTTP, parsed and serialized. Pure.

Source: RFC 9651, sections 3 and 4. Parsing is strict, as section 4.2 demands: a field with one
mistake is no field. Parts of a field that is on several lines are joined with ", " before.
Parsing takes time in proportion to the length, which is limited.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote, unquote_to_bytes

LONGEST: Final = 65_536
"""Characters of a value at most; four times what section 3 wants of the longest byte sequence."""
LARGEST: Final = 999_999_999_999_999
"""The largest integer; the smallest is its negative (section 3.3.1)."""
_LARGEST_DECIMAL: Final = 10**12
_TRUE: Final = True
"""The value of a key that has none."""

_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
_NUMBER = re.compile(r"(-?)([0-9]+)(?:(\.)([0-9]*))?")
_STRING = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"')
_TOKEN = re.compile(r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*")
_BYTES = re.compile(r":([A-Za-z0-9+/]*)(=*):")
_DISPLAY = re.compile(r'%"((?:[ !#$&-~]|%[0-9a-f]{2})*)"')
_ESCAPED = re.compile(r"\\(.)")
_TO_ESCAPE = re.compile(r'["\\]')
_PRINTABLE = re.compile(r"[ -~]*")
_UNQUOTED: Final = " !#$&'(*+,)-./:;<=>?@[\\]^_`{|}~"
_NONE: Final[Mapping[str, "BareItem"]] = MappingProxyType({})

Parsed = TypeVar("Parsed")


class FieldSyntaxError(ValueError):
    """A text is no structured field, or a value cannot be in one; the text says where and why."""


class FieldToken(str):
    """A token, such as `y` of `train-ai=y`."""

    __slots__ = ()


class DisplayText(str):
    """A display string: Unicode text for people."""

    __slots__ = ()


class FieldDate(int):
    """A date: whole seconds since the epoch, before 1970 negative."""

    __slots__ = ()


BareItem = bool | int | Decimal | str | bytes | FieldToken | DisplayText | FieldDate
"""A value: boolean, integer, decimal, string, byte sequence, token, display string or date."""


class FieldItem(NamedTuple):
    """A value with its parameters, in their order."""

    value: BareItem
    parameters: Mapping[str, BareItem] = _NONE


class InnerList(NamedTuple):
    """A list of items in parentheses, with the parameters of the list."""

    items: Sequence[FieldItem]
    parameters: Mapping[str, BareItem] = _NONE


FieldMember = FieldItem | InnerList
"""A member of a list or of a dictionary."""


def parse_item(text: str) -> FieldItem:
    """Parse a field that is an item.

    Raises:
        FieldSyntaxError: It is none.
    """
    return _parse(text, _Reader.item)


def parse_list(text: str) -> list[FieldMember]:
    """Parse a field that is a list; the empty text is the empty list.

    Raises:
        FieldSyntaxError: It is none.
    """
    return _parse(text, _Reader.members)


def parse_dictionary(text: str) -> dict[str, FieldMember]:
    """Parse a field that is a dictionary; of a key that is repeated, the last value counts.

    Raises:
        FieldSyntaxError: It is none.
    """
    return _parse(text, _Reader.dictionary)


def _parse(text: str, read: "Callable[[_Reader], Parsed]") -> Parsed:
    """Read the whole text (section 4.2)."""
    if len(text) > LONGEST:
        raise FieldSyntaxError(f"{len(text)} characters; at most {LONGEST} are read")
    reader = _Reader(text.strip(" "))
    value = read(reader)
    if not reader.at_end():
        raise reader.error("nothing more")
    return value


class _Reader:
    """A text and the place in it, from which the parts of a field are read (section 4.2)."""

    __slots__ = ("_at", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def at_end(self) -> bool:
        """Nothing is left."""
        return self._at >= len(self._text)

    def error(self, expected: str) -> FieldSyntaxError:
        """Return the error of this place."""
        return FieldSyntaxError(f"character {self._at + 1}: expected {expected}")

    def _skip(self, characters: str) -> None:
        while self._at < len(self._text) and self._text[self._at] in characters:
            self._at += 1

    def _next(self, text: str) -> bool:
        """Skip a text if it is next, and say whether it was."""
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise self.error(expected)
        self._at = match.end()
        return match

    def members(self) -> list[FieldMember]:
        """Read a list (4.2.1)."""
        members: list[FieldMember] = []
        while not self.at_end():
            members.append(self._member())
            self._separator()
        return members

    def dictionary(self) -> dict[str, FieldMember]:
        """Read a dictionary (4.2.2)."""
        members: dict[str, FieldMember] = {}
        while not self.at_end():
            key = self._match(_KEY, "a key")[0]
            has_value = self._next("=")
            members[key] = self._member() if has_value else FieldItem(_TRUE, self._parameters())
            self._separator()
        return members

    def _separator(self) -> None:
        """Skip the comma between two members."""
        self._skip(" \t")
        if self.at_end():
            return
        if not self._next(","):
            raise self.error("a comma")
        self._skip(" \t")
        if self.at_end():
            raise self.error("a member after the comma")

    def _member(self) -> FieldMember:
        if not self._next("("):
            return self.item()
        items: list[FieldItem] = []
        while True:
            self._skip(" ")
            if self._next(")"):
                return InnerList(tuple(items), self._parameters())
            if items and self._text[self._at - 1] != " ":
                raise self.error('a space or ")"')
            items.append(self.item())

    def item(self) -> FieldItem:
        """Read an item (4.2.3)."""
        return FieldItem(self._bare(), self._parameters())

    def _parameters(self) -> Mapping[str, BareItem]:
        parameters: dict[str, BareItem] = {}
        while self._next(";"):
            self._skip(" ")
            key = self._match(_KEY, "the key of a parameter")[0]
            parameters[key] = self._bare() if self._next("=") else True
        return parameters or _NONE

    def _bare(self) -> BareItem:
        read = _READERS.get(self._text[self._at : self._at + 1])
        return FieldToken(self._match(_TOKEN, "a value")[0]) if read is None else read(self)

    def number(self) -> int | Decimal:
        """Read an integer or a decimal (4.2.4)."""
        sign, whole, point, fraction = self._match(_NUMBER, "a number").groups()
        if not point:
            if len(whole) > 15:
                raise self.error("at most 15 digits before this place")
            return int(sign + whole)
        if len(whole) > 12 or not 1 <= len(fraction) <= 3:
            raise self.error("at most 12 digits, a point and 1 to 3 digits before this place")
        return Decimal(f"{sign}{whole}.{fraction}")

    def string(self) -> str:
        """Read a string (4.2.5)."""
        return _ESCAPED.sub(r"\1", self._match(_STRING, "a string of ASCII characters")[1])

    def binary(self) -> bytes:
        """Read a byte sequence (4.2.7); padding may be absent."""
        data = self._match(_BYTES, "a byte sequence in base64")[1]
        if len(data) % 4 == 1:
            raise self.error("whole bytes before this place")
        return b64decode(data + "=" * (-len(data) % 4))

    def boolean(self) -> bool:
        """Read a boolean (4.2.8)."""
        if self._next("?1"):
            return True
        if self._next("?0"):
            return False
        raise self.error("?0 or ?1")

    def date(self) -> FieldDate:
        """Read a date (4.2.9)."""
        self._next("@")
        seconds = self.number()
        if isinstance(seconds, Decimal):
            raise self.error("whole seconds before this place")
        return FieldDate(seconds)

    def display(self) -> DisplayText:
        """Read a display string (4.2.10)."""
        data = unquote_to_bytes(self._match(_DISPLAY, "a display string")[1])
        try:
            return DisplayText(data.decode())
        except UnicodeDecodeError:
            raise self.error("UTF-8 before this place") from None


_READERS: Final[dict[str, Callable[[_Reader], BareItem]]] = {
    '"': _Reader.string,
    ":": _Reader.binary,
    "?": _Reader.boolean,
    "@": _Reader.date,
    "%": _Reader.display,
    **dict.fromkeys("-0123456789", _Reader.number),
}


def serialize_item(item: FieldItem) -> str:
    """Serialize an item (section 4.1.3).

    Raises:
        FieldSyntaxError: A value or a key cannot be in a field. So for the other two functions.
    """
    return serialize_bare_item(item.value) + _serialize_parameters(item.parameters)


def serialize_list(members: Sequence[FieldMember]) -> str:
    """Serialize a list (4.1.1); a field with an empty list is left out."""
    return ", ".join(map(serialize_member, members))


def serialize_dictionary(members: Mapping[str, FieldMember]) -> str:
    """Serialize a dictionary (4.1.2); a field with an empty dictionary is left out."""
    parts = []
    for key, member in members.items():
        if isinstance(member, FieldItem) and member.value is True:
            parts.append(_checked_key(key) + _serialize_parameters(member.parameters))
        else:
            parts.append(f"{_checked_key(key)}={serialize_member(member)}")
    return ", ".join(parts)


def serialize_member(member: FieldMember) -> str:
    """Serialize an item or an inner list (4.1.1.1)."""
    if isinstance(member, FieldItem):
        return serialize_item(member)
    items = " ".join(map(serialize_item, member.items))
    return f"({items}){_serialize_parameters(member.parameters)}"


def _serialize_parameters(parameters: Mapping[str, BareItem]) -> str:
    parts = []
    for key, value in parameters.items():
        parts.append(f";{_checked_key(key)}")
        if value is not True:
            parts.append(f"={serialize_bare_item(value)}")
    return "".join(parts)


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise FieldSyntaxError(f"no key of a structured field: {key!r}")
    return key


def serialize_bare_item(value: BareItem) -> str:
    """Serialize a value without parameters (4.1.3.1)."""
    match value:
        case bool():
            return f"?{value:d}"
        case FieldDate():
            return f"@{_serialize_integer(value)}"
        case int():
            return _serialize_integer(value)
        case Decimal():
            return _serialize_decimal(value)
        case bytes():
            return f":{b64encode(value).decode()}:"
        case str():
            return _serialize_text(value)


def _serialize_text(value: str) -> str:
    if isinstance(value, DisplayText):
        return f'%"{_quote(value)}"'
    if isinstance(value, FieldToken):
        if not _TOKEN.fullmatch(value):
            raise FieldSyntaxError(f"no token of a structured field: {value!r}")
        return str(value)
    if not _PRINTABLE.fullmatch(value):
        raise FieldSyntaxError(f"not printable ASCII: {value!r}")
    return '"' + _TO_ESCAPE.sub(r"\\\g<0>", value) + '"'


def _serialize_integer(value: int) -> str:
    if abs(value) > LARGEST:
        raise FieldSyntaxError(f"an integer of more than 15 digits: {value}")
    return str(int(value))


def _serialize_decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise FieldSyntaxError(f"no decimal of a structured field: {value}")
    if abs(value) < _LARGEST_DECIMAL:
        rounded = value.quantize(Decimal("0.001"), ROUND_HALF_EVEN)
        if abs(rounded) < _LARGEST_DECIMAL:
            whole, _, fraction = f"{rounded:f}".partition(".")
            return f"{whole}.{fraction.rstrip('0') or '0'}"
    raise FieldSyntaxError(f"a decimal of more than 12 digits before the point: {value}")


def _quote(text: str) -> str:
    """Encode a display string (4.1.11): lower-case hexadecimal digits."""
    try:
        quoted = quote(text.encode(), safe=_UNQUOTED)
    except UnicodeEncodeError:
        raise FieldSyntaxError("a display string with half a surrogate pair") from None
    return re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)
