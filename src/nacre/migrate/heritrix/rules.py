"""How properties of Heritrix become settings: the words that the tables are written in."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Convert = Callable[[str], Any]
"""The value of the setting; None where nothing need be said. Raises ValueError."""


class Rule(NamedTuple):
    """What becomes of a property.

    Attributes:
        paths: Settings that it becomes, with blanks between them; "" for none.
        convert: Makes their value.
        stock: Heritrix's own default as text; a property that says it does nothing.
        note: What differs; why there is no setting.
        flagged: `missing` or `check` when another value than the stock one is flagged; "" when a
            property without setting means nothing here.
    """

    paths: str = ""
    convert: Convert = str
    stock: str = ""
    note: str = ""
    flagged: str = ""


def whole(text: str) -> int:
    """A whole number."""
    return int(float(text)) if "." in text else int(text)


def flag(text: str) -> bool:
    """True or false."""
    if text.lower() not in {"true", "false", "yes", "no", "on", "off", "1", "0"}:
        raise ValueError("neither true nor false")
    return text.lower() in {"true", "yes", "on", "1"}


def opposite(text: str) -> bool:
    """The other way round."""
    return not flag(text)


def seconds(text: str) -> float:
    """A number of seconds."""
    return float(text)


def ms(text: str) -> float:
    """Milliseconds as seconds."""
    return float(text) / 1000


def kilobytes(text: str) -> int:
    """KiB as bytes; a negative number is no limit."""
    return whole(text) * 1024 if whole(text) >= 0 else -1


def mebibytes(text: str) -> int:
    """MiB as bytes."""
    return whole(text) << 20


def not_negative(text: str) -> int:
    """A negative number is 0."""
    return max(whole(text), 0)


def lines(text: str) -> list[str]:
    """The elements of a list, as `Setting.text` writes it."""
    return [line.strip() for line in text.split(", ") if line.strip()]


def to(paths: str, convert: Convert = str, stock: str = "", note: str = "") -> Rule:
    """It becomes one or more settings."""
    return Rule(paths, convert, stock, note)


def needless(note: str) -> Rule:
    """Whatever it says, nothing need be said here."""
    return Rule(note=note)


def lacking(stock: str, note: str) -> Rule:
    """There is no equivalent; its default means nothing."""
    return Rule(stock=stock, note=note, flagged="missing")


def look(stock: str, note: str) -> Rule:
    """The operator has to look, unless it is the default."""
    return Rule(stock=stock, note=note, flagged="check")


COMMON = {
    "overrideLogger": needless("one log for all decisions: engine.scope_log"),
    "comment": needless("a comment"),
    "beanName": needless("a name"),
}
"""Properties of any class."""


class Kind(NamedTuple):
    """What becomes of the beans of a class.

    Attributes:
        section: Section of `crawl.yaml` that stands for them; "" for none.
        note: Why none.
        flagged: `missing` or `check` where that is a loss.
        properties: Their properties.
    """

    section: str = ""
    note: str = ""
    flagged: str = ""
    properties: Mapping[str, Rule] = MappingProxyType({})
